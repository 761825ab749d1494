//! The cost of opening a bucket of a gate.

use std::hint::black_box;
use std::time::Duration;

use windrow::clock::Manual;
use windrow_benches::harness::{keep_to_core, time};
use windrow_benches::lab::stats::Spread;
use windrow_benches::limits::{Terms, gate};
use windrow_benches::terminal::print_table;

const LENGTH: Duration = Duration::from_millis(100);
/// The number of buckets of a round.
const TIMES: u32 = 2_000;

pub(crate) fn run(rounds: usize) {
    keep_to_core(0);
    let of = |buckets: u32| {
        let clock = Manual::default();
        let terms = Terms { limit: 1 << 40, interval: LENGTH * buckets, buckets };
        (buckets, gate(terms, clock.clone()), clock, Vec::new())
    };
    let mut gates = [2, 10, 60, 600].map(of);
    for _ in 0..rounds {
        for (_, gate, clock, more) in &mut gates {
            let asked = |step| {
                let each = || {
                    clock.advance(step);
                    black_box(gate.try_admit(black_box(1)));
                };
                let spent = time(|| (0..TIMES).for_each(|_| each()));
                spent.as_nanos() as f64 / f64::from(TIMES)
            };
            more.push(asked(LENGTH) - asked(Duration::ZERO));
        }
    }
    let row = |(buckets, _, _, more): &(u32, _, _, Vec<f64>)| {
        let spread = Spread::of(more.iter().copied());
        vec![buckets.to_string(), spread.show()]
    };
    let rows: Vec<_> = gates.iter().map(row).collect();
    print_table(&["buckets", "ns that a grant takes more which opens one"], &rows);
}
