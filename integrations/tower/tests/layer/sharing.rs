//! A key that has shared a gate with others, and finds room then, gets no more by it than its
//! limit.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use testkit::{Rng, race};
use windrow::clock::Manual;
use windrow::{Clock, Gate, Timestamp, gate::Admission};
use windrow_tower::Limits;

use crate::limited::{Client, limits};

const SECOND: Duration = Duration::from_secs(1);
const LIMIT: u64 = 2;
const ALICE: Client<'static> = Client { client: "alice" };
const BOB: Client<'static> = Client { client: "bob" };

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Fills the room for one key, and frees it when nothing of that key counts any more.
#[test]
fn a_key_that_shared_the_overflow_gate_gets_no_second_limit_by_a_gate_of_its_own() {
    limits!(CLIENTS, CLOCK: 1, |_| LIMIT);
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO);
    assert_eq!(ask(ALICE), Admission::Now);
    CLOCK.advance(millis(500));
    assert_eq!([ask(BOB), ask(BOB)], [Admission::Now; 2]);
    CLOCK.advance(millis(500));
    assert_eq!(CLIENTS.forget_idle(), 1);
    // Until those two have left, there is no third; then there are two.
    let half = Admission::Refused { retry_after: Some(millis(500)) };
    assert_eq!([ask(BOB), ask(BOB)], [half; 2]);
    assert_eq!(CLIENTS.family().len(), 1, "it has found room");
    CLOCK.advance(millis(499));
    assert!(!ask(BOB).is_granted());
    CLOCK.advance(millis(1));
    assert_eq!([ask(BOB), ask(BOB)], [Admission::Now; 2]);
    assert!(!ask(BOB).is_granted());
    CLOCK.advance(SECOND);
    assert_eq!([ask(BOB), ask(BOB)], [Admission::Now; 2]);
}

/// The key still shares the rest of the overflow gate; its own gate counts that as well.
#[test]
fn a_key_with_a_new_gate_shares_for_an_interval_more() {
    limits!(CLIENTS, CLOCK: 1, |client| if client.is_some() { 2 } else { 3 });
    let ask = |client| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
    assert!(ask("alice"));
    let alice = CLIENTS.family().handle(ALICE); // so its place is not given to another
    CLOCK.advance(SECOND);
    assert!(ask("bob"), "a stranger, of whom nothing is known");
    drop(alice);
    assert_eq!(CLIENTS.forget_idle(), 1);
    assert!(ask("carol") && ask("carol") && !ask("carol"), "two of three are left, and both hers");
    assert!(!ask("dave"), "nothing is left for another client");
    assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (0, 1));
    CLOCK.advance(SECOND);
    assert!(ask("carol") && ask("carol") && !ask("carol"));
    assert!(ask("dave") && ask("dave") && ask("dave") && !ask("dave"), "she takes nothing of it");
}

/// Its own gate would admit it after a second, and the shared one after a second and a half.
#[test]
fn a_key_that_both_gates_refuse_is_told_when_both_admit_it() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static CLIENTS: Limits<Client, Gate<Manual>> = Limits::new(1, |client| {
        let (limit, seconds) = if client.is_some() { (1, 1) } else { (3, 2) };
        let builder = Gate::builder(limit).interval(seconds * SECOND).buckets(20);
        builder.clock(CLOCK.clone()).build().expect("it is valid")
    });
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO);
    assert_eq!(ask(ALICE), Admission::Now);
    CLOCK.advance(millis(500));
    assert_eq!([ask(BOB), ask(BOB)], [Admission::Now; 2]);
    CLOCK.advance(millis(500));
    assert_eq!(CLIENTS.forget_idle(), 1);
    assert_eq!(ask(BOB), Admission::Now);
    let retry_after = Some(millis(1_500));
    assert_eq!(ask(BOB), Admission::Refused { retry_after });
    CLOCK.advance(millis(1_500));
    assert_eq!(ask(BOB), Admission::Now);
}

/// A key that shares is not forgotten before it has a gate of its own, whether or not it was let
/// through.
#[test]
fn a_key_that_shares_a_gate_that_is_always_full_comes_to_its_own() {
    limits!(CLIENTS, CLOCK: 1, |_| LIMIT);
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO).is_granted();
    assert!(ask(ALICE) && ask(BOB) && ask(BOB));
    let alice = CLIENTS.family().handle(ALICE); // so its place is not given to another
    CLOCK.advance(SECOND);
    let strangers = || (0..10).map(|_| ask(Client { client: "stranger" })).filter(|it| *it).count();
    assert_eq!(strangers(), 2);
    drop(alice);
    assert_eq!(CLIENTS.forget_idle(), 1);
    assert!(!ask(BOB), "strangers were there first");
    for _ in 0..9 {
        CLOCK.advance(millis(100));
        CLIENTS.forget_idle();
        strangers();
        assert!(!ask(BOB));
    }
    CLOCK.advance(millis(100));
    assert_eq!(strangers(), 2);
    assert!(ask(BOB) && ask(BOB) && !ask(BOB), "now it has its own");
}

