//! `cold [--rounds N]`: an add whose memory is not in the nearest caches, beside that of an atomic.
//!
//! Prints a table for each number of threads. Each time a thread reads other memory, and then adds;
//! all threads add to the same thing. A figure of a round is the mean of the middle half of the
//! times, less that of adding nothing. The last columns are ratios to an atomic's time within a
//! round.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use windrow::{Counter, Family, labels};
use windrow_benches::harness::{WARM_UP, at_once, cores};
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::{Sample, digits};
use windrow_benches::terminal::options;

labels! { struct Route { route: str } }

/// The bytes that are read before an add.
const BETWEEN: [usize; 3] = [64 << 10, 512 << 10, 4 << 20];
/// The bytes of a cache line.
const LINE: usize = 64;
/// The times that are taken in a round.
const TIMES: usize = 101;

static COUNTER: CachePadded<Counter> = CachePadded::new(Counter::new());
static ROUTES: Family<Route, Counter> = Family::new();

/// Times adds, each by itself, after other memory was read; in nanoseconds.
fn cold(between: usize, add: impl Fn()) -> f64 {
    let other = vec![1_u8; between];
    let mut times = [(); TIMES].map(|()| {
        let read = other.iter().step_by(LINE).fold(0_u8, |all, byte| all.wrapping_add(*byte));
        black_box((read, Instant::now())); // the clock is near now
        let begin = Instant::now();
        let middle = Instant::now();
        add();
        let end = Instant::now();
        (end - middle).as_nanos() as f64 - (middle - begin).as_nanos() as f64
    });
    times.sort_unstable_by(f64::total_cmp);
    let middle = &times[TIMES / 4..TIMES - TIMES / 4];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// Returns an entry with a column for each number of threads and of bytes. An add begins with the
/// thing's address: it does not wait for that.
fn entry<T: Sync>(
    name: &str,
    thing: &'static T,
    add: impl Fn(&T) + Copy + Sync + 'static,
) -> Entry<'static> {
    let mut entry = Entry::new(name);
    for threads in [1, cores()] {
        for between in BETWEEN {
            entry = entry.column(move || {
                let sum = Mutex::new(0.0);
                let warm = |_| (0..WARM_UP).for_each(|_| add(thing));
                let ran = at_once(threads, &warm, &|_| {
                    let ns = cold(between, || add(black_box(thing)));
                    *sum.lock().expect("no thread panics with it") += ns;
                });
                let sum = sum.into_inner().expect("no thread panics with it");
                Sample { ns: sum / threads as f64, ..ran }
            });
        }
    }
    entry
}

fn boxed<T>(thing: T) -> &'static T {
    Box::leak(Box::new(thing))
}

fn main() {
    let [rounds] = options("cold", [("rounds", 21)], &[]).numbers;
    let add = |atomic: &AtomicU64| _ = atomic.fetch_add(1, Ordering::Relaxed);
    let handle = |route| boxed(ROUTES.handle(Route { route }));
    let mut all = [
        entry("AtomicU64, in a box", boxed(AtomicU64::new(0)), add),
        entry("AtomicU64, in an Arc in a box", boxed(Arc::new(AtomicU64::new(0))), move |arc| {
            add(arc);
        }),
        entry("windrow, in a box", boxed(Counter::new()), Counter::increment),
        entry("windrow, static", &*COUNTER, Counter::increment),
        entry("windrow, a family's series", &**handle("/carts"), Counter::increment),
        entry("windrow, a handle in a box", handle("/orders"), |series| {
            series.increment(); // a method of the handle, or of its counter in earlier versions
        }),
    ];
    measure("cold adds", rounds, &mut all);
    for (at, title) in ["on one thread", "on all cores"].into_iter().enumerate() {
        let heads = [
            title,
            "64 KiB, ns",
            "512 KiB, ns",
            "4 MiB, ns",
            "of an atomic's, 512 KiB",
            "of an atomic's, 4 MiB",
        ];
        let columns = [0, 1, 2].map(|column| BETWEEN.len() * at + column);
        print_rows(&heads, &all, |entry| {
            let times = columns.map(|column| digits(entry.cost(column).median));
            let ratios = columns.map(|column| entry.ratio(column, &all[0], column).show());
            times.into_iter().chain(ratios.into_iter().skip(1)).collect()
        });
    }
}
