//! Counters, gauges and extremes under threads that add, drain and read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::{Counter, Gauge, Maximum, Minimum};

use testkit::ledger::Progress;
use testkit::{Finish, Rng};

const WRITERS: usize = 4;
const STEPS: u64 = 50_000;

/// Runs `write(0)` to `write(3)`, and `read` until they have finished.
fn meanwhile(write: impl Fn(usize) + Sync, read: impl Fn(&AtomicBool) + Sync) {
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&finished);
        let readers = [0, 1].map(|_| scope.spawn(|| read(&finished)));
        let write = |index| {
            let write = &write;
            move || write(index)
        };
        let writers: Vec<_> = (0..WRITERS).map(|index| scope.spawn(write(index))).collect();
        for writer in writers {
            writer.join().expect("no writer panics");
        }
        drop(finish);
        for reader in readers {
            reader.join().expect("nothing wrong was seen");
        }
    });
}

/// Intermediate value linearizability, as far as one can see it: between done and begun, and never
/// less than before.
#[test]
fn a_sum_lies_between_done_and_begun() {
    let counter = Counter::new();
    let progress: [Progress; WRITERS] = Default::default();
    meanwhile(
        |index| {
            let mut random = Rng::with_seed(index as u64);
            for _ in 0..STEPS {
                let n = random.u64(..4);
                progress[index].around(n, 0, || {
                    counter.add(n);
                    Some(())
                });
            }
        },
        |finished| {
            let mut last = 0;
            while !finished.load(Ordering::Acquire) {
                let [done, _] = Progress::done(&progress);
                let sum = counter.sum();
                let [begun, _] = Progress::begun(&progress);
                assert!((done..=begun).contains(&sum), "{sum} is not in {done}..={begun}");
                assert!(last <= sum, "{last}, then {sum}");
                last = sum;
            }
        },
    );
    assert_eq!(counter.sum(), Progress::done(&progress)[0]);
}

/// Two threads that drain, and adds of different sizes: every one is in exactly one result.
#[test]
fn drains_add_up() {
    let (counter, drained) = (Counter::new(), Counter::new());
    let progress: [Progress; WRITERS] = Default::default();
    meanwhile(
        |index| {
            let mut random = Rng::with_seed(index as u64);
            for _ in 0..STEPS {
                let n = random.u64(..1000);
                progress[index].around(n, 0, || {
                    counter.fetch_add(n, Ordering::Relaxed);
                    Some(())
                });
            }
        },
        |finished| {
            let mut last = 0;
            while !finished.load(Ordering::Acquire) {
                let [done, _] = Progress::done(&progress);
                let (part, lifetime) = (counter.take(), counter.lifetime());
                let [begun, _] = Progress::begun(&progress);
                assert!(part <= begun, "{part} of {begun}");
                assert!((done..=begun).contains(&lifetime) && lifetime >= last, "{lifetime}");
                last = lifetime;
                drained.add(part);
            }
        },
    );
    drained.add(counter.take());
    let [added, _] = Progress::done(&progress);
    assert_eq!((drained.sum(), counter.lifetime()), (added, added));
    assert_eq!((counter.sum(), counter.take()), (0, 0));
}

/// One thread adds one and drains, over and over: there is never more than one in the counter, so
/// no call may return more, even if other steps come between those of a sum or of another drain.
pub(crate) fn alternate(rounds: u64) {
    let counter = Counter::new();
    let finished = AtomicBool::new(false);
    let drained: u64 = thread::scope(|scope| {
        let finish = Finish(&finished);
        let others = [0, 1, 2].map(|other| {
            let (counter, finished) = (&counter, &finished);
            scope.spawn(move || {
                let mut drained = 0;
                while !finished.load(Ordering::Acquire) {
                    let sum = counter.sum();
                    assert!(sum <= 1, "{sum} in the counter");
                    if other == 0 {
                        let part = counter.take();
                        assert!(part <= 1, "{part} drained");
                        drained += part;
                    }
                }
                drained
            })
        });
        let mut drained = 0;
        for _ in 0..rounds {
            counter.increment();
            let part = counter.take();
            assert!(part <= 1, "{part} drained");
            drained += part;
        }
        drop(finish);
        others.into_iter().fold(drained, |all, other| all + other.join().expect("no more than one"))
    });
    assert_eq!((drained, counter.sum()), (rounds, 0));
}

#[test]
fn nobody_is_told_of_more_than_there_was() {
    alternate(200_000);
}

/// Drains beside adds: the rest is less, and never more, than the sum of the adds.
#[test]
fn drains_invent_nothing() {
    let counter = Counter::new();
    meanwhile(
        |_| (0..STEPS).for_each(|_| counter.increment()),
        |finished| {
            while !finished.load(Ordering::Acquire) {
                _ = counter.take();
                assert!(counter.sum() <= STEPS * WRITERS as u64);
            }
        },
    );
    assert!(counter.sum() <= STEPS * WRITERS as u64);
    _ = counter.take();
    assert_eq!(counter.sum(), 0);
    counter.increment();
    assert_eq!(counter.sum(), 1);
}

#[test]
fn gauges_come_back_to_rest() {
    let gauge = Gauge::new();
    meanwhile(
        |index| {
            for step in 0..STEPS.cast_signed() {
                gauge.add(step);
                gauge.fetch_sub(step + 1, Ordering::Relaxed);
            }
            gauge.add(index.cast_signed() as i64);
        },
        |finished| {
            while !finished.load(Ordering::Acquire) {
                gauge.sum();
            }
        },
    );
    let writers = WRITERS.cast_signed() as i64;
    assert_eq!(gauge.sum(), writers * (writers - 1) / 2 - writers * STEPS.cast_signed());
}

#[test]
fn extremes_only_ever_widen() {
    let (most, least) = (Maximum::new(), Minimum::new());
    meanwhile(
        |index| {
            for step in 0..STEPS {
                most.record(STEPS + step * 4 + index as u64);
                least.record(10 * STEPS - step * 4 - index as u64);
            }
        },
        |finished| {
            let (mut high, mut low) = (None, None);
            while !finished.load(Ordering::Acquire) {
                let now = (most.get(), least.get());
                assert!(high <= now.0, "{high:?}, then {:?}", now.0);
                assert!(low.is_none() || now.1.is_some_and(|now| Some(now) <= low));
                (high, low) = now;
            }
        },
    );
    assert_eq!(most.get(), Some(STEPS + (STEPS - 1) * 4 + 3));
    assert_eq!(least.get(), Some(10 * STEPS - (STEPS - 1) * 4 - 3));
}
