//! Rations: each unit used was granted by the gate, once; and each unit granted is used, lies in a
//! row, or was given back.
//!
//! Explores two threads that take and refill, at the limit and where a bucket ends. Per core they
//! are on one core, whose ration they share, or on two; portably each has a row. (Where all rows
//! are shared there are no rations.)

use windrow::{Gate, gate::RationedGate};
use windrow_loom_tests::engine::{
    on_second_core,
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{Local, interval, set_time};
use windrow_loom_tests::{Model, turn};

type Shared = Arc<RationedGate<Local>>;

/// Returns a gate of two buckets, each `length` times the usual length.
fn gate(limit: u64, most: u64, length: u64) -> Shared {
    set_time(0);
    let builder = Gate::builder(limit).interval(interval(2 * length)).buckets(2).clock(Local);
    Arc::new(builder.build_rationed(most).expect("it is sound"))
}

/// Asks for one after the other in a bucket. Returns the number admitted.
fn ask(gate: &RationedGate<Local>, bucket: u64, times: u64) -> u64 {
    set_time(bucket);
    turn();
    (0..times).filter(|_| gate.try_admit(1)).count() as u64
}

fn spawn(
    gate: &Shared,
    body: impl FnOnce(&RationedGate<Local>) -> u64 + Send + 'static,
) -> JoinHandle<u64> {
    let gate = Arc::clone(gate);
    thread::spawn(move || body(&gate))
}

/// Checks that every grant in the interval until `bucket` was used, or lies in rows. Then it uses
/// the rest, which is within the limit.
fn check(gate: &RationedGate<Local>, bucket: u64, used: u64, limit: u64) {
    set_time(bucket);
    assert!(used <= limit, "{used} of {limit} used");
    let (granted, unused) = (gate.gate().granted(), gate.unused());
    assert_eq!(granted, used + unused, "{used} used, {unused} not");
    let used = used + ask(gate, bucket, limit);
    assert!(used <= limit, "{used} of {limit} used");
    assert!(used + gate.unused() == limit, "{used} of {limit} used, {} not", gate.unused());
}

/// On one core they take of one ration, and each refills it.
#[test]
fn two_threads_until_the_limit() {
    Model::new("rations::two_threads_until_the_limit").bounded(3).explore(|| {
        let gate = gate(5, 2, 1);
        let other = spawn(&gate, |gate| ask(gate, 0, 2));
        let used = ask(&gate, 0, 2);
        check(&gate, 0, used + other.join().unwrap(), 5);
    });
}

/// Each core has a ration of its own. (The first call on a core whose row is not open asks the
/// gate.)
#[test]
fn two_rows_until_the_limit() {
    Model::new("rations::two_rows_until_the_limit").bounded(3).explore(|| {
        let gate = gate(6, 3, 1);
        let other = spawn(&gate, |gate| {
            on_second_core();
            ask(gate, 0, 3)
        });
        let used = ask(&gate, 0, 2);
        check(&gate, 0, used + other.join().unwrap(), 6);
    });
}

/// A bucket ends: one thread gives the rest of its ration back, while another with an old clock
/// takes of it.
#[test]
fn take_against_giving_back() {
    Model::long("rations::take_against_giving_back").explore(|| {
        let gate = gate(6, 3, 1);
        let mut used = ask(&gate, 0, 1);
        let other = spawn(&gate, |gate| ask(gate, 0, 2));
        used += ask(&gate, 1, 1);
        used += other.join().unwrap();
        check(&gate, 1, used, 6);
    });
}

/// Both find that a ration has ended: one of them gives it back.
#[test]
fn giving_back_against_giving_back() {
    Model::long("rations::giving_back_against_giving_back").explore(|| {
        let gate = gate(6, 3, 1);
        let used = ask(&gate, 0, 1);
        let other = spawn(&gate, |gate| ask(gate, 1, 1));
        let used = used + ask(&gate, 1, 1) + other.join().unwrap();
        check(&gate, 1, used, 6);
    });
}

/// The rest of a row at the end of its bucket is not used afterwards; nor is more than the limit in
/// the interval that has forgotten it.
#[test]
fn take_after_the_end() {
    Model::long("rations::take_after_the_end").explore(|| {
        let gate = gate(4, 2, 1);
        let before = ask(&gate, 0, 1);
        let other = spawn(&gate, |gate| ask(gate, 2, 2));
        let used = ask(&gate, 3, 2) + other.join().unwrap();
        assert_eq!(before, 1);
        set_time(3);
        let used = used + ask(&gate, 3, 4);
        assert!(used <= 4, "{used} of 4 used");
        let granted = gate.gate().granted();
        assert!((used..=used + gate.unused()).contains(&granted), "{granted} for {used}");
    });
}

/// A ration is used until its bucket ends, also if buckets become shorter meanwhile: so long it
/// counts.
#[test]
fn take_against_shorter_buckets() {
    Model::new("rations::take_against_shorter_buckets").explore(|| {
        let gate = gate(4, 2, 2);
        let first = ask(&gate, 0, 1);
        let other = spawn(&gate, |gate| {
            set_time(0);
            turn();
            gate.gate().reconfigure(interval(2), 2).unwrap();
            0
        });
        let used = ask(&gate, 1, 1);
        other.join().unwrap();
        let used = used + ask(&gate, 2, 4);
        assert_eq!(first, 1);
        assert!(used <= 4, "{used} of 4 used");
    });
}

/// Only the next change knows the place to which a change of the length has moved a grant. After
/// two it is not given back.
#[test]
fn giving_back_after_two_changes() {
    Model::new("rations::giving_back_after_two_changes").explore(|| {
        let gate = gate(8, 4, 1);
        let used = ask(&gate, 0, 1);
        gate.gate().reconfigure(interval(8), 2).unwrap();
        gate.gate().reconfigure(interval(6), 2).unwrap();
        let granted = gate.gate().granted() + gate.gate().waiting();
        let more = ask(&gate, 5, 1);
        assert_eq!((used, more), (1, 1));
        assert_eq!(gate.gate().granted(), granted + more + gate.unused());
    });
}
