//! Keys of limits: ten requests a second for each, by a strict limit in ten buckets, or by a pace;
//! beside governor's keyed limiter of the same rate, which keeps one word for a key.
//!
//! The clock stands still, and leaps by an hour before idle keys are forgotten. As the default one,
//! it takes no memory in a gate.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::LazyLock;
use std::time::Duration;

use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter, middleware::NoOpMiddleware, nanos::Nanos};
use windrow::clock::Manual;
use windrow::{Clock, Family, Gate, Pace, Timestamp, labels};
use windrow_benches::limits::Timed;
use windrow_tower::{Limits, PaceLimits};

use crate::part::{AT_RANDOM, Part, Row, at_random, bytes, nanos, sets};

labels! { struct Client { number: u64 } }

static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);

/// That clock, for gates.
#[derive(Clone, Copy)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        CLOCK.now()
    }

    fn resolution(&self) -> Duration {
        CLOCK.resolution()
    }
}

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

fn gate() -> Gate<Still> {
    Gate::builder(10).buckets(10).strict().clock(Still).build().expect("ten a second")
}

fn pace() -> Pace<Still> {
    let builder = Pace::builder(Duration::from_millis(100)).burst(10).clock(Still);
    builder.build().expect("ten a second")
}

/// Makes contenders of windrow-tower's limits.
macro_rules! of_tower {
    ($($limits:ty: $name:literal, $make:expr;)*) => {$(
        impl Keyed for $limits {
            const NAME: &str = $name;

            fn new(keys: usize) -> Self {
                <$limits>::new(keys, |_| $make)
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
    )*};
}

of_tower! {
    Limits<Client, Gate<Still>>: "windrow-tower, Limits", gate();
    PaceLimits<Client, Pace<Still>>: "windrow-tower, PaceLimits", pace();
}

impl Keyed for Family<Client, Gate<Still>> {
    const NAME: &str = "windrow, a family of gates";

    fn new(keys: usize) -> Self {
        Family::with_constructor(gate as fn() -> Gate<Still>).with_max_series(keys)
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

/// Measures a contender with this number of keys.
fn measure<K: Keyed>(count: usize) -> Row {
    let ask_all =
        |limiter: &K| (0..count as u64).for_each(|key| assert!(limiter.ask(black_box(key))));
    let (limiter, bytes) = bytes(|| {
        let limiter = K::new(count);
        ask_all(&limiter);
        limiter
    });
    let order = at_random(count);
    let again = nanos(AT_RANDOM, || {
        for key in &order {
            _ = black_box(limiter.ask((*key).into()));
        }
    });
    let all = sets(count) * count;
    let limiters: Vec<K> = (0..sets(count)).map(|_| K::new(count)).collect();
    let first = nanos(all, || limiters.iter().for_each(ask_all));
    // Other keys, in the place of those that are idle.
    CLOCK.advance(HOUR);
    let (from, to) = (count as u64, 2 * count as u64);
    let others = nanos(all, || {
        for limiter in &limiters {
            (from..to).for_each(|key| _ = limiter.ask_anew(key));
        }
    });
    let held: usize = limiters.iter().map(K::keys).sum();
    CLOCK.advance(HOUR);
    let forgotten = nanos(held, || limiters.iter().for_each(K::forget));
    assert!(limiters.iter().all(|limiter| limiter.keys() == 0), "{} keeps keys", K::NAME);
    let held = held as f64 / all as f64;
    let figures = vec![bytes as f64 / count as f64, first, again, others, held, forgotten];
    Row { contender: K::NAME, count, figures }
}

pub(crate) const PART: Part = Part {
    name: "keys",
    title: "Keys of limits",
    about: "Ten requests a second for each key, by a strict limit in ten buckets, or by a pace. A \
            key with a limit that is\nasked for again and again at random has spilled: its gate \
            has sheets. governor keeps one word for a key, and\nno window; it keeps the keys that \
            are idle.",
    columns: &[
        "bytes",
        "first request",
        "request at random",
        "request of another key once all are idle",
        "keys then, of all",
        "forgetting an idle key",
    ],
    measure: |count| {
        vec![
            measure::<Limits<Client, Gate<Still>>>(count),
            measure::<PaceLimits<Client, Pace<Still>>>(count),
            measure::<Family<Client, Gate<Still>>>(count),
            measure::<Governor>(count),
        ]
    },
};
