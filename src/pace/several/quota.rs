//! The state of one of several limits.

use std::time::Duration;

/// One limit of [`Paces`](crate::Paces), or that of a [`Pace`](crate::Pace), and its remaining
/// quota: from [`Paces::quotas`](crate::Paces::quotas) and [`Pace::quota`](crate::Pace::quota).
///
/// ```
/// use std::time::Duration;
/// use windrow::{Paces, clock::Manual, pace::Quota};
///
/// let second = Duration::from_secs(1);
/// let paces = Paces::builder().limit_with_burst(10, second, 5).clock(Manual::default()).build()?;
/// assert!(paces.try_admit(2));
/// let quota: Quota = paces.quotas().next().expect("there is one limit");
/// assert_eq!((quota.burst, quota.refill, quota.left), (5, second / 2, 3));
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quota {
    /// The weight that the limit admits at once after a rest.
    pub burst: u64,
    /// The time in which the whole burst comes back, rounded up to a nanosecond; the interval, if
    /// the burst is the whole limit.
    pub refill: Duration,
    /// The largest weight that the limit would admit without a wait. Other limits may admit less.
    pub left: u64,
}
