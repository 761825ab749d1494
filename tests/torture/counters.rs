//! Counters under everything that interrupts a thread, all at once: timer signals whose handler
//! counts too, forced migration, yields, short-lived threads, and drains. Totals are exact.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use windrow::{Counter, Gauge, Maximum, Minimum};

use crate::{are_interrupted, check_interruptions, everywhere, goes_on};
use testkit::interrupts::{self, Timer};

/// Two of each: writers that are migrated, that yield, and that only add.
const WRITERS: u64 = 6;

static ADDED: Counter = Counter::new();
static LEVEL: Gauge = Gauge::new();
static GREATEST: Maximum = Maximum::new();
static LEAST: Minimum = Minimum::new();
static SHORT_LIVED: Counter = Counter::new();
static DRAINED: Counter = Counter::new();

everywhere!(counters::torture_in_this_process);

/// The adds of one writer, for comparison.
#[derive(Default)]
struct Ledger {
    steps: i64,
    added: u64,
    greatest: u64,
    least: u64,
}

fn write(writer: u64, stop: &AtomicBool) -> Ledger {
    let _timer = Timer::start(interrupts::PERIOD);
    let mut ledger = Ledger { least: u64::MAX, ..Ledger::default() };
    for step in 1.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let n = step % 5 + 1;
        ADDED.add(n);
        DRAINED.add(n);
        LEVEL.add(3);
        LEVEL.fetch_sub(2, Ordering::Relaxed);
        ledger.added += n;
        ledger.steps += 1;
        let value = (step ^ (writer << 40)).rotate_left(7);
        GREATEST.record(value);
        LEAST.record(value);
        ledger.greatest = ledger.greatest.max(value);
        ledger.least = ledger.least.min(value);
        match writer % 3 {
            0 if step % 500 == 0 => interrupts::migrate(step / 500),
            1 if step % 200 == 0 => thread::yield_now(),
            _ => {}
        }
    }
    ledger
}

#[test]
#[ignore = "run by the tests above, each in a process of its own"]
fn torture_in_this_process() {
    windrow::diagnostics::strategy();
    interrupts::count_signals();
    let (stop, drained) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut ledgers, mut short_lived) = (Vec::new(), 0);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let stop = &stop;
                    move || write(writer, stop)
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                let _timer = Timer::start(interrupts::PERIOD);
                while !stop.load(Ordering::Relaxed) {
                    drained.fetch_add(DRAINED.take(), Ordering::Relaxed);
                }
            });
        }
        let begin = Instant::now();
        while goes_on(begin, are_interrupted) {
            let one = scope.spawn(|| (0..100).for_each(|_| SHORT_LIVED.increment()));
            one.join().unwrap();
            short_lived += 100;
        }
        stop.store(true, Ordering::Relaxed);
        ledgers.extend(writers.into_iter().map(|writer| writer.join().unwrap()));
    });
    let added: u64 = ledgers.iter().map(|ledger| ledger.added).sum();
    assert_eq!(ADDED.sum(), added);
    assert_eq!(drained.load(Ordering::Relaxed) + DRAINED.sum(), added);
    assert_eq!(LEVEL.sum(), ledgers.iter().map(|ledger| ledger.steps).sum());
    assert_eq!(SHORT_LIVED.sum(), short_lived);
    assert_eq!(GREATEST.get(), ledgers.iter().map(|ledger| ledger.greatest).max());
    assert_eq!(LEAST.get(), ledgers.iter().map(|ledger| ledger.least).min());
    check_interruptions(&format!("{added} added"));
}
