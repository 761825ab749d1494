//! windrow's windows with tiers.

use std::time::Duration;

use windrow::{Clock, SlidingWindow};

use super::events::Http;
use crate::harness::Contender;

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
    use windrow::clock::Manual;

    use super::*;

    #[test]
    fn windows_with_tiers_count() {
        for Contender { name, rival } in adds(&Manual::default()) {
            rival.add_many(42);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}
