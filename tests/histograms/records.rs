//! Records on several threads, while others read and drain.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::ledger::Progress;
use testkit::{Finish, Rng, alone, race};
use windrow::{
    Histogram,
    histogram::{Distribution, Scale},
};

use crate::{counts, distribution};

const WRITERS: usize = 4;
const RECORDS: usize = 20_000;

const SCALE: Scale = Scale::fixed::<3, 100, 1_000_000>();

/// Returns what a writer records: of all cells, and from below and above.
fn values(writer: usize) -> impl Iterator<Item = u64> {
    let mut random = Rng::with_seed(writer as u64);
    (0..RECORDS).map(move |_| random.u64(..) >> random.u32(36..64))
}

fn all_values() -> Vec<u64> {
    (0..WRITERS).flat_map(values).collect()
}

/// Checks that the count is that of the cells, and that each counted value lies between the
/// extremes.
fn agrees(found: &Distribution) {
    assert_eq!(found.count(), found.cells().map(|(_, count)| count).sum::<u64>());
    assert!(found.count() <= (WRITERS * RECORDS) as u64, "below zero: {found:?}");
    if let (Some(min), Some(max)) = (found.min(), found.max()) {
        let ends: Vec<_> = found.cells().map(|(values, _)| values).collect();
        assert!(ends[0].contains(&min) && ends[ends.len() - 1].contains(&max), "{found:?}");
    }
}

/// Returns whether no cell has less than before.
fn has_grown(before: &Distribution, now: &Distribution) -> bool {
    let now = counts(now);
    counts(before).iter().all(|(end, count)| {
        now.binary_search_by_key(end, |(end, _)| *end).is_ok_and(|at| now[at].1 >= *count)
    })
}

/// Everything at once. The values that were drained, and those that are left, are all that there
/// were.
fn storm() {
    let histogram = Histogram::with_scale(SCALE);
    let progress: [Progress; WRITERS] = Default::default();
    let finished = AtomicBool::new(false);
    let drained = Mutex::new(distribution(SCALE, &[]));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    let taken = histogram.take();
                    agrees(&taken);
                    let mut drained = drained.lock().expect("no thread panics with it");
                    // Also if it counts nothing: its sum may be ahead.
                    drained.merge(&taken).expect("the same scale");
                }
            });
        }
        scope.spawn(|| {
            let mut last = histogram.lifetime();
            while !finished.load(Ordering::Acquire) {
                let [done, _] = Progress::done(&progress);
                let now = histogram.lifetime();
                let [begun, _] = Progress::begun(&progress);
                agrees(&now);
                agrees(&histogram.distribution());
                assert!(
                    (done..=begun).contains(&now.count()),
                    "{now:?} is not in {done}..={begun}"
                );
                assert!(has_grown(&last, &now), "{last:?}, then {now:?}");
                assert!(last.min() >= now.min() || last.count() == 0);
                assert!(last.max() <= now.max());
                last = now;
            }
        });
        let finish = Finish(&finished);
        race(WRITERS, |writer| {
            for value in values(writer) {
                progress[writer].around(1, 0, || {
                    histogram.record(value);
                    Some(())
                });
            }
        });
        drop(finish);
    });
    let exact = distribution(SCALE, &all_values());
    assert_eq!(exact.count(), (WRITERS * RECORDS) as u64); // for another histogram, by one thread
    assert_eq!(histogram.lifetime(), exact);
    let mut drained = drained.into_inner().expect("no thread has panicked");
    drained.merge(&histogram.take()).expect("the same scale");
    assert_eq!((counts(&drained), drained.sum()), (counts(&exact), exact.sum()));
    assert!(histogram.take().count() == 0);
    assert_eq!(histogram.sum(), 0);
}

#[test]
fn each_record_is_in_one_drain_while_others_read() {
    storm();
}

/// In other processes: portably, with rows by processor, and where most threads have no row of
/// their own.
#[test]
fn each_record_is_in_one_drain_on_each_strategy_and_with_one_row() {
    let each =
        [("WINDROW_STRATEGY", "portable"), ("WINDROW_STRATEGY", "cpu-id"), ("WINDROW_ROWS", "1")];
    for variable in each {
        alone::run("records::each_record_is_in_one_drain_here", &[variable]);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn each_record_is_in_one_drain_here() {
    (0..5).for_each(|_| storm()); // with one row, some threads must run at the same time
}

/// The first records of several threads, again and again: each makes the columns, or finds them.
#[test]
fn nothing_is_lost_where_the_first_records_meet() {
    for round in 0..500 {
        let histogram = Histogram::with_scale(SCALE);
        race(3, |index| {
            histogram.record(1_000 + index as u64);
            histogram.record(round);
        });
        assert_eq!((histogram.count(), histogram.sum()), (6, 3_003 + 3 * round));
    }
}

/// Columns that were given back are zero for the next.
#[test]
fn a_new_histogram_is_empty_wherever_another_was() {
    for round in 0..200 {
        let histogram = Histogram::new();
        assert!(histogram.distribution().count() == 0);
        (0..100).for_each(|value| histogram.record(value * 1_000 + round));
        _ = histogram.take();
        histogram.record(5);
        assert_eq!(counts(&histogram.take()), [(512, 1)]);
    }
}

/// No address space: no columns. It counts in cells that all threads share.
#[test]
#[cfg(target_os = "linux")]
fn records_count_without_room_for_columns() {
    alone::run("records::records_count_without_room_for_columns_here", &[]);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "run by another test, in a process of its own"]
fn records_count_without_room_for_columns_here() {
    let histogram = Histogram::with_scale(SCALE);
    with_no_more_memory(|| histogram.record(1_000));
    race(WRITERS, |writer| values(writer).for_each(|value| histogram.record(value)));
    let exact = distribution(SCALE, &[all_values(), vec![1_000]].concat());
    assert_eq!(histogram.lifetime(), exact);
    assert!(histogram.distribution() == exact && histogram.take() == exact);
}

/// Runs `body` where no segment of columns can be mapped: of one row it has 64 KiB. The heap has
/// enough memory.
#[cfg(target_os = "linux")]
pub(crate) fn with_no_more_memory<R>(body: impl FnOnce() -> R) -> R {
    windrow::diagnostics::strategy();
    let used = std::fs::read_to_string("/proc/self/statm").expect("the size of this process");
    let pages: u64 = used.split(' ').next().and_then(|size| size.parse().ok()).expect("pages");
    let limit =
        libc::rlimit { rlim_cur: (pages * 4_096) as libc::rlim_t, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: it sets a limit of this process, and takes it back.
    unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0) };
    let result = body();
    let all = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: as above.
    unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const all), 0) };
    result
}
