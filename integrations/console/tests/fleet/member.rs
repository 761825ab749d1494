//! A member: this program, started anew as a process with a console, which counts what it is told
//! to and keeps a book of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use windrow::histogram::Distribution;
use windrow::{Family, Histogram, SlidingWindow, events, labels};
use windrow_console::Console;

events! { pub(crate) enum Http { Pass: Count, Exception: Count, Rt: Histogram } }

labels! { pub(crate) struct Route { route: str } }

static ROUTES: Family<Route, SlidingWindow<Http>> = Family::with_constructor(window);

/// Returns the window of a route.
pub(crate) fn window() -> SlidingWindow<Http> {
    let builder = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
    builder.build().expect("they divide each other")
}

/// The variables by which a test tells the process its seed and its address.
const SEED: &str = "FLEET_MEMBER_SEED";
const ADDRESS: &str = "FLEET_MEMBER_ADDRESS";

/// The counts and values of a member.
#[derive(Clone)]
pub(crate) struct Book {
    pub(crate) pass: u64,
    pub(crate) failed: u64,
    pub(crate) values: Distribution,
}

impl Book {
    pub(crate) fn sum(books: &[&Book]) -> Book {
        let mut sum = Book { pass: 0, failed: 0, values: Distribution::default() };
        for book in books {
            sum.pass += book.pass;
            sum.failed += book.failed;
            sum.values.merge(&book.values).unwrap();
        }
        sum
    }
}

/// A process, until it is dropped.
pub(crate) struct Member {
    process: Child,
    orders: ChildStdin,
    pub(crate) address: SocketAddr,
}

impl Member {
    /// Starts a process, at an address or at any.
    pub(crate) fn start(seed: u64, address: Option<SocketAddr>) -> Member {
        let address = address.map_or("127.0.0.1:0".to_owned(), |address| address.to_string());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "member::it_counts", "--ignored", "--nocapture"]);
        command.env(SEED, seed.to_string()).env(ADDRESS, address);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let orders = process.stdin.take().unwrap();
        let address = answer(&mut process)["address"].as_str().unwrap().parse().unwrap();
        Member { process, orders, address }
    }

    /// Has it count operations; returns all that it has counted since its start.
    pub(crate) fn send(&mut self, operations: u64) -> Book {
        writeln!(self.orders, "{operations}").unwrap();
        let book = answer(&mut self.process);
        Book {
            pass: book["pass"].as_u64().unwrap(),
            failed: book["failed"].as_u64().unwrap(),
            values: serde_json::from_value(book["values"].clone()).unwrap(),
        }
    }

    /// Kills it; returns its address, which is free then.
    pub(crate) fn kill(self) -> SocketAddr {
        self.address
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the next answer of a member. The harness of tests prints lines, too.
fn answer(process: &mut Child) -> Value {
    let output = process.stdout.as_mut().unwrap();
    loop {
        if let Some((_, answer)) = line(output).split_once("member: ") {
            return serde_json::from_str(answer).unwrap();
        }
    }
}

/// Returns the next line, of which nothing that follows is read.
pub(crate) fn line(output: &mut impl Read) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "it ended");
        if byte[0] == b'\n' {
            return String::from_utf8(line).unwrap();
        }
        line.push(byte[0]);
    }
}

#[test]
#[ignore = "it is the process that the tests start"]
fn it_counts() {
    let Ok(seed) = std::env::var(SEED) else { return };
    let mut random = fastrand::Rng::with_seed(seed.parse().unwrap());
    let mut console = Console::new("shop");
    console.show("requests", "Requests", &ROUTES).unwrap();
    console.nanoseconds("Rt");
    let server = console.build().serve(&std::env::var(ADDRESS).unwrap()).unwrap();
    println!("member: {}", json!({ "address": server.address().to_string() }));

    let (mut pass, mut failed, book) = (0_u64, 0_u64, Histogram::new());
    let window = ROUTES.handle(Route { route: "/cart" });
    for order in BufReader::new(std::io::stdin()).lines() {
        for _ in 0..order.unwrap().parse::<u64>().unwrap() {
            let nanos = 1_u64 << random.u32(0..40) | random.u64(0..1_000);
            window.add(Http::Pass, 1);
            window.record(Http::Rt, nanos);
            pass += 1;
            book.record(nanos);
            if random.u32(0..10) == 0 {
                window.add(Http::Exception, 1);
                failed += 1;
            }
        }
        let values = book.distribution();
        println!("member: {}", json!({ "pass": pass, "failed": failed, "values": values }));
    }
}
