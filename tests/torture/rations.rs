//! Rations of a gate under everything that interrupts a thread: each unit granted is used, or lies
//! in rows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use windrow::clock::Manual;
use windrow::{Gate, gate::RationedGate};

use crate::{are_interrupted, check_interruptions, everywhere, goes_on, seconds};
use testkit::interrupts::{self, Timer};
use testkit::{Rng, ns};

/// Two of each: takers that are migrated, that yield, and that only take.
const TAKERS: u64 = 6;
/// The number of buckets: large enough that none leaves the interval, so that all grants are known
/// at the end.
const BUCKETS: u64 = 1_000;

everywhere!(rations::torture_in_this_process);

/// Takes until it is stopped, and returns the sum taken.
fn take(gate: &RationedGate<Manual>, which: u64, stop: &AtomicBool) -> u64 {
    let _timer = Timer::start(interrupts::PERIOD);
    let (mut random, mut taken) = (Rng::with_seed(which), 0);
    for step in 1.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let n = random.u64(0..=3);
        assert!(gate.try_admit(n), "the limit is far away");
        taken += n;
        match which % 3 {
            0 if step % 500 == 0 => interrupts::migrate(step / 500),
            1 if step % 200 == 0 => thread::yield_now(),
            _ => {}
        }
    }
    taken
}

#[test]
#[ignore = "run by the tests above, each in a process of its own"]
fn torture_in_this_process() {
    windrow::diagnostics::strategy();
    interrupts::count_signals();
    let clock = Manual::default();
    let gate = Gate::builder(1 << 40).interval(ns(10 * BUCKETS)).buckets(BUCKETS as usize);
    let gate = gate.clock(clock.clone()).build_rationed(500).unwrap();
    let (stop, mut taken) = (AtomicBool::new(false), 0);
    thread::scope(|scope| {
        let takers: Vec<_> = (0..TAKERS)
            .map(|taker| {
                let (gate, stop) = (&gate, &stop);
                scope.spawn(move || take(gate, taker, stop))
            })
            .collect();
        let begin = Instant::now();
        for _ in 1..BUCKETS {
            if begin.elapsed() >= seconds() {
                break;
            }
            clock.advance(ns(10));
            thread::sleep(seconds() / BUCKETS as u32);
        }
        while goes_on(begin, are_interrupted) {
            thread::sleep(Duration::from_millis(1));
        }
        stop.store(true, Ordering::Relaxed);
        taken += takers.into_iter().map(|taker| taker.join().unwrap()).sum::<u64>();
    });
    assert_eq!(gate.gate().granted(), taken + gate.unused());
    check_interruptions(&format!("{taken} taken"));
}
