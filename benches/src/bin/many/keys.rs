//! Keys of limits: ten requests a second for each, by a strict limit in ten buckets, or by a pace;
//! beside governor's keyed limiter of the same rate, which keeps one word for a key.
//!
//! The clock stands still. As the default one, it takes no memory in a gate.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::{Quota, RateLimiter};
use windrow::{Clock, Gate, Pace, Timestamp, labels};
use windrow_benches::limits::Timed;
use windrow_tower::{Limits, PaceLimits};

use crate::part::{AT_RANDOM, Part, Row, at_random, bytes, nanos, sets};

labels! { struct Client { number: u64 } }

/// A clock that stands still.
#[derive(Clone, Copy)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(1_000)
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Measures a contender with this number of keys: what it makes is asked with a key.
fn measure<L: Fn(u64) -> bool>(
    contender: &'static str,
    count: usize,
    make: impl Fn(usize) -> L,
) -> Row {
    let ask_all = |ask: &L| (0..count as u64).for_each(|key| assert!(ask(black_box(key))));
    let (limiter, bytes) = bytes(|| {
        let limiter = make(count);
        ask_all(&limiter);
        limiter
    });
    let order = at_random(count);
    let again = nanos(AT_RANDOM, || {
        for key in &order {
            _ = black_box(limiter((*key).into()));
        }
    });
    let limiters: Vec<L> = (0..sets(count)).map(|_| make(count)).collect();
    let first = nanos(sets(count) * count, || limiters.iter().for_each(ask_all));
    Row { contender, count, figures: vec![bytes as f64 / count as f64, first, again] }
}

fn gates(keys: usize) -> impl Fn(u64) -> bool {
    let limits = Limits::<Client, _>::new(keys, |_| {
        Gate::builder(10).buckets(10).strict().clock(Still).build().expect("ten a second")
    });
    move |number| limits.admit(Client { number }, 1, Duration::ZERO).is_granted()
}

fn paces(keys: usize) -> impl Fn(u64) -> bool {
    let limits = PaceLimits::<Client, _>::new(keys, |_| {
        let pace = Pace::builder(Duration::from_millis(100)).burst(10).clock(Still);
        pace.build().expect("ten a second")
    });
    move |number| limits.admit(Client { number }, 1, Duration::ZERO).is_granted()
}

fn governor(_keys: usize) -> impl Fn(u64) -> bool {
    let quota = Quota::per_second(const { NonZeroU32::new(10).unwrap() });
    let governor = RateLimiter::dashmap_with_clock(quota, Timed(Still));
    move |key| governor.check_key(&key).is_ok()
}

pub(crate) const PART: Part = Part {
    name: "keys",
    about: "Keys of limits: ten requests a second for each key, by a strict limit in ten buckets, or \
            by a pace. A\nkey with a limit that is asked for again and again at random has spilled: \
            its gate has sheets. governor keeps one\nword for a key, and no window; it keeps the \
            keys that are idle.",
    columns: &["bytes", "first request", "request at random"],
    measure: |count| {
        vec![
            measure("windrow-tower, Limits", count, gates),
            measure("windrow-tower, PaceLimits", count, paces),
            measure("governor", count, governor),
        ]
    },
};
