//! Callers, wakers, keys and servers that mean no good, and changes of the limit that leave a
//! process without a reason to ask.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use windrow::AtMost;
use windrow::gate::Admission;
use windrow_redis::{Absence, Engine, SharedError, SharedGate, SharedGates};

use crate::server::{LONG, engine, until};
use crate::shared::{block_on, warm};

const INTERVAL: Duration = Duration::from_millis(200);

fn gate(url: &str, limit: u64) -> SharedGate {
    let builder = SharedGate::builder(AtMost(limit)).interval(INTERVAL).buckets(4);
    builder.name("it").connect(url).unwrap()
}

#[test]
fn a_process_whose_weights_are_above_the_limit_learns_that_it_was_raised() {
    let Some(server) = engine() else { return };
    let (one, other) = (gate(&server.url(), 10), gate(&server.url(), 10));
    warm(&other);
    for lowered in [0, 5] {
        one.set_limit(AtMost(lowered)).unwrap();
        until("the other learns of it", || {
            let _ = other.admit_blocking(1, Duration::from_millis(5));
            other.limit() == lowered
        });
        one.set_limit(AtMost(10)).unwrap();
        until("the other admits what fits again", || {
            other.admit_blocking(1, Duration::from_millis(5)).is_granted()
        });
    }
}

#[test]
fn a_request_that_waits_for_all_of_the_limit_holds_up_no_small_one() {
    let Some(server) = engine() else { return };
    let (one, other) = (gate(&server.url(), 100), gate(&server.url(), 100));
    warm(&one);
    // The other process keeps the limit from ever being free as a whole.
    let keeps = || {
        let _ = other.admit_blocking(1, Duration::from_millis(5));
    };
    keeps();
    let large = one.clone();
    let is_over = Arc::new(AtomicBool::new(false));
    let waits = {
        let is_over = is_over.clone();
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let _ = large.admit_blocking(100, Duration::from_secs(1));
            }
        })
    };
    let mut admitted = 0;
    for _ in 0..40 {
        keeps();
        admitted += u32::from(one.admit_blocking(1, Duration::from_millis(20)).is_granted());
        thread::sleep(Duration::from_millis(10));
    }
    is_over.store(true, Ordering::Relaxed);
    waits.join().unwrap();
    assert!(admitted >= 20, "{admitted} of 40 small ones, at a limit that is hardly used");
}

#[test]
fn a_change_is_told_by_a_process_that_makes_no_requests() {
    let Some(mut server) = engine() else { return };
    let (one, other) = (gate(&server.url(), 1_000), gate(&server.url(), 1_000));
    warm(&one);
    thread::sleep(INTERVAL * 2);
    server.kill();
    one.set_limit(AtMost(2_000)).unwrap();
    thread::sleep(Duration::from_millis(1_500));
    server.revive();
    until("the other learns of it", || {
        let _ = other.admit_blocking(1, Duration::from_millis(5));
        other.limit() == 2_000
    });
}

#[test]
fn a_weight_that_no_lease_can_hold_never_fits() {
    let Some(server) = engine() else { return };
    let gate = gate(&server.url(), 1 << 40);
    warm(&gate);
    let never = Admission::Refused { retry_after: None };
    assert_eq!(gate.admit_blocking(1 << 32, Duration::from_millis(400)), never);
    assert!(gate.admit_blocking(u64::from(u32::MAX), LONG).is_granted());
}

#[test]
fn a_charge_of_any_size_ends_no_thread() {
    let Some(server) = engine() else { return };
    let gate = gate(&server.url(), 10_000);
    warm(&gate);
    for _ in 0..2 {
        until("a reservation", || {
            let reserved = block_on(gate.reserve(1, Duration::from_millis(20)));
            reserved.map(|reserved| reserved.settle(u64::MAX)).is_ok()
        });
        if gate.left() > 0 {
            continue;
        }
        break;
    }
    until("all is charged", || {
        assert!(!gate.try_admit(1));
        thread::sleep(INTERVAL);
        true
    });
    assert_eq!(gate.engine().fault(), None);
}

