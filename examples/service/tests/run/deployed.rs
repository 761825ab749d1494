//! A deployed service: health, limits and timeouts of connections, the drain, the log.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Instant;

use axum::http::StatusCode;
use tokio::time::{Duration, sleep};

use crate::client::Client;
use crate::process::{LONG, Process, command};
use crate::{get, is_in_flight, output, until};

/// Connects, and sends a part of a request.
fn send(service: &Process, part: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(part.as_bytes()).unwrap();
    stream
}

/// Reads until the service ends the connection.
fn rest(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("the service ends the connection");
    text
}

#[tokio::test]
async fn it_is_ready_until_it_is_told_to_stop_and_serves_on_meanwhile() {
    let service = Process::start(&["--drain-delay-seconds", "600"]);
    assert_eq!(get(&service, "/readyz").await, (StatusCode::OK, "ready\n".to_owned()));
    service.signal("TERM");
    let begun = Instant::now();
    while get(&service, "/readyz").await.0 != StatusCode::SERVICE_UNAVAILABLE {
        assert!(begun.elapsed() < LONG, "it is still ready");
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(get(&service, "/readyz").await.1, "draining\n");
    assert_eq!(get(&service, "/healthz").await, (StatusCode::OK, "alive\n".to_owned()));
    assert_eq!(get(&service, "/slow/1").await.0, StatusCode::OK);
    let (_, text) = get(&service, "/metrics").await;
    assert!(!text.contains("readyz") && !text.contains("healthz"), "{text}");
    service.signal("TERM");
    assert_eq!(service.end().code, Some(130));
}

#[tokio::test]
async fn after_the_drain_all_that_was_served_is_counted() {
    let arguments = ["--drain-delay-seconds", "1", "--drain-limit-seconds", "60"];
    let service = Process::start(&arguments);
    let mut client = Client::connect(service.address()).await.unwrap();
    let slow = tokio::spawn(async move { client.send("GET", "/slow/3000", String::new()).await });
    until(&service, &is_in_flight(1)).await;
    service.signal("TERM");
    // Requests go on until the service takes no more.
    let mut served = 1_u64;
    let begun = Instant::now();
    while let Ok(mut client) = Client::connect(service.address()).await {
        served += u64::from(client.send("GET", "/carts/1", String::new()).await.is_ok());
        assert!(begun.elapsed() < LONG, "it goes on listening");
    }
    assert_eq!(slow.await.unwrap().unwrap().0, StatusCode::OK);
    let end = service.end();
    assert_eq!((end.code, end.complained.as_str()), (Some(0), ""), "{}", end.said);
    let own = end.said.lines().find(|line| line.starts_with("requests ")).unwrap();
    let counts: Vec<String> =
        own.split_whitespace().skip(1).map(|word| word.replace(',', "")).collect();
    let served = served.to_string();
    assert_eq!(counts, [&served, &served, "equal"], "{}", end.said);
}

#[tokio::test]
async fn a_request_beyond_the_limit_of_the_drain_is_cut_and_counted() {
    let arguments = ["--drain-limit-seconds", "1", "--body-timeout-seconds", "600"];
    let service = Process::start(&arguments);
    let stream = send(&service, &format!("{ORDER}content-length: 4\r\n\r\n1"));
    until(&service, "shop_in_flight{method=\"POST\",route=\"/orders\"} 1").await;
    service.signal("TERM");
    assert_eq!(rest(stream), "");
    let end = service.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(end.complained.contains("connections are cut connections=1 limit=1s"), "{end:?}");
    assert!(end.said.ends_with("\ncounted 1 of 1, lost 0\n"), "{end:?}");
}

/// The head of an order, without its end.
const ORDER: &str = "POST /orders HTTP/1.1\r\nhost: hay\r\nconnection: close\r\n";

#[test]
fn a_header_that_does_not_come_is_not_waited_for() {
    let service = Process::start(&["--header-timeout-seconds", "1"]);
    for part in ["GET /carts/1 HTTP/1.1\r\nhost: ", ""] {
        let mut stream = TcpStream::connect(service.address()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        // It may be too late already: then the connection is reset.
        let _ = stream.write_all(part.as_bytes());
        let end = stream.read(&mut [0]).or_else(|error| match error.kind() {
            ErrorKind::ConnectionReset => Ok(0),
            _ => Err(error),
        });
        assert!(matches!(end, Ok(0)), "{part:?} is answered, or waited for: {end:?}");
    }
    service.signal("TERM");
    let end = service.end();
    assert!(end.said.ends_with("\ncounted 0 of 0, lost 0\n"), "{end:?}");
}

#[test]
fn a_connection_that_is_kept_open_is_ended_when_it_sends_nothing_more() {
    let service = Process::start(&["--header-timeout-seconds", "2"]);
    // Both at once, so that the second is in time on any machine.
    let stream = send(&service, &"GET /slow/1 HTTP/1.1\r\nhost: hay\r\n\r\n".repeat(2));
    // Less than the timeout of 30 s that hyper has without a setting.
    stream.set_read_timeout(Some(Duration::from_secs(25))).unwrap();
    let answers = rest(stream);
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\n").count(), 2, "{answers}");
    assert!(answers.ends_with("\r\n\r\ngood hay takes its time\n"), "{answers}");
    service.signal("TERM");
    let end = service.end();
    assert!(end.said.ends_with("\ncounted 2 of 2, lost 0\n"), "{end:?}");
}

#[test]
fn a_client_that_does_not_read_its_answers_is_cut_and_another_has_its_place() {
    let limits = ["--max-connections", "1", "--header-timeout-seconds", "600"];
    let service = Process::start(&[&limits[..], &["--write-timeout-seconds", "1"]].concat());
    // Tens of megabytes of answers, which no buffer of the system holds.
    let page = "GET /console/ HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n";
    let deaf = send(&service, &page.repeat(1_000));
    let other = send(&service, "GET /carts/1 HTTP/1.1\r\nhost: hay\r\nconnection: close\r\n\r\n");
    let answer = rest(other);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(deaf);
}

#[test]
fn a_body_that_does_not_come_or_does_not_end_is_refused() {
    let service = Process::start(&["--body-timeout-seconds", "1"]);
    let answer = rest(send(&service, &format!("{ORDER}content-length: 4\r\n\r\n1")));
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    service.signal("TERM");
    let end = service.end();
    assert!(end.said.ends_with("\ncounted 1 of 1, lost 0\n"), "{end:?}");

    let service = Process::start(&["--body-timeout-seconds", "600"]);
    // One byte too long, so that the service has read all of it when it ends the connection.
    let length = (64 << 10) + 1;
    let body = "1".repeat(length);
    let answer = rest(send(&service, &format!("{ORDER}content-length: {length}\r\n\r\n{body}")));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[test]
fn the_log_has_what_happens_and_no_requests_unless_it_is_told() {
    for (level, has_requests) in [("info", false), ("debug", true)] {
        let service = Process::start(&["--log", level]);
        let answer =
            rest(send(&service, "GET /carts/1 HTTP/1.1\r\nhost: hay\r\nconnection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let address = service.address();
        service.signal("TERM");
        let end = service.end();
        let log = end.complained;
        for part in [&format!(" INFO serving address={address}\n"), " INFO draining delay=0ns "] {
            assert!(log.contains(part), "no {part} in {log}");
        }
        let span = "request{method=GET route=\"/carts/{id}\"}: ";
        assert_eq!(log.contains(span), has_requests, "{level}: {log}");
    }
}

#[tokio::test]
async fn a_payment_that_fails_is_counted_and_has_no_line_in_the_log_unless_it_is_told() {
    for (level, lines) in [("info", 0), ("debug", 1)] {
        let service = Process::start(&["--log", level]);
        let mut client = Client::connect(service.address()).await.unwrap();
        for nth in 1..=30 {
            let (status, _) = client.send("POST", "/orders", "1250".to_owned()).await.unwrap();
            let fails = nth == 30;
            let expected = if fails { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
            assert_eq!(status, expected, "{nth}");
        }
        until(&service, "shop_orders_total{outcome=\"failed\"} 1").await;
        service.signal("TERM");
        let log = service.end().complained;
        assert_eq!(log.matches("a payment failed: ").count(), lines, "{level}: {log}");
    }
}

#[test]
fn a_setting_of_the_environment_that_is_wrong_is_refused_and_an_argument_wins() {
    for (name, value, rule) in [
        ("SHOP_DRAIN_LIMIT_SECONDS", "0", "'0' for '--drain-limit-seconds <N>': 0 is not in 1..="),
        ("SHOP_DRAIN", "3", "the environment's SHOP_DRAIN is no setting; there are SHOP_LISTEN, "),
        ("SHOP_LIMIT_REDIS", "http://:secret@host", "--limit-redis (not shown): it must be a URL"),
    ] {
        let output = output(command().env(name, value));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(rule) && !said.contains("secret"), "{said}");
    }
    let mut command = command();
    command.env("SHOP_DRAIN_LIMIT_SECONDS", "0").env("SHOP_LOG", "debug");
    let service = Process::of(command, &["--drain-limit-seconds", "40"]);
    service.signal("TERM");
    let end = service.end();
    assert!(end.code == Some(0) && end.complained.contains("limit=40s"), "{end:?}");
}

#[tokio::test]
async fn a_log_whose_reader_has_gone_ends_no_request_and_no_drain() {
    let (reader, log) = io::pipe().unwrap();
    let arguments = ["--log", "debug", "--drain-limit-seconds", "60"];
    let service = Process::with_log(command(), &arguments, Stdio::from(log));
    drop(reader);
    for _ in 0..3 {
        assert_eq!(get(&service, "/coupons/hay").await.0, StatusCode::METHOD_NOT_ALLOWED);
    }
    service.signal("TERM");
    let end = service.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(end.said.ends_with("\ncounted 3 of 3, lost 0\n"), "{end:?}");
}

#[test]
fn a_header_that_is_too_long_is_refused() {
    let service = Process::start(&["--header-timeout-seconds", "600"]);
    // As long as the buffer, so that the service has read all of it when it ends the connection.
    let part = format!("{:h<1$}", "GET /carts/1 HTTP/1.1\r\nhost: ", 16 << 10);
    let answer = rest(send(&service, &part));
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_another_to_end() {
    let service = Process::start(&["--max-connections", "1", "--header-timeout-seconds", "600"]);
    let mut first = Client::connect(service.address()).await.unwrap();
    assert_eq!(first.send("GET", "/slow/1", String::new()).await.unwrap().0, StatusCode::OK);
    let second = send(&service, "GET /carts/1 HTTP/1.1\r\nhost: hay\r\nconnection: close\r\n\r\n");
    for _ in 0..100 {
        assert_eq!(first.send("GET", "/slow/1", String::new()).await.unwrap().0, StatusCode::OK);
    }
    let (_, text) = first.send("GET", "/metrics", String::new()).await.unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(text.contains("/slow/") && !text.contains("/carts/"), "{text}");
    drop(first);
    // On another thread, so that the task of the first connection ends on this one.
    let answer = tokio::task::spawn_blocking(|| rest(second)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn the_log_has_the_labels_of_the_series() {
    let service = Process::start(&["--log", "debug"]);
    let mut client = Client::connect(service.address()).await.unwrap();
    let (status, _) = client.send("BREW", "/tea", String::new()).await.unwrap();
    assert_eq!(status, StatusCode::NOT_FOUND);
    service.signal("TERM");
    let log = service.end().complained;
    assert!(log.contains("request{method=OTHER route=\"unmatched\"}: "), "{log}");
}

#[tokio::test]
async fn an_export_that_cannot_be_written_is_told_after_the_counts() {
    let service = Process::start(&["--export", "no/such/folder/last"]);
    assert_eq!(get(&service, "/slow/1").await.0, StatusCode::OK);
    service.signal("TERM");
    let end = service.end();
    assert_eq!(end.code, Some(1), "{end:?}");
    assert!(end.complained.contains("no/such/folder/last: "), "{end:?}");
    assert!(end.said.ends_with("\ncounted 1 of 1, lost 0\n"), "{end:?}");
}