/// A wait in the overflow gate counts at its end.
#[test]
fn a_key_that_waits_in_the_overflow_gate_gets_no_second_limit_by_a_gate_of_its_own() {
    limits!(CLIENTS, CLOCK: 1, |_| LIMIT);
    assert!(CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted());
    let mut alice = Some(CLIENTS.family().handle(ALICE)); // so its place is not given to another
    CLOCK.advance(millis(100));
    let mut granted = BTreeMap::<u64, u64>::new();
    for step in 0..40 {
        let now = CLOCK.now().as_nanos() / 1_000_000;
        for _ in 0..5 {
            match CLIENTS.admit(BOB, 1, SECOND) {
                Admission::Now => *granted.entry(now).or_default() += 1,
                Admission::After(wait) => {
                    *granted.entry(now + wait.as_millis() as u64).or_default() += 1;
                }
                Admission::Refused { .. } => {}
            }
        }
        CLOCK.advance(millis(100));
        if step == 9 {
            alice = None;
            assert_eq!(CLIENTS.forget_idle(), 1, "alice");
        }
    }
    assert!(alice.is_none() && most_in_a_second(&granted) <= LIMIT, "{granted:?}");
    assert!(granted.values().sum::<u64>() >= 6, "{granted:?}");
}

/// Returns the greatest sum of grants in any second that begins with a bucket, from the grants by
/// millisecond.
fn most_in_a_second(granted: &BTreeMap<u64, u64>) -> u64 {
    let starts = granted.keys().map(|at| at / 100 * 100);
    let within = |start| granted.range(start..start + 1_000).map(|(_, count)| count).sum();
    starts.map(within).max().unwrap_or(0)
}

/// Clients come and go at random where there is room for two. None gets more than its limit,
/// whichever gates it asks.
#[test]
fn no_client_gets_more_than_the_limit_whatever_is_forgotten() {
    thread_local! { static CLOCK: Manual = Manual::default(); }
    let mut passed_in_all = 0;
    for seed in 0..300 {
        let mut random = Rng::with_seed(seed);
        let clients = Limits::<Client, Gate<Manual>>::new(2, |_| {
            let clock = CLOCK.with(Clone::clone);
            Gate::builder(LIMIT).buckets(10).clock(clock).build().expect("a second")
        });
        let names = ["alice", "bob", "carol", "dave"];
        let mut granted = [(); 4].map(|()| BTreeMap::<u64, u64>::new());
        let wait = if seed % 2 == 0 { 0 } else { 1_000 };
        for _ in 0..600 {
            let now = CLOCK.with(|clock| clock.now().as_nanos() / 1_000_000);
            match random.u8(..8) {
                0 => _ = clients.forget_idle(),
                1 => CLOCK.with(|clock| clock.advance(millis(random.u64(..1_500)))),
                2 | 3 => CLOCK.with(|clock| clock.advance(millis(random.u64(..200)))),
                _ => {
                    let (index, weight) = (random.usize(..4), random.u64(1..=LIMIT));
                    let wait = millis(random.u64(..=wait));
                    let at = match clients.admit(Client { client: names[index] }, weight, wait) {
                        Admission::Now => now,
                        Admission::After(wait) => now + wait.as_millis() as u64,
                        Admission::Refused { .. } => continue,
                    };
                    *granted[index].entry(at).or_default() += weight;
                    passed_in_all += 1;
                }
            }
        }
        for (granted, name) in granted.iter().zip(names) {
            assert!(most_in_a_second(granted) <= LIMIT, "{name}, seed {seed}: {granted:?}");
        }
    }
    assert!(passed_in_all > 20_000, "{passed_in_all}");
}

/// A thread has found no place for a key, and asks the overflow gate while another thread finds one
/// for the same key. The clock stands still.
#[test]
fn no_client_gets_more_while_room_is_found_beside_a_stranger() {
    limits!(CLIENTS, CLOCK: 1, |_| LIMIT);
    for _ in 0..3_000 {
        let passed = AtomicU64::new(0);
        race(3, |thread| {
            for _ in 0..4 {
                if thread == 0 {
                    // It has the room and nothing that counts, and so gives it back.
                    let _ = CLIENTS.admit(Client { client: "nobody" }, 0, Duration::ZERO);
                    CLIENTS.forget_idle();
                }
                let is_granted = CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted();
                passed.fetch_add(is_granted.into(), Ordering::Relaxed);
            }
        });
        assert!(passed.into_inner() <= LIMIT);
        CLOCK.advance(3 * SECOND);
        CLIENTS.forget_idle();
    }
}

