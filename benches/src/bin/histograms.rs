//! `histograms [--rounds N]`: what one more value costs, and what three percentiles cost, in
//! windrow's histograms and in `hdrhistogram`.
//!
//! Values are log-normal, around a millisecond in nanoseconds. Each contender records on one thread
//! and on one for each core: the median of a round's CPU time for each operation, its minimum and
//! its maximum.

use std::hint::black_box;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windrow::clock::{Clock, Coarse, Ticker};
use windrow::histogram::Distribution;
use windrow::{Counter, Histogram, SlidingWindow, events};
use windrow_benches::harness::{Contender, Rival, time};
use windrow_benches::lab::entries::{Entry, measure, print, print_rows};
use windrow_benches::terminal::options;

/// Operations of a thread in a round.
const TIMES: u64 = 100_000;
/// The number of reads of a histogram that are timed together.
const READS: u64 = 100;
/// The quantiles of a read.
const ASKED: [f64; 3] = [0.5, 0.9, 0.99];

/// A power of two of values.
static VALUES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut random = fastrand::Rng::with_seed(7);
    let normal = |random: &mut fastrand::Rng| -> f64 {
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0 // nearly
    };
    #[allow(clippy::cast_sign_loss)] // none is negative
    (0..1_024).map(|_| (1e6 * normal(&mut random).exp()) as u64 + 600).collect()
});

/// Gives `record` one value after the other.
#[inline]
fn each(times: u64, mut record: impl FnMut(u64)) {
    let values: &[u64; 1_024] = VALUES.as_slice().try_into().expect("so many");
    for n in 0..times {
        record(black_box(values[n as usize & 1_023]));
    }
}

/// A histogram, how it records many values, and the number of values in it.
struct Of<T, M> {
    histogram: T,
    many: M,
    count: fn(&T) -> u64,
}

impl<T: Send + Sync, M: Fn(&T, u64) + Send + Sync> Rival for Of<T, M> {
    fn add(&self, n: u64) {
        self.add_many(n);
    }

    fn sum(&self) -> u64 {
        (self.count)(&self.histogram)
    }

    fn add_many(&self, times: u64) {
        (self.many)(&self.histogram, times);
    }
}

fn of<T: Send + Sync + 'static>(
    name: &'static str,
    histogram: T,
    many: impl Fn(&T, u64) + Send + Sync + 'static,
    count: fn(&T) -> u64,
) -> Contender {
    Contender::new(name, Of { histogram, many, count })
}

events! { enum Placed { Rt: Histogram } }

/// Returns a window whose interval is an hour: it holds all rounds. One record keeps count, sum,
/// minimum, maximum and percentiles.
fn window<C: Clock>(clock: C) -> SlidingWindow<Placed, C> {
    let builder = SlidingWindow::builder().interval(Duration::from_hours(1)).buckets(60);
    builder.clock(clock).build().expect("sixty minutes")
}

fn in_window<C: Clock + Send + Sync + 'static>(name: &'static str, clock: C) -> Contender {
    of(
        name,
        window(clock),
        |window, times| each(times, |value| window.record(Placed::Rt, value)),
        |window| window.lifetime(Placed::Rt).count,
    )
}

/// Returns a histogram of hdrhistogram's, which does not resize.
fn hdr(digits: u8) -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(500, 60_000_000_000, digits).expect("sound bounds")
}

