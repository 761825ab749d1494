//! The sampler's thread runs only while a client listens. In a process of its own, where no other
//! test listens.
#![cfg(target_os = "linux")]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use http::{Request, Response};
use windrow_console::{Body, Console, ConsoleService, Responding};

fn listen(console: &ConsoleService) -> Body {
    wait(console.respond(&Request::get("/events").body(()).unwrap())).into_body()
}

/// Waits for an answer.
fn wait(responding: Responding) -> Response<Body> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(responding)
}

/// Returns the number of threads of the name.
fn samplers() -> usize {
    threads("windrow-sampler")
}

fn threads(wanted: &str) -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.trim() == wanted).count()
}

fn wait_for(expected: usize) {
    let begun = Instant::now();
    while samplers() != expected {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} instead of {expected}", samplers());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_sampler_comes_with_the_first_who_listens_and_goes_with_the_last() {
    let console = Console::new("shop").build();
    for path in ["/", "/text", "/snapshot.json", "/metrics"] {
        wait(console.respond(&Request::get(path).body(()).unwrap()));
    }
    wait(console.respond(&Request::head("/events").body(()).unwrap()));
    assert_eq!(samplers(), 0);
    for _ in 0..3 {
        let (first, second) = (listen(&console), listen(&console));
        wait_for(1);
        drop(first);
        thread::sleep(Duration::from_millis(50));
        assert_eq!(samplers(), 1, "one still listens");
        drop(second);
        wait_for(0);
    }
    let stream = listen(&console);
    wait_for(1);
    console.close();
    wait_for(0);
    drop(stream);
}
