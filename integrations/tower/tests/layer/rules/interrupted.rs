//! Actions of other threads in the middle of a swap, or of making a key's gate. A change of a
//! gate's geometry asks the clock for the time, and there the test has its turn.

use std::cell::{Cell, RefCell};
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Clock, Gate, Timestamp};
use windrow_tower::{Limits, Rate};

use super::{ALICE, SECOND, a_second, ask, rules, terms};
use crate::limited::Client;

/// A clock that runs what a thread has put there each time that this thread asks it; not while that
/// runs.
#[derive(Default)]
struct Interrupting(Manual);

type Turn = Box<dyn FnMut()>;

thread_local! { static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) }; }

impl Clock for &'static Interrupting {
    fn now(&self) -> Timestamp {
        if let Some(mut turn) = TURN.take() {
            turn();
            TURN.set(Some(turn));
        }
        self.0.now()
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Runs `act`, and `turn` each time that it asks for the time.
fn with_turns<T>(act: impl FnOnce() -> T, turn: impl FnMut() + 'static) -> T {
    TURN.set(Some(Box::new(turn)));
    let done = act();
    TURN.set(None);
    done
}

/// Runs `act` on another thread, and waits for it, but not for long: it may have to wait for us.
fn beside(act: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || {
        act();
        let _ = sender.send(());
    });
    let _ = receiver.recv_timeout(Duration::from_millis(200));
    other
}

type Interrupted = Limits<Client<'static>, Gate<&'static Interrupting>>;

/// The high limit of one rate in the short interval of the other is a rate that no rule has set.
#[test]
fn no_mixture_of_two_rates_grants() {
    static CLOCK: LazyLock<Interrupting> = LazyLock::new(Interrupting::default);
    // Strict, so that there are two changes of the geometry, and a turn between them.
    static CLIENTS: Interrupted = Limits::new(10, |_| {
        Gate::builder(1).strict().clock(&*CLOCK).build().expect("a second in two buckets")
    });
    let hour = Rate::new(1_000).interval(Duration::from_secs(3_600)).buckets(1_000).strict();
    let short = a_second(5).strict();
    let granted = || (0..2_000).filter(|_| ask(&CLIENTS, "alice").is_granted()).count();
    CLIENTS.replace(rules(hour, &[])).unwrap();
    assert_eq!(granted(), 1_000);
    CLOCK.0.advance(10 * SECOND);
    thread_local! { static GRANTED: Cell<usize> = const { Cell::new(0) }; }
    with_turns(
        || CLIENTS.replace(rules(short, &[])).unwrap(),
        move || {
            GRANTED.set(GRANTED.get() + granted());
        },
    );
    assert_eq!(GRANTED.get() + granted(), 5);
    // And up: in an hour that the gate begins to know of there are a thousand, with these five.
    GRANTED.set(0);
    with_turns(
        || CLIENTS.replace(rules(hour, &[])).unwrap(),
        move || {
            GRANTED.set(GRANTED.get() + granted());
        },
    );
    assert_eq!(GRANTED.get() + granted(), 995);
}

/// A thread has looked which rules there are, and gives a new gate its rate, when others come.
#[test]
fn a_gate_that_is_made_during_a_swap_goes_by_the_new_rules() {
    static CLOCK: LazyLock<Interrupting> = LazyLock::new(Interrupting::default);
    thread_local! { static IS_MADE: Cell<bool> = const { Cell::new(false) }; }
    static CLIENTS: Interrupted = Limits::new(10, |client| {
        let gate = Gate::builder(9).clock(&*CLOCK).build().expect("a second in two buckets");
        IS_MADE.set(client.is_some());
        gate
    });
    CLIENTS.replace(rules(a_second(7), &[])).unwrap();
    let (sender, others) = channel();
    let turn = move || {
        if IS_MADE.take() {
            let swap = || _ = CLIENTS.replace(rules(a_second(3), &[])).unwrap();
            sender.send(beside(swap)).unwrap();
        }
    };
    assert!(with_turns(|| ask(&CLIENTS, "alice"), turn).is_granted());
    others.recv().expect("a swap").join().expect("it ends");
    assert_eq!(terms(&CLIENTS, ALICE), (3, 1_000, 10));
}

/// A swap has begun to go through the keys when the next one comes.
#[test]
fn of_two_swaps_all_keys_go_by_the_last() {
    static CLOCK: LazyLock<Interrupting> = LazyLock::new(Interrupting::default);
    static CLIENTS: Interrupted = Limits::new(10, |_| {
        Gate::builder(9).clock(&*CLOCK).build().expect("a second in two buckets")
    });
    for client in ["alice", "bob", "carol"] {
        assert!(ask(&CLIENTS, client).is_granted());
    }
    let (sender, others) = channel();
    let mut is_first = true;
    let turn = move || {
        // In the walk, and not while the rules are checked.
        if is_first && CLIENTS.rules().is_some() {
            is_first = false;
            let swap = || _ = CLIENTS.replace(rules(a_second(3), &[])).unwrap();
            sender.send(beside(swap)).unwrap();
        }
    };
    with_turns(|| CLIENTS.replace(rules(a_second(7).buckets(5), &[])).unwrap(), turn);
    others.recv().expect("a swap").join().expect("it ends");
    for client in ["alice", "bob", "carol"] {
        assert_eq!(terms(&CLIENTS, Client { client }), (3, 1_000, 10), "{client}");
    }
    assert_eq!(CLIENTS.rules().as_deref(), Some(&rules(a_second(3), &[])));
}
