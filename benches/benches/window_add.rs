//! One add to a window of two half seconds, by clock: alone, and on as many threads as cores.
//! Every window in a group reads the same clock.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use windrow::Clock;
use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow_benches::harness::{bench_adds, cores};
use windrow_benches::ours::{windows, yardsticks};

const INTERVAL: Duration = Duration::from_secs(1);
const BUCKETS: usize = 2;

fn on<C>(criterion: &mut Criterion, name: &str, clock: &C)
where
    C: Clock + Clone + Send + Sync + 'static,
{
    for threads in [1, cores()] {
        let mut group = criterion.benchmark_group(format!("window_add/{name}, threads {threads}"));
        bench_adds(&mut group, &windows(INTERVAL, BUCKETS, clock), threads);
    }
}

fn window_add(criterion: &mut Criterion) {
    for threads in [1, cores()] {
        let name = format!("window_add/no clock, no window, threads {threads}");
        bench_adds(&mut criterion.benchmark_group(name), &yardsticks(), threads);
    }
    on(criterion, "Manual", &Manual::default());
    on(criterion, "Ticker", &Ticker::start(Duration::from_millis(1)));
    on(criterion, "Coarse", &Coarse::default());
    on(criterion, "Precise", &Precise::default());
}

criterion_group!(benches, window_add);
criterion_main!(benches);
