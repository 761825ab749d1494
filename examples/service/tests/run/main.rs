//! The service as a process: its counts, its refusals, and how it ends.
#![cfg(unix)]

#[path = "../common/client.rs"]
mod client;
#[cfg(target_os = "linux")] // where all families of a process are served
mod dashboard;
mod deployed;
mod manifests;
#[path = "../common/process.rs"]
mod process;
#[allow(dead_code, reason = "the tests of windrow-redis use the rest")]
#[path = "../../../../integrations/redis/tests/engine/server.rs"]
mod server;
mod shared;
mod streams;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use client::Client;
use process::{LONG, Process, command, file};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Runs the program to its end.
fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("the service starts")
}

async fn get(service: &Process, path: &str) -> (StatusCode, String) {
    let mut client = Client::connect(service.address()).await.expect("it listens");
    let (status, body) = client.send("GET", path, String::new()).await.expect("it answers");
    (status, String::from_utf8(body.to_vec()).expect("all answers are texts"))
}

/// Waits until a scrape has this line.
async fn until(service: &Process, line: &str) {
    let begun = Instant::now();
    loop {
        let (_, text) = get(service, "/metrics").await;
        if text.lines().any(|found| found == line) {
            return;
        }
        assert!(begun.elapsed() < LONG, "no {line} in\n{text}");
        sleep(Duration::from_millis(5)).await;
    }
}

fn is_in_flight(requests: u64) -> String {
    format!("shop_in_flight{{method=\"GET\",route=\"/slow/{{milliseconds}}\"}} {requests}")
}

#[test]
fn under_its_own_load_it_counts_what_it_did() {
    let output = output(command().args(["--seconds", "1", "--clients", "8"]));
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let verdict = said.lines().last().unwrap();
    assert!(verdict.starts_with("counted ") && verdict.ends_with(", lost 0"), "{said}");
    assert!(!verdict.starts_with("counted 0 "), "{said}");
}

#[test]
fn bad_arguments_are_refused_with_2_and_an_address_that_is_taken_with_1() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, word, code) in [
        (vec!["--listen", address.as_str()], "another program listens on", 1),
        (vec!["--listen", "localhost"], "it must be an address and a port", 2),
        (vec!["--loud"], "--loud", 2),
    ] {
        let output = output(command().args(&arguments));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn each_request_is_counted_by_its_route_and_the_unknown_ones_together() {
    let service = Process::start(&[]);
    let mut client = Client::connect(service.address()).await.unwrap();
    for (method, path, body, status) in [
        ("GET", "/carts/1", "", StatusCode::OK),
        ("GET", "/carts/2", "", StatusCode::OK),
        ("POST", "/orders", "1250", StatusCode::OK),
        ("POST", "/orders", "-3", StatusCode::BAD_REQUEST),
        ("GET", "/slow/soon", "", StatusCode::BAD_REQUEST),
        ("DELETE", "/carts/1", "", StatusCode::METHOD_NOT_ALLOWED),
        ("GET", "/wp-login.php", "", StatusCode::NOT_FOUND),
        ("GET", "/orders/../\"}", "", StatusCode::NOT_FOUND),
        ("BREW", "/tea", "", StatusCode::NOT_FOUND),
    ] {
        let (given, _) = client.send(method, path, body.to_owned()).await.unwrap();
        assert_eq!(given, status, "{method} {path}");
    }
    let (_, text) = get(&service, "/metrics").await;
    let requests: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("shop_requests_total{") && line.contains("\"Request\""))
        .collect();
    for (method, route, count) in [
        ("GET", "/carts/{id}", 2),
        ("POST", "/orders", 2),
        ("GET", "/slow/{milliseconds}", 1),
        ("DELETE", "/carts/{id}", 1),
        ("GET", "unmatched", 2),
        ("OTHER", "unmatched", 1),
    ] {
        let labels = format!("{{method=\"{method}\",route=\"{route}\",event=\"Request\"}}");
        let line = format!("shop_requests_total{labels} {count}");
        assert!(requests.contains(&line.as_str()), "no {line} in {requests:#?}");
    }
    assert_eq!(requests.len(), 6, "{requests:#?}");
    for line in [
        "shop_orders_total{outcome=\"accepted\"} 1",
        "shop_orders_total{outcome=\"invalid\"} 1",
        "shop_payments_sum_total{event=\"Amount\"} 1250",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
    }
    service.signal("TERM");
    let end = service.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(end.said.ends_with("\ncounted 12 of 12, lost 0\n"), "{end:?}");
}

