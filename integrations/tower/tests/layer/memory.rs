//! Keys that clients send do not fill the memory of limits.

use std::time::Duration;

use testkit::heap::{Counting, kept_by};
use windrow::{AtMost, Gate, Pace, Paces};
use windrow_tower::{Limits, PaceLimits, Rate, Rooms, Rules};

use crate::limited::Client;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes of a key's texts that are kept at most.
const LONGEST: usize = 1_024;

/// Asks for many clients, with names of 60 to 300 kB.
fn with_long_names(mut ask: impl FnMut(Client<'_>)) {
    let filler = "x".repeat(300_000);
    for number in 0..400 {
        ask(Client { client: &format!("{number}{}", &filler[..60_000 + number * 600]) });
    }
}

#[test]
fn long_keys_of_limits_do_not_fill_the_memory() {
    static CLIENTS: Limits<Client> = Limits::new(10_000, |_| Gate::builder(10).build().unwrap());
    let ((), kept) = kept_by(|| {
        with_long_names(|client| _ = CLIENTS.admit(client, 1, Duration::ZERO));
    });
    assert!(kept < 1_000_000, "{kept} bytes are kept");
    assert_eq!(CLIENTS.family().len(), 0);
}

#[test]
fn long_keys_of_rooms_do_not_fill_the_memory() {
    static CLIENTS: Rooms<Client> = Rooms::new(10_000, |_| 10);
    let ((), kept) = kept_by(|| with_long_names(|client| drop(CLIENTS.try_enter(client))));
    assert!(kept < 1_000_000, "{kept} bytes are kept");
    assert_eq!(CLIENTS.family().len(), 0);
}

#[test]
fn the_longest_key_has_a_gate_of_its_own_and_a_longer_one_shares() {
    static CLIENTS: Limits<Client> = Limits::new(10, |client| {
        Gate::builder(if client.is_some() { 1 } else { 2 }).build().unwrap()
    });
    let name = "x".repeat(LONGEST + 1);
    let ask = |client| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
    assert!(ask(&name[1..]) && !ask(&name[1..]));
    assert!(ask(&name) && ask(&name) && !ask(&name));
    assert_eq!((CLIENTS.family().len(), CLIENTS.family().refused()), (1, 3));
}

/// Returns the number of bytes that a text of this length takes beside its key.
fn apart(length: usize) -> usize {
    if length > 15 { length } else { 0 }
}

#[test]
fn a_key_takes_what_is_said_of_it() {
    testkit::alone::run("memory::a_key", &[]);
}

/// The documentation of `Limits` says: 136 bytes, 16 for a text, and a text of more than 15 bytes;
/// and 0.7 kilobytes, and 64 bytes for each bucket (one more of a strict gate), for a gate with
/// sheets.
#[test]
#[ignore = "run by `a_key_takes_what_is_said_of_it`, alone: other tests' threads have this one free what they have left"]
fn a_key() {
    static TWO: Limits<Client> = Limits::new(1_000, |_| Gate::builder(10).build().unwrap());
    static TEN: Limits<Client> =
        Limits::new(1_000, |_| Gate::builder(10).buckets(10).build().unwrap());
    static STRICT: Limits<Client> =
        Limits::new(1_000, |_| Gate::builder(10).buckets(10).strict().build().unwrap());
    for (clients, buckets, length) in [(&TWO, 2, 10), (&TEN, 10, 100), (&STRICT, 11, 1_024)] {
        let ask = |client: &str| _ = clients.admit(Client { client }, 1, Duration::ZERO);
        ask("the table is made");
        let names: Vec<_> = (0..500).map(|number| format!("{number:length$}")).collect();
        let ((), kept) = kept_by(|| names.iter().for_each(|name| ask(name)));
        let (taken, said) = (kept as f64 / 500.0, f64::from(152 + apart(length) as u32));
        assert!((0.99..1.01).contains(&(taken / said)), "{taken} bytes, not {said}");
        let again = || names.iter().for_each(|name| (0..10).for_each(|_| ask(name)));
        let ((), kept) = kept_by(again);
        let (taken, said) = (kept as f64 / 500.0, f64::from(704 + 64 * buckets));
        assert!((0.99..1.01).contains(&(taken / said)), "{taken} bytes, not {said}");
    }
}

#[test]
fn a_key_with_a_pace_takes_what_is_said_of_it() {
    testkit::alone::run("memory::a_paced_key", &[]);
}

/// The documentation of `Limits` says: 112 bytes, 16 for a text, and a text of more than 15 bytes;
/// 240 bytes more when rules change it; and 672 bytes with several limits.
#[test]
#[ignore = "run by `a_key_with_a_pace_takes_what_is_said_of_it`, alone, as `a_key`"]
fn a_paced_key() {
    static MADE: PaceLimits<Client> =
        PaceLimits::new(1_000, |_| Pace::of(Duration::from_millis(50), AtMost(40)));
    static RULED: PaceLimits<Client> =
        PaceLimits::new(1_000, |_| Pace::of(Duration::from_millis(50), AtMost(40)));
    static SEVERAL: PaceLimits<Client, Paces> = PaceLimits::new(1_000, |_| {
        let builder = Paces::builder().limit(10, Duration::from_secs(1));
        builder.limit(100, Duration::from_secs(60)).build().expect("two limits")
    });
    let names: Vec<_> = (0..500).map(|number| format!("{number:10}")).collect();
    let is = |kept: i64, said: f64| {
        let taken = kept as f64 / 500.0;
        assert!((0.99..1.01).contains(&(taken / said)), "{taken} bytes, not {said}");
    };
    let of_keys = |ask: &dyn Fn(&str)| {
        ask("the table is made");
        kept_by(|| names.iter().for_each(|name| (0..50).for_each(|_| ask(name)))).1
    };
    let rules = || Rules::builder(Rate::new(10).burst(20)).build().expect("valid");
    let ask = |client: &str| _ = MADE.admit(Client { client }, 1, Duration::ZERO);
    is(of_keys(&ask), 112.0 + 16.0);
    is(kept_by(|| MADE.replace(rules()).expect("for paces")).1, 240.0);
    RULED.replace(rules()).expect("for paces");
    is(of_keys(&|client| _ = RULED.admit(Client { client }, 1, Duration::ZERO)), 128.0);
    is(of_keys(&|client| _ = SEVERAL.admit(Client { client }, 1, Duration::ZERO)), 688.0);
}
