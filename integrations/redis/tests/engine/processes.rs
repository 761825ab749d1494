//! Storms: clients in processes of their own, whose book survives `kill -9`, while something keeps
//! going wrong. In no run of buckets as long as the interval is more admitted than the limit.
//!
//! They run for `TORTURE_SECONDS`, all at once.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use windrow::AtMost;
use windrow_redis::SharedGate;

use crate::book::Book;
use crate::proxy::{Mode, Proxy};
use crate::server::{Server, bound, engines, until, url};

/// The limit, in an interval of this many buckets of this length.
const LIMIT: u64 = 2_000;
const BUCKETS: usize = 10;
const BUCKET: Duration = Duration::from_millis(50);

/// The clients, and what each offers, in parts of all they offer.
const LOADS: [u64; 4] = [20, 1, 5, 2];

/// The offered load, as a multiple of the limit.
const OVERLOAD: f64 = 1.5;

/// The time of a storm.
fn duration() -> Duration {
    let seconds = env::var("TORTURE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60))
}

/// A client, in a process of its own: it offers a load until it is killed.
#[test]
#[ignore = "part of the storms, which start it"]
fn client() {
    let Ok(port) = env::var("STORM_PORT") else { return };
    let book = PathBuf::from(env::var_os("STORM_BOOK").expect("it is set"));
    let rate: f64 = env::var("STORM_RATE").expect("it is set").parse().unwrap();
    let book = Book::open(&book, BUCKET);
    let builder = SharedGate::builder(AtMost(LIMIT)).interval(BUCKET * BUCKETS as u32);
    let builder = builder.buckets(BUCKETS).name("storm");
    let gate = loop {
        match builder.connect(&url(port.parse().unwrap())) {
            Ok(gate) => break gate,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    };
    let (mut last, mut credit) = (Instant::now(), 0.0);
    loop {
        credit += last.elapsed().as_secs_f64() * rate;
        last = Instant::now();
        credit = f64::min(credit, rate / 10.0 + 1.0);
        while credit >= 1.0 {
            let weight = if fastrand::u32(..10) == 0 { 3 } else { 1 };
            credit -= weight as f64;
            if !book.admit(weight, || gate.try_admit(weight)) {
                let patience = Duration::from_millis(2);
                book.admit(weight, || gate.admit_blocking(weight, patience).is_granted());
            }
        }
        thread::sleep(Duration::from_micros(500));
    }
}

/// The clients of a storm, and its book.
struct Storm {
    port: u16,
    book: PathBuf,
    clients: Vec<Child>,
    /// The number of faults.
    events: usize,
    begun: Instant,
}

impl Storm {
    fn begin(folder: &Path, port: u16) -> Storm {
        let book = folder.join("book");
        let clients = (0..LOADS.len()).map(|i| start(i, port, &book)).collect();
        Storm { port, book, clients, events: 0, begun: Instant::now() }
    }

    fn goes_on(&self) -> bool {
        self.begun.elapsed() < duration()
    }

    /// Kills a client, and starts another in its place.
    fn replace(&mut self, i: usize) {
        end(&mut self.clients[i]);
        self.clients[i] = start(i, self.port, &self.book);
        self.events += 1;
    }

    /// Stops a client for a while.
    fn suspend(&mut self, i: usize, time: Duration) {
        let process = self.clients[i].id().cast_signed();
        // SAFETY: it sends signals to a child that was not waited for.
        unsafe { libc::kill(process, libc::SIGSTOP) };
        thread::sleep(time);
        // SAFETY: as above.
        unsafe { libc::kill(process, libc::SIGCONT) };
        self.events += 1;
    }

    /// Ends the clients, and judges the book.
    fn judge(mut self, kind: &str) {
        self.clients.iter_mut().for_each(end);
        let seconds = self.begun.elapsed().as_secs_f64();
        let (worst, all) = Book::open(&self.book, BUCKET).worst(BUCKETS);
        println!(
            "{kind}: {} events in {seconds:.0} s, {:.0} admitted an interval, at worst {worst} of {LIMIT}",
            self.events,
            all as f64 / seconds * (BUCKET * BUCKETS as u32).as_secs_f64(),
        );
        assert!(worst <= LIMIT, "{kind}: {worst} of {LIMIT}");
        assert!(all > LIMIT, "{kind}: only {all} were admitted at all");
        assert!(self.events > 0, "{kind}: nothing has happened");
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.clients.iter_mut().for_each(end);
    }
}

fn start(i: usize, port: u16, book: &Path) -> Child {
    let share = LOADS[i] as f64 / LOADS.iter().sum::<u64>() as f64;
    let interval = (BUCKET * BUCKETS as u32).as_secs_f64();
    let rate = LIMIT as f64 / interval * OVERLOAD * share;
    let mut command = Command::new(env::current_exe().expect("it runs"));
    command
        .args(["--exact", "processes::client", "--ignored", "--nocapture", "--test-threads=1"])
        .env("STORM_PORT", port.to_string())
        .env("STORM_BOOK", book)
        .env("STORM_RATE", rate.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    bound(&mut command).spawn().expect("this program can be started")
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits for a random time, of this on average.
fn pause(average: Duration) {
    thread::sleep(average.mul_f64(0.2 + 1.6 * fastrand::f64()));
}

/// Runs a storm on the first engine that is here: `wrong` makes one thing go wrong.
fn storm(kind: &str, mut wrong: impl FnMut(&mut Storm, &mut Vec<Server>, &Proxy)) {
    if let Some(program) = engines().first() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut servers = vec![Server::start(program, &[])];
        let proxy = Proxy::to(servers[0].port());
        let mut storm = Storm::begin(folder.path(), proxy.port());
        while storm.goes_on() {
            wrong(&mut storm, &mut servers, &proxy);
        }
        storm.judge(kind);
    }
}

/// Prints the admissions, and the calls of the engine, when nothing goes wrong. (They are not
/// judged: they depend on the machine.)
#[test]
#[ignore = "takes TORTURE_SECONDS"]
fn the_limit_holds_while_nothing_goes_wrong() {
    storm("calm", |storm, servers, _| {
        thread::sleep(Duration::from_millis(100));
        storm.events += 1;
        if !storm.goes_on() {
            let buckets = storm.begun.elapsed().as_secs_f64() / BUCKET.as_secs_f64();
            let calls = calls(&servers[0]) as f64 / buckets / LOADS.len() as f64;
            println!("calm: {calls:.1} calls a bucket and process");
        }
    });
}

/// Returns the number of asks that an engine has answered.
fn calls(server: &Server) -> u64 {
    let stats: String = server.command("INFO commandstats");
    let (_, rest) = stats.split_once("cmdstat_evalsha:calls=").expect("it was asked");
    rest.split(',').next().and_then(|calls| calls.parse().ok()).expect("it is a number")
}

#[test]
#[ignore = "takes TORTURE_SECONDS"]
fn the_limit_holds_while_clients_are_killed() {
    storm("kill", |storm, _, _| {
        pause(Duration::from_millis(200));
        storm.replace(fastrand::usize(..LOADS.len()));
    });
}

#[test]
#[ignore = "takes TORTURE_SECONDS"]
fn the_limit_holds_while_clients_are_stopped() {
    storm("stop", |storm, _, _| {
        pause(Duration::from_millis(200));
        let time = Duration::from_millis(fastrand::u64(10..400));
        storm.suspend(fastrand::usize(..LOADS.len()), time);
    });
}

#[test]
#[ignore = "takes TORTURE_SECONDS"]
fn the_limit_holds_while_the_engine_is_killed_and_comes_back_empty() {
    storm("restart", |storm, servers, _| {
        pause(Duration::from_millis(1_700));
        servers[0].restart();
        storm.events += 1;
    });
}

#[test]
#[ignore = "takes TORTURE_SECONDS"]
fn the_limit_holds_while_a_replica_that_lags_takes_over() {
    storm("failover", |storm, servers, proxy| {
        let old = servers.pop().expect("there is one");
        let options = ["--replicaof", "127.0.0.1", &old.port().to_string()];
        let new = Server::start(old.program(), &options);
        pause(Duration::from_millis(1_200));
        until("the replica is linked", || {
            new.command::<String>("INFO replication").contains("master_link_status:up")
        });
        let () = new.command("REPLICAOF NO ONE");
        thread::sleep(Duration::from_millis(300)); // it lags from here on
        proxy.turn_to(new.port());
        drop(old);
        servers.push(new);
        storm.events += 1;
    });
}

#[test]
#[ignore = "takes TORTURE_SECONDS"]
fn the_limit_holds_while_the_network_loses_delays_and_repeats() {
    storm("cut", |storm, _, proxy| {
        proxy.set(Mode::Faults);
        thread::sleep(Duration::from_millis(100));
        storm.events += 1;
    });
}
