//! One add that opens a bucket, every time, by one thread on a manual clock: the next bucket, and
//! one far beyond the ring.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use windrow::clock::Manual;
use windrow_benches::harness::{Contender, quick, time};
use windrow_benches::ours::windows;

const LENGTH: Duration = Duration::from_micros(100);
const BUCKETS: u32 = 10;

fn rotate(criterion: &mut Criterion) {
    for (name, step) in [("next bucket", LENGTH), ("jump", LENGTH * BUCKETS * 3)] {
        let mut group = criterion.benchmark_group(format!("rotate/{name}"));
        quick(&mut group);
        let clock = Manual::default();
        for Contender { name, rival } in windows(LENGTH * BUCKETS, BUCKETS as usize, &clock) {
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|times| {
                    time(|| rival.add_many_after(times, &|| clock.advance(step)))
                });
            });
        }
    }
}

criterion_group!(benches, rotate);
criterion_main!(benches);
