//! The service of `axum.rs`, started and asked.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use tokio::task::spawn_blocking;

use super::*;

/// Sends a request with a key that is known, and returns the whole response.
async fn send(service: SocketAddr, request: &'static str) -> String {
    send_with(service, request, "x-api-key: acme\r\n").await
}

/// Sends a request with this header or none, and returns the whole response.
async fn send_with(service: SocketAddr, request: &'static str, key: &'static str) -> String {
    let ask = move || {
        let mut stream = TcpStream::connect(service).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nhost: a\r\n{key}").unwrap();
        write!(stream, "connection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    };
    spawn_blocking(ask).await.unwrap()
}

#[tokio::test]
async fn it_limits_counts_and_opens_its_breaker_and_is_scraped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = listener.local_addr().unwrap();
    let served = tokio::spawn(async { serve(listener, app().unwrap()).await });

    for key in ["", "x-api-key: \r\n", "x-api-key: acm\r\n", "x-api-key: acme2\r\n"] {
        let response = send_with(service, "GET /carts/0", key).await;
        assert!(response.starts_with("HTTP/1.1 401 "), "{key}: {response}");
    }
    assert_eq!(CLIENTS.family().iter().count(), 0, "no key that is unknown has a pace");
    let mut refused = 0;
    for _ in 0..30 {
        let response = send(service, "GET /carts/0").await;
        refused += u64::from(response.starts_with("HTTP/1.1 429 "));
    }
    assert_eq!(refused, 0, "a burst of 40");
    for _ in 0..10 {
        let response = send(service, "POST /pay/fails").await;
        assert!(response.starts_with("HTTP/1.1 502 "), "{response}");
    }
    let last = send(service, "POST /pay/any").await;
    // By the pace, or by the breaker.
    let is_refused = ["429", "503"].iter().any(|status| last.contains(status));
    assert!(is_refused, "{last}");

    let scrape = send(service, "GET /metrics").await;
    for line in [
        "http_total{method=\"GET\",route=\"/carts/{id}\",event=\"Request\"} 34",
        "http_values_seconds_count{method=\"GET\",route=\"/carts/{id}\",event=\"Rt\"} 34",
        "http_total{method=\"POST\",route=\"/pay/{card}\",event=\"Exception\"} 10",
        "http_total{method=\"POST\",route=\"/pay/{card}\",event=\"Block\"} 1",
        "bank_total{event=\"failed\"} 10",
        "bank_state 2.0",
    ] {
        assert!(scrape.lines().any(|it| it == line), "no {line} in {scrape}");
    }
    let stats = send(service, "GET /stats").await;
    assert!(stats.contains("GET /carts/{id}: "), "{stats}");
    served.abort();
}
