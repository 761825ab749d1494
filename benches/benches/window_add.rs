//! One add to a window of two half seconds, by clock: alone, and on one thread for each core. Every
//! window in a group reads the same clock; but for sentinel-core, which has its own, and which is
//! here with the feature `sentinel`.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use windrow::Clock;
use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow_benches::harness::{Contender, bench_adds, cores};
use windrow_benches::ours::{coarse_read, windows};
use windrow_benches::rivals::counters::yardsticks;

const INTERVAL: Duration = Duration::from_secs(1);
const BUCKETS: usize = 2;

/// Returns all windows on `clock`, and what `others` makes.
fn on<C>(criterion: &mut Criterion, name: &str, clock: &C, others: fn() -> Vec<Contender>)
where
    C: Clock + Clone + Send + Sync + 'static,
{
    for threads in [1, cores()] {
        let mut group = criterion.benchmark_group(format!("window_add/{name}, threads {threads}"));
        let mut contenders = windows(INTERVAL, BUCKETS, clock);
        contenders.extend(others());
        bench_adds(&mut group, &contenders, threads);
    }
}

/// sentinel-core, where it was asked for.
fn sentinel() -> Vec<Contender> {
    #[cfg(feature = "sentinel")]
    return vec![windrow_benches::rivals::sentinel::window(2)];
    #[cfg(not(feature = "sentinel"))]
    Vec::new()
}

fn window_add(criterion: &mut Criterion) {
    for threads in [1, cores()] {
        let name = format!("window_add/no clock, no window, threads {threads}");
        bench_adds(&mut criterion.benchmark_group(name), &yardsticks(), threads);
    }
    on(criterion, "Manual", &Manual::default(), Vec::new);
    on(criterion, "Coarse", &Coarse::default(), || {
        let mut others = sentinel();
        others.push(coarse_read());
        others
    });
    on(criterion, "Precise", &Precise::default(), Vec::new);
    // Last, because sentinel-core's ticker cannot be stopped.
    #[cfg(feature = "sentinel")]
    windrow_benches::rivals::sentinel::start_ticker();
    on(criterion, "Ticker", &Ticker::start(Duration::from_millis(1)), sentinel);
}

criterion_group!(benches, window_add);
criterion_main!(benches);
