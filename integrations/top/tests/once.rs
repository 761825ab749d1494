//! The program itself, before a real console and before servers that are none.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use windrow::{SlidingWindow, events};
use windrow_console::Console;

events! { enum Web { Pass: Count, Failed: Count } }

const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

fn top(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windrow-top"));
    command.args(arguments).env("COLUMNS", "90").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Runs the program before a server that answers so.
fn before(answer: impl FnOnce(&mut TcpStream) + Send + 'static) -> Output {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 1_024];
        let read = stream.read(&mut asked).unwrap();
        let asked = text(&asked[..read]).to_ascii_lowercase();
        assert!(asked.starts_with("get /events http/1.1\r\n"), "{asked}");
        assert!(asked.contains("\r\nhost: 127.0.0.1:"), "{asked}");
        answer(&mut stream);
    });
    let output = top(&["--once", &address]);
    server.join().unwrap();
    output
}

/// Sends something again and again, until the client leaves.
fn endless(stream: &mut TcpStream, begin: &str, part: &str) {
    let _ = stream.write_all(begin.as_bytes());
    let many = part.repeat(64 * 1_024 / part.len());
    while stream.write_all(many.as_bytes()).is_ok() {}
}

fn assert_fails(output: &Output, status: i32, says: &str) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{error}");
    assert!(error.starts_with("windrow-top: ") && error.contains(says), "{error}");
    assert!(output.stdout.is_empty() && error.lines().count() == 1, "{error}");
    assert!(!error.trim_end().chars().any(char::is_control), "{error:?}");
}

#[test]
fn one_frame_of_a_real_console_is_printed() {
    let window = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
    let window: Arc<SlidingWindow<Web>> = Arc::new(window.build().unwrap());
    window.add(Web::Pass, 1_000);
    let mut console = Console::new("shop");
    console.version("1.2.3");
    console.show("requests", "Requests", Arc::clone(&window)).unwrap();
    let server = console.build().serve("127.0.0.1:0").unwrap();
    let output = top(&["--once", &server.address().to_string()]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    assert!(lines[0].starts_with("shop  up ") && lines[0].contains("version 1.2.3"), "{lines:?}");
    assert_eq!(lines[1], "Nothing to compare with yet: that takes a quarter of an hour.");
    assert!(lines.iter().any(|line| line.starts_with("\u{25cf} requests ")), "{lines:?}");
    // Below another path, there is none.
    let wrong = top(&["--once", &format!("{}/console", server.address())]);
    assert_fails(&wrong, 3, "the server refuses with status 404: ");
    // (Not the port of the server, stopped: a process that another test starts may still have it.)
    assert_fails(&top(&["--once", "127.0.0.1:1"]), 1, "cannot connect to 127.0.0.1:1: ");
}

#[test]
fn a_server_that_is_no_console_is_left_with_a_reason() {
    let endless_head = before(|stream| endless(stream, "HTTP/1.1 200 OK\r\n", "X: y\r\n"));
    assert_fails(&endless_head, 3, "it does not speak HTTP/1, or its head is too long");
    let endless_field = before(|stream| endless(stream, "HTTP/1.1 200 OK\r\nX: ", "y"));
    assert_fails(&endless_field, 3, "it does not speak HTTP/1, or its head is too long");
    let endless_line = before(|stream| endless(stream, &format!("{EVENTS}data: "), "[],"));
    assert_fails(&endless_line, 3, "a frame is longer than 8 MiB");
    let other = before(|stream| stream.write_all(b"SSH-2.0-\x1b[2J\r\n").unwrap());
    assert_fails(&other, 3, "it does not speak HTTP/1, or its head is too long");
    let page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>";
    assert_fails(&before(|stream| stream.write_all(page).unwrap()), 3, "no stream of events");
    let refusal = b"HTTP/1.1 503 Busy\r\n\r\n\x1b[2J\x1b]0;x\x07many\r\n\x1b[31m";
    assert_fails(&before(|stream| stream.write_all(refusal).unwrap()), 3, "503: \\u{1b}[2J");
    let not_json = format!("{EVENTS}event: all\ndata: {{\"frame\"\n\n");
    let not_json = before(move |stream| stream.write_all(not_json.as_bytes()).unwrap());
    assert_fails(&not_json, 3, "a frame is not JSON");
}

#[test]
fn a_frame_that_does_not_end_is_none() {
    let half = format!("{EVENTS}event: all\ndata: {{\"frame\":1,\"rows\":[");
    let closed = before(move |stream| stream.write_all(half.as_bytes()).unwrap());
    assert_fails(&closed, 1, "the server has closed the connection");
    assert_fails(&before(|_| ()), 1, "the server has closed the connection");
}

#[test]
fn names_of_a_hostile_server_are_printed_escaped() {
    let hostile = "\\u001b[2J\\u001b]0;x\\u0007\\u009b31m\\r\\u202e";
    let frame = format!(
        "{EVENTS}event: all\ndata: {{\"service\":\"{hostile}\",\"instance\":\"{hostile}\",\
         \"version\":\"{hostile}\",\"frame\":1,\"metrics\":[[\"{hostile}\",\"\",\"counter\",[],\"\"]],\
         \"rows\":[[1,0,\"{hostile}\",0,[9007199254740993],[0,1000,5]],[2,7,3,[],[]],5,null],\
         \"check\":{{\"failing\":[[1,5]]}},\"unusual\":{{\"windows\":1,\"changes\":1,\
         \"list\":[[1,\"slow\",1,5,\"{hostile}\",\"{hostile}\"]]}},\
         \"heavy\":[[\"{hostile}\",\"\",[[60000,9,[[\"{hostile}\",1,2]]]]]]}}\n\n"
    );
    let output = before(move |stream| stream.write_all(frame.as_bytes()).unwrap());
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // A buffer drops control characters: what follows them tells whether they were there.
    let [all, escaped] = ["[2J", "\\u{1b}[2J"].map(|part| shown.matches(part).count());
    assert!(all == escaped && escaped >= 5 && !shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn wrong_arguments_end_with_two_and_help_with_none() {
    assert_fails(&top(&["--once"]), 2, "an address is missing");
    assert_fails(&top(&["shop"]), 2, "it has no port");
    let help = top(&["--help"]);
    assert!(help.status.success() && text(&help.stdout).starts_with("windrow-top [--once]"));
    // The output is a pipe here.
    assert_fails(&top(&["127.0.0.1:1"]), 4, "--once prints one frame as text");
}
