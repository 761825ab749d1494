//! Windows of ten buckets of 100 ms: windrow's with two counts, and with a histogram besides; and
//! two rings of others, with five counts.

use std::hint::black_box;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::histogram::Scale;
use windrow::{Clock, SlidingWindow, events};
use windrow_benches::rivals::leap_array::LeapArray;
use windrow_benches::rivals::mutex_ring::MutexRing;
use windrow_benches::rivals::{LEAP_ARRAY, MUTEX_RING, Ring};

use crate::part::{AT_RANDOM, Part, Row, at_random, bytes, nanos, sets};

events! {
    enum Counts { Ok: Count, Failed: Count }
}
events! {
    enum Timed { Ok: Count, Failed: Count, Rt: Histogram(Scale::fixed::<0, 1_000, 60_000_000_000>()) }
}
events! {
    enum Fine { Ok: Count, Failed: Count, Rt: Histogram }
}

const BUCKETS: usize = 10;
const LENGTH: Duration = Duration::from_millis(100);
const INTERVAL: Duration = Duration::from_secs(1);

/// A window.
trait Window: Sized {
    const NAME: &str;
    /// The greatest number of them that there can be, or that are quick enough to make.
    const MOST: usize;

    fn new(clock: &Manual) -> Self;

    /// Adds once, at the clock's time.
    fn add(&self, clock: &Manual);

    fn sum(&self, clock: &Manual) -> u64;
}

/// Makes contenders of windrow's windows, which differ in an event.
macro_rules! ours {
    ($($events:ty: $name:literal, $most:literal, |$window:ident| $add:expr, $event:expr;)*) => {$(
        impl Window for SlidingWindow<$events, Manual> {
            const NAME: &str = $name;
            const MOST: usize = $most;

            fn new(clock: &Manual) -> Self {
                let builder = SlidingWindow::builder().interval(INTERVAL).buckets(BUCKETS);
                builder.clock(clock.clone()).build().expect("ten buckets")
            }

            fn add(&self, _clock: &Manual) {
                let $window = self;
                $add
            }

            fn sum(&self, _clock: &Manual) -> u64 {
                SlidingWindow::sum(self, $event)
            }
        }
    )*};
}

ours! {
    Counts: "windrow", 1_000_000, |window| SlidingWindow::add(window, Counts::Ok, 1), Counts::Ok;
    Timed: "windrow, a histogram, too", 100_000,
        |window| window.record(Timed::Rt, 1_000_000), Timed::Rt;
    Fine: "windrow, a finer histogram, too", 50_000,
        |window| window.record(Fine::Rt, 1_000_000), Fine::Rt;
}

/// Makes contenders of rings, which are told the time.
macro_rules! rings {
    ($($ring:ty: $name:expr, $most:literal;)*) => {$(
        impl Window for $ring {
            const NAME: &str = $name;
            const MOST: usize = $most;

            fn new(_clock: &Manual) -> Self {
                <$ring>::new(INTERVAL.as_nanos() as u64, BUCKETS)
            }

            fn add(&self, clock: &Manual) {
                self.add_at(clock.now().as_nanos(), 1);
            }

            fn sum(&self, clock: &Manual) -> u64 {
                self.sum_at(clock.now().as_nanos())
            }
        }
    )*};
}

rings! {
    LeapArray: LEAP_ARRAY, 100_000;
    MutexRing: MUTEX_RING, 1_000_000;
}

/// Measures a contender with this number of windows, or with the most that there can be if these
/// are more than a tenth of it.
fn measure<W: Window>(count: usize) -> Option<Row> {
    if W::MOST <= count / 10 {
        return None;
    }
    let count = count.min(W::MOST);
    let clock = Manual::default();
    let made = sets(count) * count;
    let make_all = |all: &mut Vec<W>| all.extend((0..made).map(|_| W::new(&clock)));
    let add_all = |all: &[W]| all.iter().for_each(|window| window.add(&clock));
    let use_each_bucket = |all: &[W]| {
        for _ in 0..BUCKETS {
            clock.advance(LENGTH);
            add_all(all);
        }
    };
    let mut all = Vec::with_capacity(made);
    let making = nanos(made, || make_all(&mut all));
    let first = nanos(made, || add_all(&all));
    use_each_bucket(&all);
    clock.advance(LENGTH);
    let opening = nanos(made, || add_all(&all));
    let order = at_random(count);
    let again = nanos(AT_RANDOM, || {
        for number in &order {
            all[*number as usize].add(&clock);
        }
    });
    let read = nanos(AT_RANDOM, || {
        for number in &order {
            black_box(all[*number as usize].sum(&clock));
        }
    });
    let dropping = nanos(made, || drop(all));
    let mut all = Vec::with_capacity(made);
    let ((), bytes) = bytes(|| {
        make_all(&mut all);
        add_all(&all);
        use_each_bucket(&all);
    });
    let bytes = bytes as f64 / made as f64;
    let figures = vec![bytes, making, first, opening, again, read, dropping];
    Some(Row { contender: W::NAME, count, figures })
}

pub(crate) const PART: Part = Part {
    name: "windows",
    title: "Windows",
    about: "Ten buckets of 100 ms, each used. windrow's have two counts, the two of others five. A \
            histogram is of\nschema 0, from 1 \u{b5}s to 60 s, the finer one of the default scale; of \
            such windows there can be\n327 000 and 56 320.",
    columns: &[
        "bytes",
        "making",
        "first add",
        "add that opens a bucket",
        "add at random",
        "sum at random",
        "dropping",
    ],
    measure: |count| {
        let counts = measure::<SlidingWindow<Counts, Manual>>(count);
        let timed = measure::<SlidingWindow<Timed, Manual>>(count);
        let fine = measure::<SlidingWindow<Fine, Manual>>(count);
        let others = [measure::<LeapArray>(count), measure::<MutexRing>(count)];
        [counts, timed, fine].into_iter().chain(others).flatten().collect()
    },
};
