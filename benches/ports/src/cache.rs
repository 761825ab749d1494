//! stretto's metrics.

use std::cell::Cell;
use std::hint::black_box;

use crate::contender::{Call, Contender, OWN, PORTED};

/// The number of keys: a cache of ten thousand keeps them all.
const KEYS: u64 = 1024;

/// One number after the other, of each thread's own.
fn step() -> u64 {
    thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    NEXT.replace(NEXT.get().wrapping_add(1))
}

/// The calls of a program on a cache's metrics, for one copy of the crate.
macro_rules! uses {
    ($stretto:ident, $whose:expr) => {{
        use $stretto::{Cache, MetricType, Metrics};

        let cache = Cache::builder(10_000, 10_000)
            .set_metrics(true)
            .set_ignore_internal_cost(true)
            .finalize()
            .expect("a sound cache");
        (0..KEYS).for_each(|key| assert!(cache.insert(key, key, 1), "there is room"));
        cache.wait().expect("it is under way");
        let (one, several, read) = (Metrics::new_op(), Metrics::new_op(), Metrics::new_op());
        [
            Contender::new(
                "stretto: a count, one key",
                $whose,
                Call(move || _ = one.add(MetricType::Hit, black_box(7), 1)),
            ),
            Contender::new(
                "stretto: a count, many keys",
                $whose,
                Call(move || _ = several.add(MetricType::Hit, step(), 1)),
            ),
            Contender::new(
                "stretto: a get, found",
                $whose,
                Call(move || assert!(cache.get(&(step() % KEYS)).is_some(), "it is there")),
            ),
            Contender::new(
                "stretto: reading a count",
                $whose,
                Call(move || _ = black_box(read.get_hits())),
            ),
        ]
    }};
}

pub(crate) fn contenders() -> Vec<Contender> {
    let own = uses!(own_stretto, OWN);
    let ported = uses!(ported_stretto, PORTED);
    own.into_iter().zip(ported).flat_map(|(own, ported)| [own, ported]).collect()
}
