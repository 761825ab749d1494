//! Sentences of the pages and sources about nginx, run: what its settings do by default.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread::{self, sleep};
use std::time::Duration;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nginx before a server, and returns it with its port.
fn nginx(folder: &tempfile::TempDir, behind: u16) -> (Server, u16) {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
    let (at, port) = (folder.path().display(), port.expect("a port").port());
    let settings = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/errors; events {{}}
         http {{
           access_log off; client_body_temp_path {at}/a; proxy_temp_path {at}/b;
           fastcgi_temp_path {at}/c; uwsgi_temp_path {at}/d; scgi_temp_path {at}/e;
           server {{ listen 127.0.0.1:{port};
             location / {{ proxy_pass http://127.0.0.1:{behind}; }} }}
         }}"
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, settings).expect("written");
    let mut nginx = Command::new("nginx");
    nginx.arg("-c").arg(&file).arg("-p").arg(folder.path()).stderr(Stdio::null());
    let server = Server(nginx.spawn().expect("nginx"));
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        sleep(Duration::from_millis(20));
    }
    (server, port)
}

/// Reads the head of a message, and returns its length of content.
fn head(from: &mut impl BufRead) -> (String, u64) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(from.read_line(&mut head).expect("a line"), 0, "{head}");
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|it| it.lines().next());
    let length = length.map_or(0, |it| it.parse().expect("a length"));
    (head, length)
}

/// OTLP requests are cut below this size.
#[test]
#[ignore = "needs nginx"]
fn a_body_of_more_than_a_mebibyte_is_refused() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let behind = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let (_, length) = head(&mut stream);
            let body = (&mut stream).take(length);
            assert_eq!(body.bytes().count() as u64, length);
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.get_mut().write_all(answer).expect("answered");
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (_server, port) = nginx(&folder, behind);
    for (length, status) in [(1 << 20, "200"), ((1 << 20) + 1, "413")] {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a connection");
        let request = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a head");
        if status == "200" {
            stream.write_all(&vec![0; length]).expect("a body");
        }
        let (answer, _) = head(&mut BufReader::new(stream));
        assert_eq!(&answer[9..12], status, "{length}");
    }
}

/// The console's streams have the field for this.
#[test]
#[ignore = "needs nginx, and waits for two seconds"]
fn a_frame_is_passed_on_at_once_where_buffering_is_off() {
    for (field, passes) in [("", false), ("x-accel-buffering: no\r\n", true)] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let behind = listener.local_addr().expect("an address").port();
        let (go_on, wait) = channel::<()>();
        thread::spawn(move || {
            let mut stream = listener.accept().expect("a connection").0;
            head(&mut BufReader::new(stream.try_clone().expect("a copy")));
            let head = format!("HTTP/1.1 200 OK\r\n{field}connection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("a head");
            stream.write_all(b"data: 1\n\n").expect("a frame");
            let _ = wait.recv(); // the second frame comes once the client has looked for the first
            let _ = stream.write_all(b"data: 2\n\n");
        });
        let folder = tempfile::tempdir().expect("a folder");
        let (_server, port) = nginx(&folder, behind);
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a connection");
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").expect("a request");
        stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
        let (mut seen, mut some) = (Vec::new(), [0; 4_096]);
        while let Ok(length @ 1..) = stream.read(&mut some) {
            seen.extend_from_slice(&some[..length]);
            if seen.windows(7).any(|it| it == b"data: 1") {
                break;
            }
        }
        let text = String::from_utf8_lossy(&seen);
        assert_eq!(text.contains("data: 1"), passes, "{field}: {text}");
        let _ = go_on.send(());
    }
}
