//! Admissions of other limiters beside those of the limits that `docs/parity.md` names for them:
//! the same requests at the same times.
//!
//! governor and Go's limiter are asked with times of the test's. nginx, `HAProxy`, Envoy and Guava
//! run in real time: requests come a tenth of a second or more from any moment that matters. Tests
//! of what must be installed wait to be asked for, by `--ignored`.

#![cfg(feature = "limits")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{Pace, Timestamp};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns what a pace says to a request at each of the times, which are milliseconds: the wait, or
/// `None` for a refusal.
fn paced(period: Duration, burst: u64, patience: Duration, times: &[u64]) -> Vec<Option<Duration>> {
    let clock = Manual::default();
    let pace = Pace::builder(period).burst(burst).clock(clock.clone()).build().expect("valid");
    let ask = |time: &u64| {
        clock.set(Timestamp::from_millis(1_000_000 + time));
        match pace.admit(1, patience) {
            Admission::Now => Some(Duration::ZERO),
            Admission::After(wait) => Some(wait),
            Admission::Refused { .. } => None,
        }
    };
    times.iter().map(ask).collect()
}

#[test]
fn a_pace_admits_what_governor_admits() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut admitted = 0;
    for _ in 0..300 {
        let period = Duration::from_nanos(random.u64(1..2_000_000_000));
        let burst = random.u32(1..50);
        let theirs = FakeRelativeClock::default();
        let quota = Quota::with_period(period).expect("a period");
        let quota = quota.allow_burst(burst.try_into().expect("at least 1"));
        let governor = RateLimiter::direct_with_clock(quota, theirs.clone());
        let ours = Manual::default();
        ours.set(Timestamp::from_secs(1_000_000));
        let pace = Pace::builder(period).burst(burst.into()).clock(ours.clone());
        let pace = pace.build().expect("valid");
        for _ in 0..500 {
            let step = period.mul_f64(random.f64() * random.f64() * 3.0);
            theirs.advance(step);
            ours.advance(step);
            let weight = random.u32(1..=burst);
            let is_admitted = pace.try_admit(weight.into());
            let checked = governor.check_n(weight.try_into().expect("at least 1"));
            assert_eq!(is_admitted, checked.is_ok_and(|it| it.is_ok()), "{period:?} {burst}");
            admitted += u64::from(is_admitted);
        }
    }
    assert!((20_000..130_000).contains(&admitted), "{admitted}");
}

/// Both begin full, and admit at the very instant at which enough is there.
#[test]
#[ignore = "needs Go, and Debian's golang-golang-x-time-dev"]
fn a_pace_admits_what_go_admits() {
    use std::fmt::Write as _;

    let mut random = fastrand::Rng::with_seed(7);
    let (mut asked, mut ours) = (String::new(), Vec::new());
    for _ in 0..300 {
        let period = random.u64(1..2_000_000_000);
        let burst = random.u64(1..50);
        let _ = writeln!(asked, "limit {period} {burst}");
        let (clock, start) = (Manual::default(), 1_000_000_000_000_000);
        clock.set(Timestamp::from_nanos(start));
        let pace = Pace::builder(Duration::from_nanos(period)).burst(burst);
        let pace = pace.clock(clock.clone()).build().expect("valid");
        let mut time = 0;
        for _ in 0..500 {
            let step = Duration::from_nanos(period).mul_f64(random.f64() * random.f64() * 3.0);
            time += step.as_nanos() as u64;
            clock.set(Timestamp::from_nanos(start + time));
            let weight = random.u64(1..=burst + 1); // one more never fits
            let _ = writeln!(asked, "ask {time} {weight}");
            ours.push(pace.try_admit(weight));
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut go = Command::new("go");
    go.args(["run", concat!(env!("CARGO_MANIFEST_DIR"), "/go/rates.go")]);
    go.envs([("GO111MODULE", "off"), ("GOPATH", "/usr/share/gocode")]);
    go.env("GOCACHE", folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = go.spawn().expect("Go");
    let mut input = child.stdin.take().expect("an input");
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()).expect("sent"));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("sent");
    let theirs: Vec<bool> =
        String::from_utf8(output.stdout).expect("text").lines().map(|it| it == "1").collect();
    assert_eq!(theirs.len(), ours.len());
    let differ = theirs.iter().zip(&ours).filter(|(theirs, ours)| theirs != ours).count();
    assert_eq!(differ, 0, "of {} answers", ours.len());
}

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Starts a program, and waits until it listens.
fn start(program: &str, arguments: &[&str], port: u16) -> Server {
    let (none, errors) = (Stdio::null(), Stdio::null());
    let child = Command::new(program).args(arguments).stdout(none).stderr(errors).spawn();
    let server = Server(child.unwrap_or_else(|error| panic!("{program}: {error}")));
    let begun = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{program} does not listen");
        sleep(millis(20));
    }
    server
}

