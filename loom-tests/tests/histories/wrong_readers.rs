//! Counters and windows with one thing wrong: the checkers must find a history of theirs that is
//! not allowed.
//!
//! Under shuttle alone: there the result does not depend on this machine's cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use windrow::Counter;
use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::atomic::{AtomicU64, Ordering};
use windrow_loom_tests::engine::{sync::Arc, thread};
use windrow_loom_tests::histories::{
    CounterCall, Recorder, WindowCall, WindowHistory, check_counter,
};
use windrow_loom_tests::window::{Hits, Window, add, each, late, lifetime, set_time, window};

/// Runs `body` in random orders, and demands that one of its histories is rejected because of this.
fn finds(name: &'static str, because: &'static str, body: fn() -> Result<(), String>) {
    let first = std::sync::Arc::new(Mutex::new(None));
    let (note, histories) = (std::sync::Arc::clone(&first), AtomicUsize::new(0));
    Model::new(name).explore(move || {
        let verdict = body();
        let number = 1 + histories.fetch_add(1, Relaxed);
        let why = verdict.err().filter(|why| why.contains(because));
        let mut first = note.lock().unwrap();
        *first = first.take().or_else(|| why.map(|why| (number, why)));
    });
    let found = first.lock().unwrap().take();
    let (number, why) = found.expect("no history was rejected for this");
    println!("{name}: history {number} was the first to be rejected: {why}");
}

/// A counter with a mistake.
trait Wrong: Send + Sync + 'static {
    fn add(&self, n: u64);
    fn drain(&self) -> u64;
    fn sum(&self) -> u64;
}

/// A history of two adders, a drainer and a reader.
fn history(counter: impl Wrong) -> Result<(), String> {
    let counter = Arc::new(counter);
    let recorder = Recorder::default();
    let mut threads = Vec::new();
    for thread in 0..4_u32 {
        let (counter, mut log) = (Arc::clone(&counter), recorder.log());
        threads.push(thread::spawn(move || {
            for step in 0..3 {
                match thread {
                    0 | 1 => {
                        let n = 1 << (3 * thread + step);
                        log.call(|| counter.add(n), |()| CounterCall::Add(n));
                    }
                    2 => log.call(|| counter.drain(), CounterCall::Drain),
                    _ => log.call(|| counter.sum(), CounterCall::Sum),
                }
            }
            log.into_calls()
        }));
    }
    let mut calls: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let mut log = recorder.log();
    log.call(|| counter.drain(), CounterCall::Drain);
    calls.extend(log.into_calls());
    check_counter(&calls)
}

/// A counter whose baseline is kept beside it, and read when its reader sees fit.
struct Apart {
    cells: Counter,
    base: AtomicU64,
    base_first: bool,
}

impl Apart {
    fn new(base_first: bool) -> Apart {
        Apart { cells: Counter::new(), base: AtomicU64::new(0), base_first }
    }

    fn base(&self) -> u64 {
        self.base.load(Ordering::Acquire)
    }
}

impl Wrong for Apart {
    fn add(&self, n: u64) {
        self.cells.add(n);
    }

    fn drain(&self) -> u64 {
        loop {
            let (base, sum) = (self.base(), self.cells.sum());
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            if self.base.compare_exchange(base, sum, order, failed).is_ok() {
                return sum - base;
            }
        }
    }

    fn sum(&self) -> u64 {
        if self.base_first {
            let base = self.base();
            self.cells.sum().wrapping_sub(base)
        } else {
            let sum = self.cells.sum();
            sum.wrapping_sub(self.base())
        }
    }
}

#[test]
fn a_sum_that_reads_the_baseline_once_before() {
    let name = "wrong_readers::a_sum_that_reads_the_baseline_once_before";
    finds(name, "a sum found", || history(Apart::new(true)));
}

#[test]
fn a_sum_that_reads_the_baseline_once_after() {
    let name = "wrong_readers::a_sum_that_reads_the_baseline_once_after";
    finds(name, "a sum found", || history(Apart::new(false)));
}

/// A counter whose sum is really a drain.
struct Resets(Counter);

impl Wrong for Resets {
    fn add(&self, n: u64) {
        self.0.add(n);
    }

    fn drain(&self) -> u64 {
        self.0.take()
    }

    fn sum(&self) -> u64 {
        self.0.take()
    }
}

#[test]
fn a_sum_that_resets() {
    finds("wrong_readers::a_sum_that_resets", "a sum found", || history(Resets(Counter::new())));
}

/// A counter that is drained in two steps, as a `LongAdder` is by `sum` and `reset`.
struct TwoSteps(AtomicU64);

