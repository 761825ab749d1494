//! A shop whose traffic the page shows. Its clock is set by the test: while nothing is sold, the
//! contents of its windows do not change.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use windrow::clock::{Clock, Manual};
use windrow::{
    Counter, Family, Gauge, Histogram, SlidingWindow, Timestamp, events, family::Handle,
    histogram::Scale, labels,
};
use windrow_console::{Console, Server};

use crate::traffic::Door;

labels! {
    pub(crate) enum Method { Get = "GET", Post = "POST", Put = "PUT", Delete = "DELETE" }
    pub(crate) struct Request { method: Method, route: str }
}

/// From a tenth of a millisecond to some seconds.
const TIMES: Scale = Scale::fixed::<2, 131_073, 16_000_000_000>();

// A request that passes may be an exception later.
events! {
    pub(crate) enum Http { Pass: Count, Block: Count, Exception: Count, Rt: Histogram(TIMES) }
}

pub(crate) type Window = SlidingWindow<Http, Manual>;
pub(crate) type Requests = Family<Request<'static>, Window, Box<dyn Fn() -> Window + Send + Sync>>;

pub(crate) struct Shop {
    clock: Manual,
    pub(crate) requests: Arc<Requests>,
    pub(crate) orders: Arc<Counter>,
    pub(crate) carts: Arc<Gauge>,
    /// Cents that were paid for an order.
    pub(crate) paid: Arc<Histogram>,
}

const MINUTE: Duration = Duration::from_secs(60);

impl Shop {
    /// Creates a shop without sales. Windows have a minute by the second, an hour by the minute, a
    /// day by the quarter.
    pub(crate) fn new() -> Shop {
        let clock = Manual::default();
        let make = {
            let clock = clock.clone();
            move || {
                let window = SlidingWindow::builder().interval(MINUTE).buckets(60);
                let window = window.tier(MINUTE, 60).tier(15 * MINUTE, 96);
                window.clock(clock.clone()).build().unwrap()
            }
        };
        let make: Box<dyn Fn() -> Window + Send + Sync> = Box::new(make);
        Shop {
            clock,
            requests: Arc::new(Family::with_constructor(make).with_max_series(4_000)),
            orders: Arc::default(),
            carts: Arc::default(),
            paid: Arc::default(),
        }
    }

    /// Returns the window of a route.
    pub(crate) fn route(&self, method: Method, route: &str) -> Handle<Request<'static>, Window> {
        self.requests.handle(Request { method, route })
    }

    /// Serves the console of it at an address of this machine.
    pub(crate) fn serve(&self, address: &str) -> Served {
        let begun = Instant::now();
        Served { server: self.console().build().serve(address).unwrap(), begun }
    }

    /// Returns its console.
    pub(crate) fn console(&self) -> Console {
        let mut console = Console::new("shop");
        console.show("requests", "Requests by method and route", self.requests.clone()).unwrap();
        console.show("orders", "Orders since the start", self.orders.clone()).unwrap();
        console.show("carts", "Carts that are open", self.carts.clone()).unwrap();
        console.show("paid", "What was paid, in cents", self.paid.clone()).unwrap();
        console.nanoseconds("Rt");
        console.version("1.2.3");
        console
    }

    /// The time of the windows goes on.
    pub(crate) fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// Does something at a time that windows have left behind.
    pub(crate) fn step_back(&self, what: impl FnOnce()) {
        let now = self.clock.now();
        self.clock.set(Timestamp::default());
        what();
        self.clock.set(now);
    }

    /// Some seconds before noon are over, a day at most.
    pub(crate) fn work(&self, seconds: u32) {
        self.work_until(0, seconds);
    }

    /// Some seconds are over, up to `before` seconds before noon.
    pub(crate) fn work_until(&self, before: u32, seconds: u32) {
        let mut doors = Door::all(self);
        for second in (before..before + seconds).rev() {
            for door in &mut doors {
                door.serve(f64::from(second), 1.0);
            }
            self.pass(Duration::from_secs(1));
        }
    }

    /// Requests come from two sides, as at noon, until that is dropped.
    pub(crate) fn open(&self) -> Open {
        self.open_at(0.0)
    }

    /// Requests come as at some seconds before noon.
    pub(crate) fn open_at(&self, before: f64) -> Open {
        let over = Arc::new(AtomicBool::new(false));
        let side = |side: usize| {
            let mut doors = Door::all(self);
            let (over, clock, mut last) = (Arc::clone(&over), self.clock.clone(), Instant::now());
            let orders = Arc::clone(&self.orders);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(50));
                    let time = last.elapsed();
                    last += time;
                    for door in &mut doors {
                        door.serve(before, time.as_secs_f64() / 2.0);
                    }
                    if side == 0 {
                        orders.add(u64::from(fastrand::u8(..) < 20));
                        clock.advance(time);
                    }
                }
            })
        };
        Open { over: Arc::clone(&over), sides: vec![side(0), side(1)] }
    }
}

/// A console of a shop, until it is dropped.
pub(crate) struct Served {
    server: Server,
    begun: Instant,
}

impl Served {
    /// Serves a console at an address of this machine.
    pub(crate) fn of(console: Console) -> Served {
        let begun = Instant::now();
        Served { server: console.build().serve("127.0.0.1:0").unwrap(), begun }
    }

    pub(crate) fn address(&self) -> String {
        self.server.address().to_string()
    }

    /// Returns a stream of another client, which takes what comes until this is dropped.
    pub(crate) fn stream(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 12]).unwrap();
        let mut reader = stream.try_clone().unwrap();
        thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
        stream
    }

    /// An upper bound of the console's age in milliseconds. Later frames say the same number or
    /// more.
    pub(crate) fn age(&self) -> u128 {
        self.begun.elapsed().as_millis()
    }
}

/// A shop that is open.
pub(crate) struct Open {
    over: Arc<AtomicBool>,
    sides: Vec<JoinHandle<()>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for side in self.sides.drain(..) {
            side.join().unwrap();
        }
    }
}
