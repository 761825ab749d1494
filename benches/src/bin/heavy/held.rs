//! Compares adds of keys that are held with those to a `HashMap` under a mutex, which has no
//! window, no bound of its memory, and std's hasher: what a program would write by itself.

use std::sync::Mutex;
use std::time::Duration;

use fastrand::Rng;
use windrow::clock::Ticker;
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::print_table;

use crate::finds::{CAPACITY, Finds};
use crate::locked::{Exact, Locked};
use crate::rivals::{Windrow, windrow};
use crate::streams::{Stream, zipf};
use crate::time::time;

const ROUNDS: usize = 31;
/// The keys of a stream.
const ADDS: usize = 400_000;

/// Prints the times of both, and the ratio within each round: its median, least and greatest.
pub(crate) fn print(threads: usize) {
    let heads = ["stream", "HashMap, locked", "windrow", "ratio", "on a ticker", "ratio"];
    let mut rows = Vec::new();
    for Stream { name, keys } in streams() {
        let [mut map, mut own, mut ticking] = [(); 3].map(|()| Vec::new());
        for _ in 0..ROUNDS {
            map.push(time(&Locked(Mutex::new(Exact::default())), &keys, threads));
            own.push(time(&*windrow(CAPACITY), &keys, threads));
            ticking.push(time(&on_a_ticker(), &keys, threads));
        }
        let row = [
            name.to_owned(),
            median(&map),
            median(&own),
            ratio(&own, &map),
            median(&ticking),
            ratio(&ticking, &map),
        ];
        rows.push(row.to_vec());
    }
    print_table(&heads, &rows);
}

/// Returns streams whose keys are all held.
fn streams() -> [Stream; 3] {
    let mut rng = Rng::with_seed(7);
    let mut of = |name, key: &mut dyn FnMut(&mut Rng) -> u64| Stream {
        name,
        keys: (0..ADDS).map(|_| key(&mut rng)).collect(),
    };
    let mut likely = zipf(1.0, CAPACITY as u64);
    [
        of("one key", &mut |_| 7),
        of("Zipf 1.0 of a thousand keys", &mut |rng| likely(rng, 0)),
        of("a thousand keys", &mut |rng| rng.u64(..CAPACITY as u64)),
    ]
}

fn on_a_ticker() -> impl Finds {
    let keys = windrow::HeavyKeys::builder(CAPACITY).interval(Duration::from_hours(1));
    let keys = keys.clock(Ticker::start(Duration::from_millis(4)));
    Windrow(keys.build().expect("an hour in two buckets"))
}

fn median(times: &[f64]) -> String {
    Spread::of(times.iter().copied()).show_median()
}

fn ratio(times: &[f64], to: &[f64]) -> String {
    Spread::of(times.iter().zip(to).map(|(time, to)| time / to)).show()
}
