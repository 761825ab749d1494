//! Adds and sums under Criterion: of counters and windows, alone and on one thread for each core.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use windrow::clock::Coarse;
use windrow_benches::harness::{Contender, cores, time_adds, time_sums};
use windrow_benches::lab::stats::Sample;
use windrow_benches::ours::{counters, full_windows, windows};

/// Measures each contender by CPU time, as the programs do.
fn bench(
    criterion: &mut Criterion,
    group: &str,
    contenders: &[Contender],
    measure: impl Fn(&Contender, u64) -> Sample,
) {
    let mut group = criterion.benchmark_group(group);
    for contender in contenders {
        group.bench_function(contender.name, |bencher| {
            bencher
                .iter_custom(|times| Duration::from_secs_f64(measure(contender, times).ns / 1e9));
        });
    }
}

fn adds(criterion: &mut Criterion) {
    let second = Duration::from_secs(1);
    for threads in [1, cores()] {
        let add = |it: &Contender, times| time_adds(&*it.rival, threads, times);
        bench(criterion, &format!("counter/add by {threads}"), &counters(), add);
        let contenders = windows(second, 2, &Coarse::default());
        bench(criterion, &format!("window/add by {threads}"), &contenders, add);
    }
}

fn sums(criterion: &mut Criterion) {
    let sum = |it: &Contender, times| time_sums(&*it.rival, times);
    bench(criterion, "counter/sum", &counters(), sum);
    bench(criterion, "window/sum of 60 buckets", &full_windows(60), sum);
}

criterion_group!(benches, adds, sums);
criterion_main!(benches);
