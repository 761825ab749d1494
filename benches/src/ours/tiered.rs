//! windrow's windows with tiers, and their reads.

use std::hint::black_box;
use std::iter::repeat_n;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Clock, SlidingWindow, Timestamp};

use super::events::Http;
use crate::harness::{Contender, Rival, cores, rival, time_adds};

/// One bucket of the window itself.
const LENGTH: Duration = Duration::from_millis(100);
/// Buckets of the window itself.
const BUCKETS: usize = 10;
const SECOND: Duration = Duration::from_secs(1);
/// The length and the number of a tier's buckets: a minute, an hour, a day, a month.
const TIERS: [(Duration, usize); 4] = [
    (SECOND, 60),
    (Duration::from_mins(1), 60),
    (Duration::from_hours(1), 24),
    (Duration::from_hours(24), 30),
];

/// Returns a window of a second, with the first of the tiers.
fn build<C: Clock>(tiers: usize, clock: C) -> SlidingWindow<Http, C> {
    let builder = SlidingWindow::<Http>::builder().interval(LENGTH * BUCKETS as u32);
    let builder = builder.buckets(BUCKETS).clock(clock);
    let builder = TIERS[..tiers]
        .iter()
        .fold(builder, |builder, &(length, buckets)| builder.tier(length, buckets));
    builder.build().expect("the tiers nest")
}

/// The read that is measured.
#[derive(Clone, Copy)]
enum Read {
    /// The window's own interval.
    Interval,
    /// The sum of this number of seconds.
    Seconds(u64),
    /// All buckets of a tier.
    Series(usize),
}

/// A window that is read.
struct Reads {
    window: SlidingWindow<Http, Manual>,
    read: Read,
}

rival! { Reads:
    add(self, n) => self.window.add(Http::Pass, n);
    sum(self) => {
        match self.read {
            Read::Interval => self.window.sum(Http::Pass),
            Read::Seconds(seconds) => {
                let span = self.window.over(Duration::from_secs(seconds));
                span.expect("within the tiers").sum(Http::Pass)
            }
            Read::Series(tier) => {
                let series = black_box(self.window.series(tier).expect("one of the tiers"));
                series.buckets().iter().map(|bucket| bucket.sum(Http::Pass)).sum()
            }
        }
    };
}

/// Lets two days pass, in steps of a minute, of a second, and in the end of a bucket; with one add
/// at each step by this thread, and one by each core in the newest buckets.
fn fill(window: &SlidingWindow<Http, Manual>, clock: &Manual) {
    clock.set(Timestamp::from_millis(0));
    let minutes = repeat_n(SECOND * 60, 47 * 60);
    for step in minutes.chain(repeat_n(SECOND, 3600)) {
        clock.advance(step);
        window.add(Http::Pass, 1);
    }
    for _ in 0..BUCKETS {
        clock.advance(LENGTH);
        time_adds(window, cores(), 1);
    }
}

fn reads(
    name: &'static str,
    read: Read,
    window: fn(Manual) -> SlidingWindow<Http, Manual>,
) -> Contender {
    let clock = Manual::default();
    let window = window(clock.clone());
    fill(&window, &clock);
    Contender::new(name, Reads { window, read })
}

/// Returns a window of five minutes in buckets of a second, without tiers.
fn fine(clock: Manual) -> SlidingWindow<Http, Manual> {
    let builder = SlidingWindow::<Http>::builder().interval(SECOND * 300).buckets(300);
    builder.clock(clock).build().expect("sound settings")
}

fn tiered(clock: Manual) -> SlidingWindow<Http, Manual> {
    build(TIERS.len(), clock)
}

/// The name of a read of the window's own interval.
pub const INTERVAL: &str = "windrow, 4 tiers: the interval of 1 s";
/// The name of a read of a minute.
pub const MINUTE: &str = "windrow, 4 tiers: 60 s";
/// The name of a read of five minutes.
pub const FIVE_MINUTES: &str = "windrow, 4 tiers: 300 s";
/// The name of a read of a day.
pub const DAY: &str = "windrow, 4 tiers: 24 h";
/// The name of a read of all buckets of the tier of seconds.
pub const SERIES_60: &str = "windrow, 4 tiers: series of 60";
/// The name of a read of all buckets of the tier of hours.
pub const SERIES_24: &str = "windrow, 4 tiers: series of 24";
/// The name of a read of a minute, in a window of seconds without tiers.
pub const WALKED: &str = "windrow, no tiers: 60 of 300 buckets";
/// All of them.
pub const READS: [&str; 7] = [INTERVAL, MINUTE, FIVE_MINUTES, DAY, SERIES_60, SERIES_24, WALKED];

/// Returns the one called `name`.
pub fn make_read(name: &str) -> Option<Contender> {
    Some(match name {
        INTERVAL => reads(INTERVAL, Read::Interval, tiered),
        MINUTE => reads(MINUTE, Read::Seconds(60), tiered),
        FIVE_MINUTES => reads(FIVE_MINUTES, Read::Seconds(300), tiered),
        DAY => reads(DAY, Read::Seconds(24 * 3600), tiered),
        SERIES_60 => reads(SERIES_60, Read::Series(0), tiered),
        SERIES_24 => reads(SERIES_24, Read::Series(2), tiered),
        WALKED => reads(WALKED, Read::Seconds(60), fine),
        _ => return None,
    })
}

/// The name of a window without tiers.
pub const NONE: &str = "windrow, no tiers";
/// The name of a window with one tier.
pub const ONE: &str = "windrow, 1 tier";
/// The name of a window with four tiers.
pub const FOUR: &str = "windrow, 4 tiers";

/// Windows that are added to, on `clock`.
pub fn adds<C: Clock + Clone + Send + Sync + 'static>(clock: &C) -> Vec<Contender> {
    let with = |name, tiers| Contender::new(name, build(tiers, clock.clone()));
    vec![with(NONE, 0), with(ONE, 1), with(FOUR, 4)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::WARM_UP;

    #[test]
    fn every_read_finds_what_it_should() {
        let last = BUCKETS as u64 * cores() as u64 * (1 + WARM_UP);
        let sum = |name| make_read(name).expect("a known read").rival.sum();
        assert_eq!(sum(INTERVAL), last);
        // The shares of a span in its oldest and newest bucket depend on where it begins and ends
        // in them.
        let day = 23 * 60 + 3600;
        for (name, seconds, unsure) in
            [(MINUTE, 60, 2), (FIVE_MINUTES, 300, 61), (DAY, day, 120), (WALKED, 60, 2)]
        {
            let within = seconds - unsure..=seconds + unsure + last;
            let found = sum(name);
            assert!(within.contains(&found), "{name}: {found}, and not in {within:?}");
        }
        assert!(sum(SERIES_60) >= 59 && sum(SERIES_24) >= day - 120);
    }

    #[test]
    fn windows_with_tiers_count() {
        for Contender { name, rival } in adds(&Manual::default()) {
            rival.add_many(42);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}
