//! One read, warm, with no writer running: the sum of a counter to which one thread for each core
//! has added, and of a window of 2, 60 and 600 buckets that all hold something.

use criterion::{Criterion, criterion_group, criterion_main};
use windrow_benches::harness::{bench_reads, cores, time_adds};
use windrow_benches::ours::{counters, full_windows};

fn read(criterion: &mut Criterion) {
    let contenders = counters();
    for contender in &contenders {
        time_adds(&*contender.rival, cores(), 1);
    }
    bench_reads(&mut criterion.benchmark_group("read/counter"), &contenders);

    for buckets in [2, 60, 600] {
        let name = format!("read/window of {buckets}");
        bench_reads(&mut criterion.benchmark_group(name), &full_windows(buckets, |_| true));
    }
}

criterion_group!(benches, read);
criterion_main!(benches);
