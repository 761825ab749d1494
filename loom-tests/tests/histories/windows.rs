//! Windows: many threads that add to any bucket, read, drain and change the geometry.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::{self, sync::Arc, thread};
use windrow_loom_tests::histories::{Log, Recorder, Span, WindowCall, WindowHistory};
use windrow_loom_tests::turn;
use windrow_loom_tests::window::{
    Hits, LENGTH, Window, add, each, interval, late, lifetime, reconfigure, set_time, sum, window,
};

/// A step of a thread; the numbers are buckets.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u64),
    Sum(u64),
    Buckets(u64),
    Lifetime,
    Late,
    Drain,
    Reconfigure(u64),
}

use Step::{Add, Buckets, Drain, Late, Lifetime, Reconfigure, Sum};

/// Builds a window in bucket 0, runs one thread for each list of steps, and reads all at rest. `n`
/// returns the amount of an add.
fn run(buckets: u64, program: &[Vec<Step>], n: impl Fn(u32) -> u64) -> WindowHistory {
    set_time(0);
    let window: Arc<Window> = Arc::new(window(buckets));
    let recorder = Recorder::default();
    let (mut adds, mut newest) = (0, 0);
    let mut threads = Vec::new();
    for steps in program {
        let mut numbered = Vec::new();
        for step in steps {
            if let Add(bucket) = step {
                newest = newest.max(*bucket);
                adds += 1;
            }
            numbered.push((*step, n(adds)));
        }
        let (window, mut log) = (Arc::clone(&window), recorder.log());
        threads.push(thread::spawn(move || {
            if engine::random().is_multiple_of(2) {
                engine::on_second_core();
            }
            for (step, n) in numbered {
                turn();
                take(&window, &mut log, step, n);
            }
            log.into_calls()
        }));
    }
    let mut calls: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let mut log = recorder.log();
    if program.iter().flatten().any(|step| matches!(step, Drain)) {
        close(&window, newest, || take(&window, &mut log, Drain, 0));
    }
    for step in [Sum(newest), Buckets(newest), Late, Lifetime] {
        take(&window, &mut log, step, 0);
    }
    calls.extend(log.into_calls());
    WindowHistory { buckets, built_at: 0, calls }
}

fn take(window: &Window, log: &mut Log<WindowCall>, step: Step, n: u64) {
    match step {
        Add(bucket) => log.call(|| add(window, bucket, n), |()| WindowCall::Add(bucket, n)),
        Sum(now) => log.call(|| sum(window, now), |found| WindowCall::Sum(now, found)),
        Buckets(now) => {
            let numbered = |found: Vec<u64>| (now + 1 - found.len() as u64..).zip(found).collect();
            log.call(|| each(window, now), |found| WindowCall::Buckets(now, numbered(found)));
        }
        Lifetime => log.call(|| lifetime(window), WindowCall::Lifetime),
        Late => log.call(|| late(window), WindowCall::Late),
        Drain => {
            let mut begin = log.stamp();
            window.drain_closed(|bucket| {
                let span = Span { begin, end: log.stamp() };
                let number = bucket.start().as_nanos() / LENGTH;
                log.note(span, WindowCall::Drained(number, bucket.sum(Hits::Hit)));
                begin = log.stamp();
            });
        }
        Reconfigure(buckets) => {
            log.call(|| reconfigure(window, buckets), |()| WindowCall::Reconfigure(buckets));
        }
    }
}

/// Drains until every bucket but the newest is closed: at rest that is soon.
///
/// (On real threads other tests may be pinned, in which case it is not that soon.)
fn close(window: &Window, newest: u64, mut drain: impl FnMut()) {
    set_time(newest);
    for _ in 0..100_000 {
        let snapshot = window.snapshot();
        let (_, older) = snapshot.buckets().split_last().expect("a ring has a bucket");
        let done = older.iter().all(windrow::snapshot::BucketSnapshot::is_closed);
        drain();
        if done {
            return;
        }
        thread::yield_now();
    }
    panic!("at rest, buckets of {:?} were left open", interval(1));
}

/// Each add is a bit, so that every sum tells which adds are in it.
fn bit(add: u32) -> u64 {
    1 << add
}

fn demand(buckets: u64, program: &[Vec<Step>], n: impl Fn(u32) -> u64) {
    let history = run(buckets, program, n);
    if let Err(why) = history.check() {
        let mut calls = history.calls;
        calls.sort_by_key(|call| call.span.begin);
        let calls: Vec<String> = calls.iter().map(|call| format!("{call:?}")).collect();
        panic!("{why}\n{buckets} buckets, program: {program:?}\n{}", calls.join("\n"));
    }
}