#[tokio::test]
async fn a_scrape_has_the_numbers_of_the_process() {
    let service = Process::start(&[]);
    let (_, text) = get(&service, "/metrics").await;
    let number = |name: &str| -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    // Elsewhere some systems do not tell all of them.
    if cfg!(target_os = "linux") {
        assert!(number("process_cpu_seconds_total") >= Some(0.0), "{text}");
        assert!(number("process_resident_memory_bytes") > Some(1e6), "{text}");
        assert!(number("process_threads") >= Some(2.0), "{text}");
        // The listener, this connection, and the three of each process.
        assert!(number("process_open_fds") >= Some(5.0), "{text}");
        assert!(number("process_start_time_seconds") > Some(1.6e9), "{text}");
    }
    service.signal("TERM");
    assert_eq!(service.end().code, Some(0));
}

#[tokio::test]
async fn times_have_percentiles_in_a_scrape_and_on_the_page() {
    let service = Process::start(&[]);
    let mut client = Client::connect(service.address()).await.unwrap();
    for milliseconds in [1, 1, 1, 300] {
        let path = format!("/slow/{milliseconds}");
        assert_eq!(client.send("GET", &path, String::new()).await.unwrap().0, StatusCode::OK);
    }
    // All four are above half a millisecond, one above a quarter of a second.
    let labels = "method=\"GET\",route=\"/slow/{milliseconds}\",event=\"Rt\"";
    let bucket = |le: &str, count: u64| {
        format!("shop_requests_values_seconds_bucket{{{labels},le=\"{le}\"}} {count}")
    };
    until(&service, &bucket("0.000524288", 0)).await;
    until(&service, &bucket("0.268435456", 3)).await;
    until(&service, &bucket("+Inf", 4)).await;
    // The second in which they came is over in a while.
    let found = |text: &str, quantile: &str| -> Option<f64> {
        let of = format!("{labels},q=\"{quantile}\"}} ");
        text.lines().find_map(|line| line.split_once(&of)?.1.parse().ok())
    };
    let begun = Instant::now();
    let (half, most) = loop {
        let (_, text) = get(&service, "/metrics").await;
        let both = found(&text, "0.5").zip(found(&text, "0.99"));
        match both {
            Some((half, most)) if most > 0.2 => break (half, most),
            _ => assert!(begun.elapsed() < LONG, "{text}"),
        }
        sleep(Duration::from_millis(50)).await;
    };
    assert!(most >= 0.3 * (1.0 - 0.0433) && half < most, "{half} {most}");
    let (_, text) = get(&service, "/console/").await;
    let shown = text.lines().find(|line| line.contains("/slow/{milliseconds}"));
    assert!(shown.is_some_and(|line| line.contains(", p99 ")), "{text}");
    service.signal("TERM");
    assert_eq!(service.end().code, Some(0));
}

#[tokio::test]
async fn requests_in_flight_are_answered_before_the_last_export_is_written() {
    for signal in ["TERM", "INT"] {
        let last = file(&format!("last-{signal}"));
        let export = ["--export", last.to_str().unwrap(), "--drain-limit-seconds", "60"];
        let service = Process::start(&export);
        let mut client = Client::connect(service.address()).await.unwrap();
        let slow =
            tokio::spawn(async move { client.send("GET", "/slow/5000", String::new()).await });
        until(&service, &is_in_flight(1)).await;
        service.signal(signal);
        let (status, body) = slow.await.unwrap().unwrap();
        assert_eq!((status, &body[..]), (StatusCode::OK, &b"good hay takes its time\n"[..]));
        let end = service.end();
        assert_eq!(end.code, Some(0), "{end:?}");
        let last = fs::read_to_string(last).unwrap();
        assert!(last.lines().any(|line| line == is_in_flight(0)), "{last}");
        let series = "{method=\"GET\",route=\"/slow/{milliseconds}\",event=\"Request\"} 1";
        assert!(last.contains(&format!("shop_requests_total{series}\n")), "{last}");
        assert!(last.ends_with("# EOF\n"), "{last}");
    }
}