/// hdrhistogram's own record, by `&mut`: the lock is held over all records of a turn. It is meant
/// for one thread; others wait.
fn own(name: &'static str, digits: u8) -> Contender {
    of(
        name,
        Mutex::new(hdr(digits)),
        |own, times| {
            let mut own = locked(own);
            each(times, |value| own.record(value).expect("in its bounds"));
        },
        |own| locked(own).len(),
    )
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The floor of a record that keeps the same as a window's: plain loads and stores of one thread,
/// without a window, a clock or a row. An octave has eight cells of equal width, so the cell is a
/// count of zeros and a shift.
struct Plain {
    /// Counts and sums.
    cells: Box<[(u64, u64); 512]>,
    max: u64,
    min: u64,
}

impl Plain {
    #[inline]
    fn record(&mut self, value: u64) {
        let octave = (value | 8).ilog2();
        let cell = (value >> (octave - 3)) as usize & 7;
        let (count, sum) = &mut self.cells[(octave as usize * 8 + cell) & 511];
        *count += 1;
        *sum += value;
        if value > self.max {
            self.max = value;
        }
        if value < self.min {
            self.min = value;
        }
    }

    fn count(&self) -> u64 {
        let count = self.cells.iter().map(|cell| cell.0).sum();
        assert!(self.min <= self.max || count == 0);
        count
    }
}

/// Returns all contenders; hdrhistogram's are the first.
fn contenders() -> Vec<Contender> {
    let plain = Plain { cells: Box::new([(0, 0); 512]), max: 0, min: u64::MAX };
    vec![
        own("hdrhistogram: record by &mut, 2 digits", 2),
        own("hdrhistogram: record by &mut, 3 digits", 3),
        of(
            "windrow: Histogram",
            Histogram::new(),
            |histogram, times| each(times, |value| histogram.record(value)),
            Histogram::count,
        ),
        // The cost floor: two adds.
        of(
            "windrow: two Counters",
            <[Counter; 2]>::default(),
            |[sum, count], times| {
                each(times, |value| {
                    sum.add(value);
                    count.increment();
                });
            },
            |[_, count]| count.sum(),
        ),
        in_window("windrow: a window's Histogram, Coarse", Coarse::default()),
        in_window("windrow: a window's Histogram, Ticker", Ticker::start(Duration::from_millis(1))),
        of(
            "a plain floor, 8 cells an octave, by &mut",
            Mutex::new(plain),
            |plain, times| {
                let mut plain = locked(plain);
                each(times, |value| plain.record(value));
            },
            |plain| locked(plain).count(),
        ),
    ]
}

/// Returns an entry of reads of three percentiles, in microseconds.
fn reads(name: &str, read: impl Fn() -> [u64; 3] + 'static) -> Entry<'static> {
    Entry::new(name)
        .column(move || time(|| (0..READS).for_each(|_| _ = black_box(read()))).each(1_000 * READS))
}

fn main() {
    let [rounds] = options("histograms", [("rounds", 15)], &[]).numbers;
    let contenders = contenders();
    let records = contenders.iter().map(|one| Entry::new(one.name).adds(&*one.rival, TIMES));
    let mut records: Vec<_> = records.collect();
    measure("records", rounds, &mut records);
    let heads = ["ns a record", "1 thread", "all cores", "1 thread, to 2 digits", "to 3 digits"];
    print_rows(&heads, &records, |entry| {
        let costs = [0, 1].map(|at| entry.cost(at));
        let ratios = [0, 1].map(|own| entry.ratio(0, &records[own], 0));
        costs.into_iter().chain(ratios).map(|spread| spread.show()).collect()
    });
    let (window, histogram, mut own) = (window(Coarse::default()), Histogram::new(), hdr(2));
    each(TIMES, |value| {
        window.record(Placed::Rt, value);
        histogram.record(value);
        own.record(value).expect("in its bounds");
    });
    let of = |found: Distribution| ASKED.map(|part| found.quantile(part).unwrap_or_default());
    let mut reads = [
        reads("windrow: Histogram", move || of(histogram.distribution())),
        reads("windrow: a window's Histogram", move || of(window.distribution(Placed::Rt))),
        reads("hdrhistogram, 2 digits", move || ASKED.map(|part| own.value_at_quantile(part))),
    ];
    measure("reads", rounds, &mut reads);
    print(&["us a read of three percentiles", "median (least to greatest)"], &reads);
}
