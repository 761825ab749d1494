//! Times, printed and not judged:
//! `cargo test --release -p windrow-redis --lib figures -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use windrow::Gate;

use crate::permits::Permits;
use crate::pulse::{Pulse, margin};

const CALLS: u64 = 1_000_000;

fn precise() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of this call.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    (time.tv_sec * 1_000_000_000 + time.tv_nsec).cast_unsigned()
}

/// Takes one as a request does.
#[inline]
fn take(permits: &Permits, pulse: &Pulse) -> bool {
    match pulse.quick() {
        Some(quick) if permits.take_quickly(quick, 1) => true,
        _ => take_slowly(permits, pulse),
    }
}

#[cold]
#[inline(never)]
fn take_slowly(permits: &Permits, pulse: &Pulse) -> bool {
    let now = pulse.beat(precise);
    permits.refill(now, now / 1_000, 1)
}

#[test]
#[ignore = "it prints times"]
fn figures() {
    let pulse = Pulse::stopped();
    let permits = Permits::with_rows(margin().unwrap());
    let gate = Gate::builder(1_000_000_000).interval(Duration::from_secs(1)).buckets(10);
    let gate = gate.build_rationed(100_000).unwrap();
    let mut best = [f64::MAX; 4];
    let mut time = |place: usize, call: &mut dyn FnMut() -> bool| {
        let begin = Instant::now();
        let taken = (0..CALLS).filter(|_| black_box(call())).count();
        black_box(taken);
        best[place] = best[place].min(begin.elapsed().as_nanos() as f64 / CALLS as f64);
    };
    for _ in 0..50 {
        permits.end(0);
        permits.begin(0, precise() / 1_000 + 10_000_000, 16_000_000);
        time(0, &mut || take(&permits, &pulse));
        time(1, &mut || gate.try_admit(1));
        time(2, &mut || permits.take(precise() / 1_000, 1));
        time(3, &mut || precise() > 0);
    }
    let [row, gate, lease, clock] = best;
    println!(
        "ns, best of 50: from a row {row:.1}, RationedGate::try_admit {gate:.1} ({:.2}), from a \
         lease {lease:.1}, CLOCK_BOOTTIME {clock:.1}",
        row / gate
    );
}
