//! The effects of a user's own functions and calls on the limits: they panic, and retire gates.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use testkit::race;
use windrow::{Gate, gate::Admission, labels};
use windrow_tower::{Limits, Rooms};

use crate::limited::{Client, limits};

const SECOND: Duration = Duration::from_secs(1);
const NEVER: Admission = Admission::Refused { retry_after: None };

labels! { enum Everything { Everything } struct All { all: Everything } }

const ALL: All = All { all: Everything::Everything };

/// Returns what `ask` returns, if it does return.
fn ends<T: Send + 'static>(ask: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(ask()));
    told.recv_timeout(Duration::from_secs(20)).expect("it ends")
}

#[test]
fn a_retired_gate_of_a_key_of_enums_refuses_for_ever() {
    static WHOLE: Limits<All> = Limits::new(1, |_| Gate::builder(2).build().expect("two a second"));
    let whole = WHOLE.family().handle(ALL);
    assert_eq!(WHOLE.admit(ALL, 0, Duration::ZERO), Admission::Now);
    assert!(whole.limiter().expect("it was asked").retire());
    assert_eq!(ends(|| WHOLE.admit(ALL, 1, Duration::ZERO)), NEVER);
    assert_eq!((whole.passed(), whole.blocked()), (1, 1));
}

#[test]
fn a_retired_gate_of_all_that_find_no_room_refuses_for_ever() {
    limits!(CLIENTS, CLOCK: 0, |_| 2);
    let alice = Client { client: "alice" };
    assert_eq!(CLIENTS.admit(alice, 1, Duration::ZERO), Admission::Now);
    CLOCK.advance(SECOND);
    assert!(CLIENTS.family().handle(alice).limiter().expect("it was asked").retire());
    assert_eq!(ends(move || CLIENTS.admit(alice, 1, Duration::ZERO)), NEVER);
    assert_eq!(CLIENTS.family().lifetime(), (1, 1));
}

/// No request is let through, and no place is taken.
#[test]
fn a_gate_that_cannot_be_made_takes_no_place() {
    static CLIENTS: Limits<Client> = Limits::new(1, |client| match client {
        Some(Client { client: "alice" }) => Gate::builder(1).build().expect("one a second"),
        _ => panic!("no gate for others"),
    });
    let ask = |client| CLIENTS.admit(Client { client }, 1, Duration::ZERO);
    for stranger in ["bob", "carol", "bob"] {
        assert!(catch_unwind(|| ask(stranger)).is_err());
        assert_eq!((CLIENTS.family().len(), CLIENTS.family().lifetime()), (0, (0, 0)));
    }
    assert_eq!(ask("alice"), Admission::Now);
    assert!(catch_unwind(|| ask("bob")).is_err(), "it has no place");
    assert_eq!((CLIENTS.family().len(), CLIENTS.family().lifetime()), (1, (1, 0)));
}

#[test]
fn a_room_that_cannot_be_made_takes_no_place() {
    static CLIENTS: Rooms<Client> = Rooms::new(1, |client| match client {
        Some(Client { client: "alice" }) => 1,
        _ => panic!("no place for others"),
    });
    let enter = |client| CLIENTS.try_enter(Client { client }).is_some();
    for stranger in ["bob", "carol", "bob"] {
        assert!(catch_unwind(|| enter(stranger)).is_err());
        assert_eq!((CLIENTS.family().len(), CLIENTS.family().lifetime()), (0, (0, 0)));
    }
    assert!(enter("alice"));
    assert!(catch_unwind(|| enter("bob")).is_err(), "it has no place");
    assert_eq!((CLIENTS.family().len(), CLIENTS.family().lifetime()), (1, (1, 0)));
}

/// Threads need a gate: some fail while they make it, and some make it.
#[test]
fn no_client_gets_more_while_gates_cannot_be_made() {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    limits!(CLIENTS, CLOCK: 10, |_| {
        if !ASKED.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            resume_unwind(Box::new("no gate this time")); // a panic that prints nothing
        }
        2
    });
    for round in 0..2_000 {
        let (name, passed) = (round.to_string(), AtomicU64::new(0));
        race(3, |_| {
            for _ in 0..4 {
                let ask = || CLIENTS.admit(Client { client: &name }, 1, Duration::ZERO);
                let admission = catch_unwind(AssertUnwindSafe(ask));
                let is_granted = admission.is_ok_and(Admission::is_granted);
                passed.fetch_add(is_granted.into(), Ordering::Relaxed);
            }
        });
        assert!(passed.into_inner() <= 2);
        CLOCK.advance(SECOND);
        CLIENTS.forget_idle();
        assert_eq!(CLIENTS.family().len(), 0);
    }
}
