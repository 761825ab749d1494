//! The longest time that a refused client is told to wait.
//!
//! # Promise
//!
//! No longer time than the cap is told, and a time within it is told as it is. Clients that stand
//! apart in line are told times as far apart, or come back in different rounds.
//!
//! # Why
//!
//! If each longer time were cut to the cap, then all clients beyond it would be told one time, and
//! come back together. So a longer time is moved down by halves of the cap, into its upper half.

use std::time::Duration;

/// A second in nanoseconds.
const SECOND: u128 = 1_000_000_000;

/// The longest time that a refused client is told, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cap(Option<Duration>);

impl Cap {
    /// Creates a cap.
    ///
    /// # Panics
    ///
    /// If it is zero: clients would come back at once, or never.
    pub(crate) fn of(longest: Duration) -> Cap {
        assert!(!longest.is_zero(), "the longest time to come back after is zero");
        Cap(Some(longest))
    }

    /// Returns the time to tell for the time of a place in line.
    pub(crate) fn hold(self, place: Duration) -> Duration {
        let Some(longest) = self.0.filter(|longest| place > *longest) else { return place };
        let beyond = place.saturating_sub(longest).as_nanos();
        let longest = longest.as_nanos();
        let (lower, upper) = (longest / 2, longest.div_ceil(2));
        let told = match beyond % upper {
            0 => longest,
            rest => lower + rest,
        };
        Duration::new((told / SECOND) as u64, (told % SECOND) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::Cap;
    use std::time::Duration;

    #[test]
    fn times_beyond_the_cap_are_spread_over_its_upper_half() {
        let cap = Cap::of(Duration::from_secs(10));
        let told = |millis| cap.hold(Duration::from_millis(millis)).as_millis();
        assert_eq!([0, 1, 4_000, 9_999, 10_000].map(told), [0, 1, 4_000, 9_999, 10_000]);
        assert_eq!([10_001, 12_500, 15_000, 15_001].map(told), [5_001, 7_500, 10_000, 5_001]);
        assert_eq!(Cap::default().hold(Duration::MAX), Duration::MAX);
    }

    #[test]
    fn no_time_is_longer_than_the_cap_nor_zero() {
        let mut random = 7_u64;
        for longest in [1, 2, 3, 1_000, 1_001, u64::MAX] {
            let cap = Cap::of(Duration::from_nanos(longest));
            for _ in 0..1_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                for place in [random, random >> 32, longest.saturating_add(random >> 50)] {
                    let told = cap.hold(Duration::from_nanos(place.max(1)));
                    assert!(told <= Duration::from_nanos(longest) && !told.is_zero());
                }
            }
        }
        for longest in [Duration::from_nanos(1), Duration::from_secs(3_600), Duration::MAX] {
            let told = Cap::of(longest).hold(Duration::MAX);
            assert!(told <= longest && !told.is_zero());
        }
    }

    #[test]
    #[should_panic(expected = "is zero")]
    fn a_cap_of_zero_is_refused() {
        let _ = Cap::of(Duration::ZERO);
    }
}
