//! `labels [--rounds N]`: the cost of one more count, or one more value, of series with names and
//! labels.
//!
//! 256 series of one name with three labels, one of them hot: each contender on one thread and on
//! one for each core, the median of a round's CPU time for each operation, its minimum and its
//! maximum. Then a text of ten thousand counters; and a `counter!` whose key is any of up to a
//! hundred thousand.

use windrow_benches::facade;
use windrow_benches::lab::entries::{Entry, measure, print};
use windrow_benches::terminal::options;

/// Operations of a thread in a round.
const TIMES: u64 = 100_000;

fn main() {
    let [rounds] = options("labels", [("rounds", 15)], &[]).numbers;
    let contenders = facade::all();
    let adds = contenders.iter().map(|one| Entry::new(one.name).adds(&*one.rival, TIMES));
    let mut adds: Vec<_> = adds.collect();
    measure("adds", rounds, &mut adds);
    print(&["ns an operation", "1 thread", "all cores"], &adds);
    let mut renders = facade::renders();
    measure("texts", rounds, &mut renders);
    print(&["ms a text of 10 000 counters", "median (least to greatest)"], &renders);
    let mut keys = [1, 64, 1_024, 8_192, 100_000].map(facade::many_keys);
    measure("keys", rounds, &mut keys);
    print(&["ns a counter! at keys", "windrow-metrics", "metrics-exporter-prometheus"], &keys);
}
