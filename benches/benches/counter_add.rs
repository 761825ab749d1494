//! One add to a counter: alone, on one thread for each core, and on two.

use criterion::{Criterion, criterion_group, criterion_main};
use windrow_benches::harness::{bench_adds, cores};
use windrow_benches::ours::counters;

fn counter_add(criterion: &mut Criterion) {
    for threads in [1, cores(), 2 * cores()] {
        let mut group = criterion.benchmark_group(format!("counter_add/threads {threads}"));
        bench_adds(&mut group, &counters(), threads);
    }
}

criterion_group!(benches, counter_add);
criterion_main!(benches);
