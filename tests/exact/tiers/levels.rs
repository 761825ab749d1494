//! Long tiers, whose spans are read as slices of several lengths.

use std::collections::BTreeMap;

use testkit::{at_ns, ns};
use windrow::clock::Manual;
use windrow::{SlidingWindow, Stats};

use super::{Seen, window_of};

/// A window of one bucket of a nanosecond with a tier of such buckets, and a book of what it holds.
struct Booked {
    clock: Manual,
    window: SlidingWindow<Seen, Manual>,
    buckets: u64,
    book: BTreeMap<u64, Vec<u64>>,
}

impl Booked {
    fn new(buckets: u64, now: u64) -> Booked {
        let clock = Manual::default();
        clock.set(at_ns(now));
        let window = window_of(&clock, (1, 1), &[(1, buckets as usize)]);
        Booked { clock, window, buckets, book: BTreeMap::new() }
    }

    /// Records values at a time, which may have left the ring.
    fn record(&mut self, at: u64, values: impl IntoIterator<Item = u64>) {
        self.clock.set(at_ns(at));
        for value in values {
            self.window.record(Seen::Rt, value);
            self.book.entry(at).or_default().push(value);
        }
    }

    /// Compares spans of up to `buckets` buckets that end a number of buckets ago.
    fn compare(&self, now: u64, ends: impl Iterator<Item = u64>) {
        self.clock.set(at_ns(now));
        for ago in ends {
            // A single bucket is read from the ring.
            for span in 2..=self.buckets - ago {
                let last = now - ago;
                let values = self.book.range(last + 1 - span..=last).flat_map(|(_, values)| values);
                let values: Vec<u64> = values.copied().collect();
                let (min, max) = (values.iter().min().copied(), values.iter().max().copied());
                let (count, sum) = (values.len() as u64, values.iter().sum());
                let over = self.window.over(ns(span)).expect("the tier reaches so far");
                let found = over.totals_at(at_ns(last)).expect("the tier reaches so far");
                assert_eq!(
                    found.stats(Seen::Rt),
                    Stats { count, sum, min, max },
                    "{span} of {} buckets up to {ago} before {now}",
                    self.buckets,
                );
            }
        }
    }
}

/// Each span of a tier is the sum of its buckets, wherever it begins and ends in the slices above,
/// for late records and for those of closed buckets.
#[test]
fn each_span_of_a_long_tier_is_the_sum_of_its_buckets() {
    for buckets in [2, 31, 32, 33, 34, 40, 41, 49, 65, 264, 265, 266] {
        for phase in (0..64).step_by(if buckets < 100 { 3 } else { 21 }) {
            let mut now = 10_000 + phase;
            let mut booked = Booked::new(buckets, now);
            booked.record(now, [7]);
            for age in (1..buckets).filter(|age| age % 5 != 2) {
                booked.record(now - age, [1_000 + age * 7 % 300, 500 - age]);
            }
            let ends =
                |most: u64| (0..buckets).step_by(1.max(buckets as usize / 20)).take(most as usize);
            booked.compare(now, ends(40));
            // What leaves is not counted any more, and new buckets are closed.
            for step in [1, 8, 3, 1, 67] {
                now += step;
                booked.record(now, [now]);
                booked.record(now - buckets / 2, [now + 1]);
                booked.compare(now, ends(3));
            }
        }
    }
}
