//! Pushes, to a listener of the test's own and to a real gateway.

mod gateway;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use windrow::Counter;
use windrow_prometheus::{Exposition, PushError, Pushgateway};

/// Answers one request, and returns it. Without an answer, it holds the connection until the client
/// leaves.
fn listen(answer: Option<&'static str>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let length = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..length]);
            let text = String::from_utf8(request.clone()).unwrap();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let is_whole = length.is_none_or(|length| length.parse() == Ok(body.len()));
                if is_whole && answer.is_some() {
                    break;
                }
            }
            if length == 0 {
                break;
            }
        }
        let _ = stream.write_all(answer.unwrap_or_default().as_bytes());
        String::from_utf8(request).unwrap()
    });
    (url, thread)
}

fn metrics() -> Exposition {
    let rows = Arc::new(Counter::new());
    rows.add(3);
    let mut metrics = Exposition::new();
    metrics.register("rows.copied", "Rows", rows).unwrap();
    metrics
}

const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

#[test]
fn a_push_is_a_put_of_the_text_to_the_path_of_the_group() {
    let (url, thread) = listen(Some(ACCEPTED));
    let gateway = Pushgateway::at(&format!("{url}/below/"), "nightly copy")
        .label("instance", "a/b")
        .header("Authorization", "Bearer 1");
    gateway.push(&metrics()).unwrap();
    let request = thread.join().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let first = "PUT /below/metrics/job@base64/bmlnaHRseSBjb3B5/instance@base64/YS9i HTTP/1.1";
    assert_eq!(lines.next(), Some(first));
    let host = format!("host: {}", url.trim_start_matches("http://"));
    for header in
        [&host, "authorization: Bearer 1", "content-type: text/plain; version=0.0.4; charset=utf-8"]
    {
        assert!(head.lines().any(|line| line == header), "{header} in {head}");
    }
    let text =
        "# HELP rows_copied_total Rows\n# TYPE rows_copied_total counter\nrows_copied_total 3\n";
    assert_eq!(body, text);
}

#[test]
fn a_text_of_the_programs_own_is_pushed_as_it_is() {
    let (url, thread) = listen(Some(ACCEPTED));
    Pushgateway::at(&url, "copy").push(&|| "rows 3\n".to_owned()).unwrap();
    assert!(thread.join().unwrap().ends_with("\r\n\r\nrows 3\n"));
}

#[test]
fn a_recorder_is_pushed_by_its_handle() {
    let recorder = windrow_metrics::Recorder::builder().build().unwrap();
    metrics::with_local_recorder(&recorder, || metrics::counter!("hits").increment(7));
    let (url, thread) = listen(Some(ACCEPTED));
    Pushgateway::at(&url, "copy").push(&recorder.handle()).unwrap();
    assert!(thread.join().unwrap().ends_with("\r\n\r\n# TYPE hits counter\nhits 7\n\n"));
}

#[test]
fn an_addition_is_a_post_and_a_deletion_a_delete() {
    let (url, thread) = listen(Some(ACCEPTED));
    Pushgateway::at(&url, "copy").add(&metrics()).unwrap();
    assert!(thread.join().unwrap().starts_with("POST /metrics/job/copy HTTP/1.1\r\n"));
    let (url, thread) = listen(Some(ACCEPTED));
    Pushgateway::at(&url, "copy").delete().unwrap();
    let request = thread.join().unwrap();
    assert!(request.starts_with("DELETE /metrics/job/copy HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n"));
}

#[test]
fn refusals_lost_connections_and_silence_are_errors_of_their_own() {
    let refusal = "HTTP/1.1 400 Bad Request\r\nContent-Length: 6\r\n\r\nno: a\n";
    let (url, thread) = listen(Some(refusal));
    let error = Pushgateway::at(&url, "copy").push(&metrics()).unwrap_err();
    assert!(matches!(&error, PushError::Refused { status: 400, message } if message == "no: a"));
    assert!(error.to_string().contains("400") && error.to_string().contains("no: a"));
    thread.join().unwrap();
    // A redirection is not followed.
    let moved = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 0\r\n\r\n";
    let (url, thread) = listen(Some(moved));
    let error = Pushgateway::at(&url, "copy").push(&metrics()).unwrap_err();
    assert!(matches!(error, PushError::Refused { status: 307, .. }), "{error}");
    thread.join().unwrap();
    let (url, thread) = listen(Some(""));
    let error = Pushgateway::at(&url, "copy").push(&metrics()).unwrap_err();
    assert!(matches!(error, PushError::Connection { .. }), "{error}");
    thread.join().unwrap();
    let (url, thread) = listen(None);
    let soon = Duration::from_millis(50);
    let error = Pushgateway::at(&url, "copy").timeout(soon).push(&metrics()).unwrap_err();
    assert!(matches!(error, PushError::Timeout { timeout } if timeout == soon), "{error}");
    thread.join().unwrap();
}

#[test]
fn what_cannot_be_sent_is_refused_before_it_is() {
    for url in
        ["", "127.0.0.1:9091", "https://a", "ftp://a", "http://u:p@a", "http://a?b", "/metrics"]
    {
        let error = Pushgateway::at(url, "copy").push(&metrics()).unwrap_err();
        assert!(
            matches!(&error, PushError::Url { url: given, .. } if given == url),
            "{url}: {error}"
        );
    }
    let gateway = Pushgateway::at("http://127.0.0.1:9", "copy");
    for (name, value) in [("a b", ""), ("", ""), ("a", "\n")] {
        let error = gateway.clone().header(name, value).push(&metrics()).unwrap_err();
        assert!(matches!(&error, PushError::Header { name: given } if given == name), "{error}");
    }
    let error = gateway.label("job", "").push(&metrics()).unwrap_err();
    assert!(matches!(&error, PushError::Label { label } if label == "job"));
}

#[test]
fn a_push_blocks_a_thread_of_a_runtime_as_any_other() {
    let (url, thread) = listen(Some(ACCEPTED));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { Pushgateway::at(&url, "copy").push(&metrics()) }).unwrap();
    thread.join().unwrap();
}