/// Three threads ask for the same two keys, which come for the first time, and for which there is
/// room: neither shares.
#[test]
fn keys_with_a_place_for_each_do_not_share() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    for _ in 0..testkit::rounds(200) {
        let all: Vec<_> = (0..64)
            .map(|_| {
                Limits::<Client, Gate<Manual>>::new(2, |_| {
                    Gate::builder(9).clock(CLOCK.clone()).build().expect("nine a second")
                })
            })
            .collect();
        race(3, |thread| {
            for (round, clients) in all.iter().enumerate() {
                let key = if (thread + round) % 3 == 0 { BOB } else { ALICE };
                assert!(clients.admit(key, 1, Duration::ZERO).is_granted());
            }
        });
        for clients in all {
            assert_eq!((clients.family().len(), clients.family().refused()), (2, 0));
        }
    }
}

/// A request that has asked the overflow gate, and finds then that its key has room or that a key
/// has left, takes nothing from those that come after it. The clock stands still.
#[test]
fn no_grant_is_taken_in_vain_while_room_is_found_beside_a_stranger() {
    const MANY: u64 = 100;
    limits!(CLIENTS, CLOCK: 1, |_| MANY);
    let (mut schedules, mut missing) = (0, 0);
    for _ in 0..testkit::rounds(3_000) {
        let passed = AtomicU64::new(0);
        let ask = || {
            let is_granted = CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted();
            passed.fetch_add(is_granted.into(), Ordering::Relaxed);
        };
        race(3, |thread| {
            for _ in 0..8 {
                if thread == 0 {
                    let _ = CLIENTS.admit(Client { client: "nobody" }, 0, Duration::ZERO);
                    CLIENTS.forget_idle();
                }
                ask();
            }
        });
        (0..MANY).for_each(|_| ask());
        let passed = passed.into_inner();
        assert!(passed <= MANY);
        schedules += u64::from(passed < MANY);
        missing += MANY - passed;
        CLOCK.advance(3 * SECOND);
        CLIENTS.forget_idle();
    }
    assert_eq!((schedules, missing), (0, 0), "schedules with grants in vain, and the grants");
}

/// A clock at which a thread stands still after it has read the time.
#[derive(Default)]
pub(crate) struct Stalling(pub(crate) Manual);

/// The actions of other threads meanwhile, once.
pub(crate) type Meanwhile = Box<dyn FnOnce()>;

thread_local! {
    pub(crate) static MEANWHILE: Cell<Option<Meanwhile>> = const { Cell::new(None) };
}

impl Clock for &'static Stalling {
    fn now(&self) -> Timestamp {
        let read = self.0.now();
        if let Some(act) = MEANWHILE.take() {
            act();
        }
        read
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// A thread has found no place for a key, and stands still in the overflow gate for an interval.
/// Meanwhile the key comes, uses its limit, and is forgotten.
#[test]
fn a_key_that_has_come_and_gone_beside_a_request_gets_no_more_by_that_request() {
    static CLOCK: LazyLock<Stalling> = LazyLock::new(Stalling::default);
    static CLIENTS: Limits<Client, Gate<&'static Stalling>> = Limits::new(1, |_| {
        Gate::builder(LIMIT).buckets(10).clock(&*CLOCK).build().expect("a second in ten buckets")
    });
    let ask = |weight| CLIENTS.admit(ALICE, weight, Duration::ZERO).is_granted();
    assert!(CLIENTS.admit(BOB, 1, Duration::ZERO).is_granted());
    let bob = CLIENTS.family().handle(BOB); // so his place is not given to another
    CLOCK.0.advance(SECOND);
    assert!(ask(0) && CLIENTS.family().get(ALICE).is_none(), "she finds no place");
    MEANWHILE.set(Some(Box::new(move || {
        drop(bob);
        assert_eq!(CLIENTS.forget_idle(), 1);
        assert!(ask(LIMIT) && !ask(1), "by her own gate");
        CLOCK.0.advance(SECOND);
        assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (1, 0));
    })));
    assert_eq!((0..9).filter(|_| ask(1)).count() as u64, LIMIT);
    assert!(MEANWHILE.take().is_none(), "she has come and gone");
}