/// Three threads add in ever newer buckets, two read, one drains.
#[test]
fn rotations_under_readers_and_a_drain() {
    Model::new("windows::rotations_under_readers_and_a_drain").explore(|| {
        let program = [
            vec![Add(0), Add(1), Add(1), Add(2), Add(4), Add(5)],
            vec![Add(0), Add(1), Add(2), Add(3), Add(3), Add(5)],
            vec![Add(1), Add(2), Add(2), Add(4), Add(5), Add(6)],
            vec![Sum(1), Buckets(2), Sum(4), Buckets(5)],
            vec![Lifetime, Sum(3), Lifetime, Late, Lifetime, Late],
            vec![Drain, Drain, Drain],
        ];
        demand(3, &program, bit);
    });
}

/// The ring goes round several times, so that buckets are reused under three readers.
#[test]
fn headers_used_again_under_readers() {
    Model::new("windows::headers_used_again_under_readers").explore(|| {
        let reader = |first: u64| (first..first + 4).map(Sum).collect();
        let program = [
            (1..=8).map(Add).collect(),
            vec![Add(2), Add(1), Add(4), Add(3), Add(6), Add(5), Add(8), Add(7)],
            reader(1),
            reader(2),
            reader(3),
        ];
        demand(2, &program, bit);
    });
}

/// Two threads move on, three add to buckets that are older, gone, or were skipped.
#[test]
fn back_dated_adds_under_rotations() {
    Model::new("windows::back_dated_adds_under_rotations").explore(|| {
        let program = [
            vec![Add(2), Add(4), Add(6)],
            vec![Add(1), Add(5), Add(7)],
            vec![Add(1), Add(3), Add(0), Add(3)],
            vec![Add(3), Add(1), Add(5), Add(2)],
            vec![Add(2), Add(3), Add(4), Add(5)],
            vec![Buckets(4), Buckets(5), Late, Late],
            vec![Drain, Drain, Drain],
        ];
        demand(4, &program, bit);
    });
}

/// A ring of one slot, which every rotation empties.
#[test]
fn a_ring_of_one_slot() {
    Model::new("windows::a_ring_of_one_slot").explore(|| {
        let program = [
            vec![Add(0), Add(1), Add(2), Add(3)],
            vec![Add(1), Add(2), Add(3), Add(4)],
            vec![Add(0), Add(2), Add(1), Add(4)],
            vec![Sum(1), Sum(2), Sum(3), Sum(4)],
            vec![Late, Lifetime, Late, Lifetime],
        ];
        demand(1, &program, bit);
    });
}

/// Adds, reads and drains while the geometry changes, and changes again.
#[test]
fn changes_of_geometry() {
    Model::new("windows::changes_of_geometry").explore(|| {
        let program = [
            vec![Add(0), Add(1), Add(2), Add(3)],
            vec![Add(1), Add(0), Add(3), Add(4)],
            vec![Reconfigure(4), Reconfigure(2)],
            vec![Reconfigure(3), Add(2)],
            vec![Sum(1), Buckets(3), Lifetime, Sum(4)],
            vec![Drain, Lifetime, Drain],
        ];
        demand(2, &program, bit);
    });
}

/// Another program each time: two to six threads that do as they like.
#[test]
fn any_program() {
    Model::new("windows::any_program").explore(|| {
        let buckets = 1 + below(4);
        let reconfigures = below(4) == 0;
        let threads = 2 + below(5);
        let steps = || {
            let mut time = below(2);
            (0..=below(6)).map(|_| any_step(&mut time, reconfigures)).collect()
        };
        let program: Vec<Vec<Step>> = (0..threads).map(|_| steps()).collect();
        demand(buckets, &program, bit);
    });
}

fn below(end: u64) -> u64 {
    engine::random() % end
}

/// Returns a thread's next step, whose time goes on, mostly.
fn any_step(time: &mut u64, reconfigures: bool) -> Step {
    match below(20) {
        0..=10 => {
            *time += [0, 1, 1, 2][usize::try_from(below(4)).expect("below 4")];
            Add(time.saturating_sub(if below(4) == 0 { below(4) } else { 0 }))
        }
        11..=13 => Sum(*time),
        14 | 15 => Buckets(*time),
        16 => Lifetime,
        17 => Late,
        18 if reconfigures => Reconfigure(1 + below(4)),
        _ => Drain,
    }
}

/// Real threads that stay for long, so that they really meet: histories of a thousand adds.
#[cfg(not(shuttle))]
#[test]
fn long_histories() {
    for _ in 0..5 {
        let adder =
            |behind: u64| (0..400_u64).map(move |add| Add((add / 4).saturating_sub(behind)));
        let reader = || (0..100).flat_map(|now| [Sum(now), Buckets(now)]);
        let program = [
            adder(0).collect(),
            adder(0).collect(),
            adder(3).collect(),
            reader().collect(),
            [Lifetime, Late, Drain].repeat(50),
        ];
        demand(8, &program, |add| u64::from(add % 7));
    }
}
