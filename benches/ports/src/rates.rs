//! The rates of pingora-limits.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use crate::contender::{Call, Contender, OWN, PORTED};

/// The number of keys, where there are many.
const KEYS: u64 = 1_000_000;

/// A key for each call, of each thread's own: all over the keys.
fn key() -> u64 {
    thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    let next = NEXT.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
    NEXT.set(next);
    ((u128::from(next) * u128::from(KEYS)) >> 64) as u64
}

/// The calls of a program on rates, for one copy of the crate.
macro_rules! uses {
    ($pingora:ident, $whose:expr) => {{
        use $pingora::estimator::Estimator;
        use $pingora::rate::Rate;

        let [one, many, read] = [0; 3].map(|_| Rate::new(Duration::from_secs(1)));
        read.observe(&7, 1);
        let numbers = Estimator::new(4, 16);
        (0..KEYS / 1000).for_each(|key| _ = numbers.incr(key, 1));
        [
            Contender::new(
                "pingora-limits: an event of one key",
                $whose,
                Call(move || _ = black_box(one.observe(&7, 1))),
            ),
            Contender::new(
                "pingora-limits: an event of a million keys",
                $whose,
                Call(move || _ = black_box(many.observe(&key(), 1))),
            ),
            Contender::new(
                "pingora-limits: reading a rate",
                $whose,
                Call(move || _ = black_box(read.rate(&7))),
            ),
            Contender::new(
                "pingora-limits: a reset of 64 numbers",
                $whose,
                Call(move || numbers.reset()),
            ),
        ]
    }};
}

pub(crate) fn contenders() -> Vec<Contender> {
    let own = uses!(own_pingora_limits, OWN);
    let ported = uses!(ported_pingora_limits, PORTED);
    own.into_iter().zip(ported).flat_map(|(own, ported)| [own, ported]).collect()
}