#[test]
fn a_waker_that_panics_ends_no_thread() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Panics>) {
            panic!("a waker of a test");
        }
    }
    let Some(server) = engine() else { return };
    let gate = gate(&server.url(), 5);
    warm(&gate);
    for patience in [Duration::from_millis(30), LONG] {
        let mut future = Box::pin(gate.admit_owned(5, patience));
        let waker = Waker::from(Arc::new(Panics));
        let polled = catch_unwind(AssertUnwindSafe(|| {
            future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
        }));
        assert!(polled.is_ok());
        thread::sleep(Duration::from_millis(60));
    }
    // The thread that ends waits, and the one that asks, go on.
    server.stop(true);
    let (sender, receiver) = std::sync::mpsc::channel();
    let impatient = gate.admit_owned(5, Duration::from_millis(20));
    thread::spawn(move || {
        let _ = block_on(impatient);
        let _ = sender.send(());
    });
    let ended = receiver.recv_timeout(Duration::from_secs(5));
    server.stop(false);
    assert!(ended.is_ok(), "its patience never ends");
    until("it is admitted", || gate.admit_blocking(5, Duration::from_millis(50)).is_granted());
}

#[test]
fn a_share_is_not_had_again_by_a_key_that_is_forgotten() {
    let Some(mut server) = engine() else { return };
    let builder = SharedGates::builder(AtMost(5)).interval(Duration::from_secs(20)).buckets(100);
    let builder = builder.on_absence(Absence::Share(AtMost(3))).max_keys(16);
    let gates = builder.connect(&server.url()).unwrap();
    server.kill();
    until("the engine is away", || {
        let _ = gates.try_admit(b"first", 1);
        gates.engine().is_away()
    });
    let take = || (0..5).filter(|_| gates.try_admit(b"second", 1)).count();
    assert_eq!(take(), 3);
    for _ in 0..15 {
        thread::sleep(Duration::from_millis(100));
        for _ in 0..200 {
            let _ = gates.of(&fastrand::u64(..).to_be_bytes());
        }
    }
    assert_eq!(take(), 0, "three in twenty seconds");
}

#[test]
fn a_forked_child_waits_for_no_lock_of_its_parent() {
    let Some(server) = engine() else { return };
    let gates = SharedGates::builder(AtMost(5)).connect(&server.url()).unwrap();
    let gate = gate(&server.url(), 5);
    let is_over = AtomicBool::new(false);
    let statuses: Vec<i32> = thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = gates.of(b"key");
                    gate.set_limit(AtMost(5)).unwrap();
                }
            });
        }
        let statuses = (0..100).map(|_| {
            forked(|| {
                // SAFETY: it sets the child's timer, by which a child that waits is ended.
                unsafe { libc::alarm(2) };
                i32::from(gates.try_admit(b"key", 1) || gate.set_limit(AtMost(6)).is_ok())
            })
        });
        let statuses = statuses.take_while(|status| *status == 0).collect();
        is_over.store(true, Ordering::Relaxed);
        statuses
    });
    assert_eq!(statuses.len(), 100, "a child is admitted something, or waits for ever");
}

/// Runs a function in a forked child, and returns the child's status.
fn forked(child: impl Fn() -> i32) -> i32 {
    // SAFETY: the child ends at once, and calls what takes no lock.
    match unsafe { libc::fork() } {
        // SAFETY: it ends the process.
        0 => unsafe { libc::_exit(child()) },
        id => {
            let mut status = -1;
            // SAFETY: the pointer is to a local.
            assert_eq!(unsafe { libc::waitpid(id, &raw mut status, 0) }, id);
            status
        }
    }
}

#[test]
fn a_password_that_is_cut_off_by_a_mark_is_not_shown() {
    for url in [
        "redis://user:1234#secret@127.0.0.1/",
        "redis://:1@secret#2/34@127.0.0.1/",
        "redis://user:1@secret?34@127.0.0.1/",
        "redis://user:1234?secret@127.0.0.1/",
        "redis://user:12/34@127.0.0.1/",
        "redis://user:12%34@127.0.0.1/",
        "redis://1234#secret@127.0.0.1/",
        "redis://:se%00cret@127.0.0.1:1/",
        "redis://:secret@/",
        "redis://user:secret@127.0.0.1:99999/",
        "unix:///nowhere?pass=secret&user=1234",
        "redis+unix:///nowhere?pass=secret",
        "redis://user:secret@[::1/0",
        "http://user:secret@127.0.0.1/",
    ] {
        let error = Engine::builder().timeout(Duration::from_millis(5)).connect(url).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret") && !shown.contains("1234"), "{url}: {shown}");
        assert!(!shown.contains("user:12"), "{url}: {shown}");
        let is_known = matches!(
            error,
            SharedError::Url { .. }
                | SharedError::Unreachable { .. }
                | SharedError::TimedOut { .. }
        );
        assert!(is_known, "{url}: {error:?}");
    }
}
