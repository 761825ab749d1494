//! Keys of limits: ten requests a second for each, by a strict limit in ten buckets; beside
//! governor's keyed limiter of the same rate, which keeps one word for a key.
//!
//! The clock stands still, and leaps by an hour before idle keys are forgotten. Bytes are those
//! asked of the allocator (counters' columns are mapped, and come to 8 bytes for each core more).
//! Times are of one thread, by the clock of its processor time.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::LazyLock;
use std::time::Duration;

use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter, middleware::NoOpMiddleware, nanos::Nanos};
use windrow::clock::Manual;
use windrow::{Family, Gate, labels};
use windrow_benches::limits::Timed;
use windrow_benches::terminal::print_table;
use windrow_tower::Limits;

use crate::nanos;

labels! { struct Client { number: u64 } }

static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);

const HOUR: Duration = Duration::from_hours(1);

/// A limiter by key.
trait Keyed {
    const NAME: &str;

    fn new(keys: usize) -> Self;

    fn ask(&self, key: u64) -> bool;

    /// Asks for a key that comes for the first time, in the place of an idle one if need be.
    fn ask_anew(&self, key: u64) -> bool {
        self.ask(key)
    }

    /// Forgets all idle keys.
    fn forget(&self);

    fn keys(&self) -> usize;
}

fn gate() -> Gate<Manual> {
    Gate::builder(10).buckets(10).strict().clock(CLOCK.clone()).build().expect("ten a second")
}

impl Keyed for Limits<Client, Manual> {
    const NAME: &str = "windrow-tower, Limits";

    fn new(keys: usize) -> Self {
        Limits::new(keys, |_| gate())
    }

    fn ask(&self, key: u64) -> bool {
        self.admit(Client { number: key }, 1, Duration::ZERO).is_granted()
    }

    fn forget(&self) {
        self.forget_idle();
    }

    fn keys(&self) -> usize {
        self.family().len()
    }
}

impl Keyed for Family<Client, Gate<Manual>> {
    const NAME: &str = "windrow, a family of gates";

    fn new(keys: usize) -> Self {
        Family::with_constructor(gate as fn() -> Gate<Manual>).with_max_series(keys)
    }

    fn ask(&self, key: u64) -> bool {
        self.with(Client { number: key }).try_admit(1)
    }

    fn ask_anew(&self, key: u64) -> bool {
        self.retain_next(2, |gate| !gate.retire());
        self.ask(key)
    }

    fn forget(&self) {
        self.retain(|gate, _| !gate.retire());
    }

    fn keys(&self) -> usize {
        self.len()
    }
}

struct Governor(RateLimiter<u64, DashMapStateStore<u64>, Timed<Manual>, NoOpMiddleware<Nanos>>);

impl Keyed for Governor {
    const NAME: &str = "governor";

    fn new(_keys: usize) -> Self {
        let quota = Quota::per_second(const { NonZeroU32::new(10).unwrap() });
        Governor(RateLimiter::dashmap_with_clock(quota, Timed(CLOCK.clone())))
    }

    fn ask(&self, key: u64) -> bool {
        self.0.check_key(&key).is_ok()
    }

    fn forget(&self) {
        self.0.retain_recent();
    }

    fn keys(&self) -> usize {
        self.0.len()
    }
}

/// Measures a row: with this number of keys.
fn measure<K: Keyed>(keys: usize) -> Vec<String> {
    let bytes = {
        crate::HEAP.stop(false);
        let before = crate::HEAP.bytes();
        let limiter = K::new(keys);
        (0..keys as u64).for_each(|key| assert!(limiter.ask(key)));
        let bytes = crate::HEAP.bytes() - before;
        drop(limiter);
        crate::HEAP.stop(true);
        bytes as f64 / keys as f64
    };
    let limiter = K::new(keys);
    let first = nanos(keys, || (0..keys as u64).for_each(|key| _ = limiter.ask(key)));
    let mut random = fastrand::Rng::with_seed(7);
    let times = 1_000_000;
    let again = nanos(times, || {
        for _ in 0..times {
            _ = black_box(limiter.ask(random.u64(..keys as u64)));
        }
    });
    // Other keys, in the place of those that are idle.
    CLOCK.advance(HOUR);
    let (from, to) = (keys as u64, 2 * keys as u64);
    let others = nanos(keys, || (from..to).for_each(|key| _ = limiter.ask_anew(key)));
    let held = limiter.keys();
    CLOCK.advance(HOUR);
    let forgotten = nanos(1, || limiter.forget());
    assert_eq!(limiter.keys(), 0, "{} keeps keys", K::NAME);
    vec![
        format!("{}, {keys}", K::NAME),
        format!("{bytes:.0}"),
        format!("{first:.0}, {again:.0}"),
        format!("{others:.0}, {:.2}", held as f64 / keys as f64),
        format!("{:.3}", forgotten / 1e6),
    ]
}

/// Prints the table of these decades.
pub(crate) fn print(decades: &[usize]) {
    let mut rows = Vec::new();
    for keys in decades.iter().copied() {
        rows.push(measure::<Limits<Client, Manual>>(keys));
        rows.push(measure::<Family<Client, Gate<Manual>>>(keys));
        rows.push(measure::<Governor>(keys));
    }
    print_table(
        &[
            "limiter, keys",
            "bytes a key",
            "ns: first request, again at random",
            "ns: request of another key once all are idle; keys then, of all",
            "ms to forget all idle keys",
        ],
        &rows,
    );
}