#[tokio::test]
async fn the_page_is_there_and_its_streams_end_with_the_service() {
    let service = Process::start(&[]);
    assert_eq!(get(&service, "/carts/1").await.0, StatusCode::OK);
    for (path, word) in [
        ("/console/", "shop_requests{method=\"GET\",route=\"/carts/{id}\"}"),
        ("/console/snapshot.json", "\"name\":\"shop_payments\""),
        (
            "/console/metrics",
            "shop_requests_total{method=\"GET\",route=\"/carts/{id}\",event=\"Request\"} 1\n",
        ),
    ] {
        let (status, text) = get(&service, path).await;
        assert!(status == StatusCode::OK && text.contains(word), "{path}: {status} {text}");
    }
    let mut stream = std::net::TcpStream::connect(service.address()).unwrap();
    stream.write_all(b"GET /console/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    service.signal("TERM");
    let end = service.end();
    assert_eq!((end.code, end.complained.as_str()), (Some(0), ""), "{}", end.said);
    // None of these was a request to the shop.
    assert!(end.said.ends_with("\ncounted 1 of 1, lost 0\n"), "{}", end.said);
    stream.read_to_end(&mut Vec::new()).expect("the stream has an end");
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let limits = ["--drain-limit-seconds", "600", "--body-timeout-seconds", "600"];
    let service = Process::start(&limits);
    let mut half = std::net::TcpStream::connect(service.address()).unwrap();
    half.write_all(b"POST /orders HTTP/1.1\r\nhost: hay\r\ncontent-length: 4\r\n\r\n1").unwrap();
    until(&service, "shop_in_flight{method=\"POST\",route=\"/orders\"} 1").await;
    let begun = Instant::now();
    service.signal("TERM");
    // Until the first has been seen, a second would be the same one to the kernel.
    while TcpStream::connect(service.address()).await.is_ok() {
        assert!(begun.elapsed() < LONG, "it goes on listening");
        sleep(Duration::from_millis(5)).await;
    }
    service.signal("TERM");
    let end = service.end();
    assert_eq!(end.code, Some(130));
    assert!(end.complained.contains("stopped at once"), "{end:?}");
    let mut rest = Vec::new();
    let _ = half.read_to_end(&mut rest);
    assert!(rest.is_empty(), "the request was answered: {rest:?}");
}

#[tokio::test]
async fn while_it_stops_a_scrape_is_answered_in_full_or_refused() {
    let service = Process::start(&["--drain-limit-seconds", "60"]);
    let mut client = Client::connect(service.address()).await.unwrap();
    let slow = tokio::spawn(async move { client.send("GET", "/slow/5000", String::new()).await });
    until(&service, &is_in_flight(1)).await;
    let mut scraper = Client::connect(service.address()).await.unwrap();
    service.signal("TERM");
    let (mut answered, mut refused) = (0, 0);
    while !slow.is_finished() {
        // On a connection that was there before, and on a new one each time.
        let kept = scraper.send("GET", "/metrics", String::new()).await.ok();
        let fresh = match Client::connect(service.address()).await {
            Ok(mut fresh) => fresh.send("GET", "/metrics", String::new()).await.ok(),
            Err(error) => {
                // Reset: the kernel had taken it, when the service no longer did.
                let refusals = [ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset];
                assert!(refusals.contains(&error.kind()), "{error}");
                None
            }
        };
        for scrape in [kept, fresh] {
            let Some((status, text)) = scrape else {
                refused += 1;
                continue;
            };
            assert!(status == StatusCode::OK && text.ends_with(b"\n"), "{status} {text:?}");
            answered += 1;
        }
        sleep(Duration::from_millis(1)).await;
    }
    assert!(refused > 0, "{answered} answered, and none refused: it did not stop");
    assert_eq!(slow.await.unwrap().unwrap().0, StatusCode::OK);
    assert_eq!(service.end().code, Some(0));
}

#[tokio::test]
async fn who_is_gone_and_who_sends_half_a_request_do_not_hold_up_the_end_for_ever() {
    let service = Process::start(&["--drain-limit-seconds", "1"]);
    let mut gone = std::net::TcpStream::connect(service.address()).unwrap();
    gone.write_all(b"GET /slow/5000 HTTP/1.1\r\nhost: hay\r\n\r\n").unwrap();
    until(&service, &is_in_flight(1)).await;
    drop(gone);
    until(&service, &is_in_flight(0)).await;
    let mut half = std::net::TcpStream::connect(service.address()).unwrap();
    half.write_all(b"GET /slow/1 HT").unwrap();
    service.signal("TERM");
    let end = service.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(end.complained.contains("not all were answered"), "{end:?}");
    assert!(end.said.ends_with("\ncounted 1 of 1, lost 0\n"), "{end:?}");
    let mut rest = Vec::new();
    let _ = half.read_to_end(&mut rest);
    assert!(rest.is_empty(), "{rest:?}");
}
