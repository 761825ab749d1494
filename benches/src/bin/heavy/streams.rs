//! Streams of keys.

use fastrand::Rng;

use crate::finds::CAPACITY;

/// The keys of a stream.
const ADDS: u64 = 1_000_000;
/// The different keys of a stream, where their number is bounded.
const KEYS: u64 = 100_000;

/// A sequence of keys.
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) keys: Vec<u64>,
}

/// Returns all streams, the same in each run.
pub(crate) fn all() -> Vec<Stream> {
    let mut rng = Rng::with_seed(7);
    let mut stream = |name, key: &mut dyn FnMut(&mut Rng, u64) -> u64| Stream {
        name,
        keys: (0..ADDS).map(|number| key(&mut rng, number)).collect(),
    };
    vec![
        stream("Zipf 0.8", &mut zipf(0.8, KEYS)),
        stream("Zipf 1.0", &mut zipf(1.0, KEYS)),
        stream("Zipf 1.3", &mut zipf(1.3, KEYS)),
        stream("Zipf 0.8, shifts", &mut shifting(zipf(0.8, KEYS))),
        stream("Zipf 1.0, shifts", &mut shifting(zipf(1.0, KEYS))),
        stream("Zipf 1.3, shifts", &mut shifting(zipf(1.3, KEYS))),
        stream("equally likely", &mut |rng, _| rng.u64(..KEYS)),
        stream("heavy in a flood", &mut |_, n| if n % 50 == 0 { 0 } else { n }),
        stream("adversarial", &mut |_, n| if n < ADDS / 2 { n % 2_000 } else { n / 3 }),
    ]
}

/// Returns streams whose keys are all held.
pub(crate) fn held() -> [Stream; 3] {
    let mut rng = Rng::with_seed(7);
    let mut stream = |name, key: &mut dyn FnMut(&mut Rng, u64) -> u64| Stream {
        name,
        keys: (0..400_000).map(|number| key(&mut rng, number)).collect(),
    };
    let keys = CAPACITY as u64;
    [
        stream("one key", &mut |_, _| 7),
        stream("Zipf 1.0 of a thousand keys", &mut zipf(1.0, keys)),
        stream("a thousand keys", &mut |rng, _| rng.u64(..keys)),
    ]
}

/// Returns `keys` keys of Zipf's distribution: the `k`-th is as likely as `1 / k^exponent`.
fn zipf(exponent: f64, keys: u64) -> impl FnMut(&mut Rng, u64) -> u64 {
    let mut sum = 0.0;
    let mut sums = Vec::new();
    for key in 1..=keys {
        sum += (key as f64).powf(-exponent);
        sums.push(sum);
    }
    move |rng, _| {
        let at = rng.f64() * sum;
        sums.partition_point(|sum| *sum < at) as u64
    }
}

/// Returns keys whose weights change four times: then the next fifth of all keys has the likely
/// ones.
fn shifting(mut key: impl FnMut(&mut Rng, u64) -> u64) -> impl FnMut(&mut Rng, u64) -> u64 {
    move |rng, number| (key(rng, number) + number / (ADDS / 5) * (KEYS / 5)) % KEYS
}