/// Asks for a page, and returns the answer.
fn answer(port: u16) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a connection");
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// Asks for a page, and returns the time until the answer; `None` if it is a refusal.
fn ask(port: u16) -> Option<Duration> {
    let begun = Instant::now();
    let answer = answer(port);
    let status = answer.get(9..12).expect("a status");
    assert!(["200", "429"].contains(&status), "{answer}");
    (status == "200").then(|| begun.elapsed())
}

/// Asks at each of the times, which are milliseconds from now; those of one time in turn.
fn asked(port: u16, times: &[u64]) -> Vec<Option<Duration>> {
    let begun = Instant::now();
    let threads: Vec<_> = (times.iter().enumerate())
        .map(|(number, time)| {
            let moment = begun + millis(*time) + millis(number as u64);
            sleep(moment.saturating_duration_since(Instant::now()));
            std::thread::spawn(move || ask(port))
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("an answer")).collect()
}

/// Sorts the answers to requests of one time: which of them came first is not known.
fn sorted(answers: &[Option<Duration>], times: &[u64]) -> Vec<Option<Duration>> {
    let mut all: Vec<_> = times.iter().zip(answers).collect();
    all.sort_by_key(|(time, answer)| (**time, answer.is_none(), **answer));
    all.into_iter().map(|(_, answer)| *answer).collect()
}

/// Compares answers, and waits to a fifth of a second.
fn compare(name: &str, theirs: &[Option<Duration>], ours: &[Option<Duration>], times: &[u64]) {
    let (theirs, ours) = (sorted(theirs, times), sorted(ours, times));
    println!("{name}\n  at ms  there  here");
    let shown = |wait: Option<Duration>| wait.map_or("-".into(), |it| format!("{it:.1?}"));
    let mut differ = 0;
    for ((theirs, ours), time) in theirs.iter().zip(&ours).zip(times) {
        println!("  {time:5}  {:>6}  {:>6}", shown(*theirs), shown(*ours));
        differ += u32::from(match (theirs, ours) {
            (Some(theirs), Some(ours)) => theirs.abs_diff(*ours) > millis(200),
            (None, None) => false,
            _ => true,
        });
    }
    assert_eq!(differ, 0, "{name}");
}

/// Times of requests to a limit of two a second with a burst.
const TIMES: [u64; 18] = [
    0, 0, 0, 0, 0, 0, 750, 750, 750, 1_250, 1_250, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_750,
];

#[test]
#[ignore = "needs nginx, and runs for half a minute"]
fn a_pace_admits_what_nginx_admits() {
    let half = millis(500);
    for (options, burst, patience) in [
        ("", 1, Duration::ZERO),
        ("burst=3 nodelay", 4, Duration::ZERO),
        ("burst=3", 1, 3 * half),
        ("burst=3 delay=1", 2, 2 * half),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let (at, port, behind) = (folder.path().display(), free_port(), free_port());
        let settings = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/errors; events {{}}
             http {{
               access_log off; client_body_temp_path {at}/a; proxy_temp_path {at}/b;
               fastcgi_temp_path {at}/c; uwsgi_temp_path {at}/d; scgi_temp_path {at}/e;
               limit_req_zone all zone=all:1m rate=2r/s; limit_req_status 429;
               server {{ listen 127.0.0.1:{port}; location / {{
                 limit_req zone=all {options}; proxy_pass http://127.0.0.1:{behind}; }} }}
               server {{ listen 127.0.0.1:{behind}; location / {{ return 200 well; }} }}
             }}"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, settings).expect("written");
        let file = file.to_str().expect("text");
        let _server = start("nginx", &["-c", file, "-p", &at.to_string()], port);
        let theirs = asked(port, &TIMES);
        let ours = paced(half, burst, patience, &TIMES);
        compare(&format!("limit_req rate=2r/s {options}"), &theirs, &ours, &TIMES);
    }
}

#[test]
#[ignore = "needs envoy, and runs for ten seconds"]
fn a_pace_admits_what_envoy_admits() {
    let (folder, port) = (tempfile::tempdir().expect("a folder"), free_port());
    let at = "type.googleapis.com/envoy.extensions.filters";
    let all = r#"{ "default_value": { "numerator": 100 } }"#;
    let limit = format!(
        r#"{{ "@type": "{at}.http.local_ratelimit.v3.LocalRateLimit", "stat_prefix": "l",
              "enable_x_ratelimit_headers": "DRAFT_VERSION_03", "filter_enabled": {all},
              "filter_enforced": {all}, "token_bucket":
                {{ "max_tokens": 4, "tokens_per_fill": 1, "fill_interval": "0.5s" }} }}"#
    );
    let manager = format!(
        r#"{{ "@type": "{at}.network.http_connection_manager.v3.HttpConnectionManager",
              "stat_prefix": "s", "delayed_close_timeout": "0s", "http_filters": [
                {{ "name": "limit", "typed_config": {limit} }},
                {{ "name": "router",
                   "typed_config": {{ "@type": "{at}.http.router.v3.Router" }} }} ],
              "route_config": {{ "virtual_hosts": [ {{ "name": "v", "domains": ["*"], "routes":
                [ {{ "match": {{ "prefix": "/" }}, "direct_response": {{ "status": 200 }} }} ]
              }} ] }} }}"#
    );
    let settings = format!(
        r#"{{ "static_resources": {{ "listeners": [ {{ "address": {{ "socket_address":
             {{ "address": "127.0.0.1", "port_value": {port} }} }}, "filter_chains":
             [ {{ "filters": [ {{ "name": "http", "typed_config": {manager} }} ] }} ] }} ] }} }}"#
    );
    let file = folder.path().join("envoy.json");
    std::fs::write(&file, settings).expect("written");
    let arguments = ["--use-dynamic-base-id", "-c", file.to_str().expect("text")];
    let _server = start("envoy", &arguments, port);
    let theirs = asked(port, &TIMES);
    let ours = paced(millis(500), 4, Duration::ZERO, &TIMES);
    compare("local_ratelimit of 4 and one each 0.5 s", &theirs, &ours, &TIMES);
    sleep(millis(3_000));
    let resets: Vec<String> = (0..5)
        .map(|_| {
            let answer = answer(port);
            assert!(!answer.contains("retry-after"), "{answer}");
            let line = answer.lines().find(|it| it.starts_with("x-ratelimit-reset")).expect("it");
            line.rsplit(' ').next().expect("a number").into()
        })
        .collect();
    assert_eq!(resets, ["0", "0", "0", "1", "1"]); // of half a second, once none is left
}

