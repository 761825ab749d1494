//! The service of `axum.rs`, started and asked.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use tokio::task::spawn_blocking;

use super::*;

/// Sends a request, and returns the whole response.
async fn send(service: SocketAddr, request: &'static str) -> String {
    let ask = move || {
        let mut stream = TcpStream::connect(service).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nhost: a\r\nx-api-key: acme\r\n").unwrap();
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
        "http_total{method=\"GET\",route=\"/carts/{id}\",event=\"Request\"} 30",
        "http_values_seconds_count{method=\"GET\",route=\"/carts/{id}\",event=\"Rt\"} 30",
        "bank_total{event=\"failed\"} 10",
        "bank_state 2.0",
    ] {
        assert!(scrape.lines().any(|it| it == line), "no {line} in {scrape}");
    }
    let stats = send(service, "GET /stats").await;
    assert!(stats.contains("GET /carts/{id}: "), "{stats}");
    served.abort();
}
