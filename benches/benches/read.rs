//! One read, warm, with no writer running: the sum of a counter to which as many threads as cores
//! have added, and of a window of 2 and of 60 buckets that all hold something.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use windrow::Timestamp;
use windrow::clock::Manual;
use windrow_benches::harness::{bench_reads, cores, time_adds};
use windrow_benches::ours::{counters, windows};

const LENGTH: Duration = Duration::from_millis(500);

fn read(criterion: &mut Criterion) {
    let contenders = counters();
    for contender in &contenders {
        time_adds(&*contender.rival, cores(), 1);
    }
    bench_reads(&mut criterion.benchmark_group("read/counter"), &contenders);

    for buckets in [2, 60] {
        let clock = Manual::default();
        let contenders = windows(LENGTH * buckets, buckets as usize, &clock);
        for bucket in 0..buckets {
            clock.set(Timestamp::from_millis(0) + LENGTH * (1000 + bucket));
            for contender in &contenders {
                time_adds(&*contender.rival, cores(), 1);
            }
        }
        let name = format!("read/window of {buckets}");
        bench_reads(&mut criterion.benchmark_group(name), &contenders);
    }
}

criterion_group!(benches, read);
criterion_main!(benches);