/// Starts a proxy with these lines in its front end.
fn haproxy(folder: &Path, lines: &str) -> (Server, u16) {
    let port = free_port();
    let settings = format!(
        "defaults\n mode http\n timeout client 20s\n timeout server 20s\n timeout connect 5s\n\
         frontend f\n bind 127.0.0.1:{port}\n{lines}\n \
         http-request return status 200 content-type text/plain string well\n"
    );
    let file = folder.join("haproxy.cfg");
    std::fs::write(&file, settings).expect("written");
    (start("haproxy", &["-db", "-f", file.to_str().expect("text")], port), port)
}

#[test]
#[ignore = "needs haproxy, and runs for ten seconds"]
fn haproxy_holds_sessions_back_and_counts_what_its_tables_refuse() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, port) = haproxy(folder.path(), " rate-limit sessions 5");
    sleep(millis(2_000)); // after the connection that has looked for it
    let waits = asked(port, &[0; 10]);
    assert!(waits.iter().all(Option::is_some), "{waits:?}");
    assert!(waits.iter().flatten().any(|wait| *wait > millis(500)), "{waits:?}");
    drop(server);
    let (_server, port) = haproxy(
        folder.path(),
        " stick-table type ip size 1m expire 60s store http_req_rate(1s)\n \
         http-request track-sc0 src\n \
         http-request deny deny_status 429 if { sc_http_req_rate(0) gt 5 }",
    );
    sleep(millis(2_000));
    let (mut ask, mut answers) = (millis(0), Vec::new());
    let begun = Instant::now();
    while ask < millis(4_000) {
        sleep((begun + ask).saturating_duration_since(Instant::now()));
        answers.push(self::ask(port).is_some());
        ask += millis(100); // ten a second, of which five would be admitted by each second's rate
    }
    let admitted = answers.iter().filter(|is_admitted| **is_admitted).count();
    assert!((5..10).contains(&admitted), "{answers:?}");
    assert!(answers[..5].iter().all(|is_admitted| *is_admitted), "{answers:?}");
    sleep(millis(2_500));
    assert!(self::ask(port).is_some());
}

#[test]
#[ignore = "needs a JDK and Guava"]
fn a_pace_after_a_rest_admits_what_guava_admits() {
    const GUAVA: &str = "/usr/share/java/guava.jar";
    assert!(Path::new(GUAVA).exists(), "{GUAVA} is absent: libguava-java has it");
    let times: Vec<u64> = [1_550; 13].into_iter().chain([1_600, 1_700, 1_700, 1_800]).collect();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/java/Permits.java");
    let mut java = Command::new("java");
    java.args(["-cp", GUAVA, program, "10"]).args(times.iter().map(u64::to_string));
    let output = java.output().expect("a JDK");
    let text = String::from_utf8(output.stdout).expect("text");
    let theirs: Vec<_> = text.lines().map(|it| (it == "1").then_some(Duration::ZERO)).collect();
    let ours = paced(millis(100), 11, Duration::ZERO, &times);
    assert_eq!(theirs.len(), times.len());
    compare("RateLimiter.create(10), after a rest", &theirs, &ours, &times);
}
