//! Members that are none: silent, slow, endless, or something else. Each is shown with the reason,
//! and the others count on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::Console;
use super::member::Member;

/// Serves every connection by this, on a thread of its own, until the test's end.
fn serve(each: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let each = each.clone();
            thread::spawn(move || each(stream));
        }
    });
    address
}

/// Serves this body as the answer to any request.
fn answers(status: &'static str, body: &'static str) -> SocketAddr {
    serve(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let length = body.len();
        let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
    })
}

#[test]
fn a_member_that_is_slow_delays_no_other() {
    let asked = Arc::new(AtomicU64::new(0));
    let quick = {
        let asked = Arc::clone(&asked);
        serve(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            asked.fetch_add(1, Ordering::Relaxed); // a number, which nothing else goes by
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
        })
    };
    // For each question to the slow one: the questions to the other one while it was waited for.
    let (meanwhile, questions) = channel();
    let slow = serve(move |mut stream| {
        let before = asked.load(Ordering::Relaxed);
        while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
        let _ = meanwhile.send(asked.load(Ordering::Relaxed) - before);
    });
    let console = Console::start("slow");
    console.set_targets(&[slow, quick]);
    // A busy machine may need another try.
    let mut tries = questions.iter().take(5);
    assert!(tries.any(|questions| questions >= 2), "it was asked only when the slow one was not");
}

#[test]
fn bad_members_are_refused_with_the_reason_and_harm_no_other() {
    let console = Console::start("bad");
    let mut member = Member::start(1, None);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endless = serve(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'['; 1 << 12]).is_ok() {}
    });
    // It takes a connection and says nothing.
    let mute = serve(|_stream| thread::sleep(Duration::from_secs(3_600)));
    let bad = [
        (closed, "silent", "Connection refused"),
        (mute, "silent", "no whole answer within 5 s"),
        (endless, "refused", "its answer is longer than 4 MiB"),
        (answers("200 OK", "<html>hello</html>"), "refused", "the answer is none of a console's"),
        (answers("200 OK", r#"{"form":7}"#), "refused", "it is a console of form 7"),
        (answers("404 Not Found", "no such page"), "refused", "404 Not Found. no such page"),
        (answers("302 Found", ""), "refused", "302 Found."),
    ];
    let mut targets: Vec<SocketAddr> = bad.iter().map(|(address, ..)| *address).collect();
    targets.push(member.address);
    console.set_targets(&targets);

    let failing = |seen: &Value, address: SocketAddr, part: &str| -> Option<String> {
        let all = seen["failing"].as_array().unwrap();
        let found = all.iter().find(|one| one["address"] == address.to_string())?;
        Some(found[part].as_str().unwrap().to_owned())
    };
    let seen = console.until("all of them found out", |seen| {
        bad.iter().all(|(address, ..)| failing(seen, *address, "state").is_some())
    });
    for (address, state, why) in bad {
        assert_eq!(failing(&seen, address, "state").unwrap(), state, "{why}");
        let told = failing(&seen, address, "why").unwrap();
        assert!(told.starts_with(why) || (cfg!(windows) && state == "silent"), "{told}, not {why}");
    }
    assert_eq!(seen["says"][0]["what"], "silent");

    // The one that is a member is asked every second, however slow the others are.
    for _ in 0..3 {
        let book = member.send(100);
        console.until_equal(&[&book]);
    }
    // Lines that are no targets change nothing.
    std::fs::write(&console.targets, "nonsense\n").unwrap();
    let seen = console.until("a trouble", |seen| !seen["troubles"].as_array().unwrap().is_empty());
    let told = seen["troubles"][0].as_str().unwrap();
    assert!(
        told.ends_with("`nonsense` is no target: it has no port, as `host:9090` has"),
        "{told}"
    );
    let book = member.send(100);
    console.until_equal(&[&book]);
}

#[test]
fn names_beyond_the_limit_are_not_looked_up_and_long_ones_are_cut() {
    let console = Console::start("names");
    // No name is as long as these: looking them up fails at once.
    let names: Vec<String> = (0..600).map(|name| format!("x{name:0300}:80")).collect();
    console.set_targets(&names);
    let seen = console
        .until("all of them found out", |seen| seen["troubles"].as_array().unwrap().len() > 512);
    let troubles = seen["troubles"].as_array().unwrap();
    assert_eq!(troubles.len(), 513);
    assert_eq!(troubles[0], "of 600 targets, only 512 are asked");
    let beginning = format!("`x{:0119}\u{2026}` is not found: ", 0);
    assert!(troubles[1].as_str().unwrap().starts_with(&beginning), "{}", troubles[1]);
}