impl Wrong for TwoSteps {
    fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::AcqRel);
    }

    fn drain(&self) -> u64 {
        let sum = self.0.load(Ordering::Acquire);
        self.0.store(0, Ordering::Release);
        sum
    }

    fn sum(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[test]
fn a_drain_that_reads_and_then_clears() {
    let name = "wrong_readers::a_drain_that_reads_and_then_clears";
    finds(name, "a drain found", || history(TwoSteps(AtomicU64::new(0))));
}

/// Two threads add to a ring of two buckets and move on, a third reads by `sum`.
fn window_history(
    add: impl Fn(u64, u64) + Clone + Send + 'static,
    sum: impl Fn(u64) -> u64 + Send + 'static,
    rest: impl FnOnce() -> [WindowCall; 3],
) -> Result<(), String> {
    let recorder = Recorder::default();
    let mut threads = Vec::new();
    for bits in [[1, 2, 4], [8, 16, 32]] {
        let (add, mut log) = (add.clone(), recorder.log());
        threads.push(thread::spawn(move || {
            for (bucket, n) in (0..).zip(bits) {
                log.call(|| add(bucket, n), |()| WindowCall::Add(bucket, n));
            }
            log.into_calls()
        }));
    }
    let mut log = recorder.log();
    threads.push(thread::spawn(move || {
        for now in 0..3 {
            log.call(|| sum(now), |found| WindowCall::Sum(now, found));
        }
        log.into_calls()
    }));
    let mut calls: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let mut log = recorder.log();
    for call in rest() {
        log.call(|| (), |()| call);
    }
    calls.extend(log.into_calls());
    WindowHistory { buckets: 2, built_at: 0, calls }.check()
}

/// A window whose reader adds up buckets itself.
fn own_sum(sum: fn(&Window, u64) -> u64) -> Result<(), String> {
    set_time(0);
    let window: Arc<Window> = Arc::new(window(2));
    let (added, read) = (Arc::clone(&window), Arc::clone(&window));
    window_history(
        move |bucket, n| add(&added, bucket, n),
        move |now| sum(&read, now),
        || {
            let live = each(&window, 2)[1];
            let buckets = WindowCall::Buckets(2, vec![(2, live)]);
            [buckets, WindowCall::Late(late(&window)), WindowCall::Lifetime(lifetime(&window))]
        },
    )
}

/// A correct reader, which must not be rejected.
#[test]
fn buckets_of_one_time_add_up() {
    let name = "wrong_readers::buckets_of_one_time_add_up";
    Model::new(name).explore(|| {
        let verdict = own_sum(|window, now| each(window, now).iter().sum());
        assert_eq!(verdict, Ok(()));
    });
}

#[test]
fn a_sum_that_reads_the_time_twice() {
    let name = "wrong_readers::a_sum_that_reads_the_time_twice";
    finds(name, "the sum at bucket", || {
        own_sum(|window, now| {
            set_time(now.saturating_sub(1)); // it has only just become `now`
            let live = window.snapshot().buckets().last().map_or(0, |live| live.sum(Hits::Hit));
            set_time(now);
            live + each(window, now).last().copied().unwrap_or(0) + window.previous().sum(Hits::Hit)
        })
    });
}

/// A ring whose slots are reused in place: the start first, then the count.
#[derive(Default)]
struct InPlace {
    slots: [(AtomicU64, AtomicU64); 2],
    late: AtomicU64,
    all: AtomicU64,
}

impl InPlace {
    fn add(&self, bucket: u64, n: u64) {
        let (start, count) = &self.slots[usize::from(bucket % 2 == 1)];
        self.all.fetch_add(n, Ordering::AcqRel);
        let mut held = start.load(Ordering::Acquire);
        while held < bucket {
            let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match start.compare_exchange(held, bucket, order, failed) {
                Ok(_) => {
                    count.store(0, Ordering::Release);
                    break;
                }
                Err(now) => held = now,
            }
        }
        let place = if held > bucket { &self.late } else { count };
        place.fetch_add(n, Ordering::AcqRel);
    }

    /// Does not check afterwards whose count it was.
    fn sum(&self, now: u64) -> u64 {
        let counts = self.slots.iter().map(|(start, count)| {
            let start = start.load(Ordering::Acquire);
            if start <= now && start + 2 > now { count.load(Ordering::Acquire) } else { 0 }
        });
        counts.sum()
    }
}

#[test]
fn a_sum_that_does_not_look_whether_the_slot_has_moved_on() {
    let name = "wrong_readers::a_sum_that_does_not_look_whether_the_slot_has_moved_on";
    finds(name, "the sum at bucket", || {
        let ring = Arc::new(InPlace::default());
        let (added, read) = (Arc::clone(&ring), Arc::clone(&ring));
        window_history(
            move |bucket, n| added.add(bucket, n),
            move |now| read.sum(now),
            || {
                let of = |cell: &AtomicU64| cell.load(Ordering::Acquire);
                let buckets = WindowCall::Buckets(2, vec![(2, of(&ring.slots[0].1))]);
                [buckets, WindowCall::Late(of(&ring.late)), WindowCall::Lifetime(of(&ring.all))]
            },
        )
    });
}
