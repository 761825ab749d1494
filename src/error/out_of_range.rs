//! The error of a timestamp or span that a window does not have.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::timestamp::Timestamp;

/// The error of a timestamp that [`SlidingWindow::add_at`](crate::SlidingWindow::add_at),
/// [`record_at`](crate::SlidingWindow::record_at) or
/// [`Over::totals_at`](crate::snapshot::Over::totals_at) refuses, or of a span that
/// [`over`](crate::SlidingWindow::over) cannot read. Then nothing was counted.
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, Timestamp, clock::Manual, events, snapshot::OutOfRangeError};
///
/// events! { enum Hits { Hit: Count } }
///
/// let clock = Manual::default();
/// clock.set(Timestamp::from_millis(60_000));
/// let window = SlidingWindow::<Hits>::builder().clock(clock).build()?; // one second
/// let early = window.add_at(Timestamp::from_millis(1), Hits::Hit, 1).unwrap_err();
/// assert!(matches!(early, OutOfRangeError::BeforeRing { .. }));
/// let ahead = window.add_at(Timestamp::from_millis(70_000), Hits::Hit, 1).unwrap_err();
/// assert!(matches!(ahead, OutOfRangeError::AfterNow { .. }));
/// let long = window.over(Duration::from_secs(2)).unwrap_err();
/// assert!(matches!(long, OutOfRangeError::SpanTooLong { .. }));
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "SpanError")]
#[non_exhaustive]
pub enum OutOfRangeError {
    /// The timestamp lies after the bucket that contains the clock's time.
    AfterNow {
        /// The timestamp given.
        at: Timestamp,
        /// The clock's time.
        now: Timestamp,
    },
    /// The bucket of the timestamp is further ahead of the newest bucket than
    /// [`max_lead`](crate::WindowBuilder::max_lead) allows.
    BeyondLead {
        /// The timestamp given.
        at: Timestamp,
        /// The start of the newest bucket.
        newest: Timestamp,
        /// The maximum lead of the window.
        max_lead: Duration,
    },
    /// The bucket of the timestamp has left the ring.
    BeforeRing {
        /// The timestamp given.
        at: Timestamp,
        /// The start of the oldest bucket that is still in the ring.
        oldest: Timestamp,
    },
    /// A bucket of the span that ends with the bucket of the timestamp has left the ring. Only from
    /// [`Over::totals_at`](crate::snapshot::Over::totals_at).
    SpanBeforeRing {
        /// The timestamp given.
        at: Timestamp,
        /// The start of the span's oldest bucket.
        from: Timestamp,
        /// The start of the oldest bucket that is still in the ring.
        oldest: Timestamp,
    },
    /// The span is zero.
    ZeroSpan,
    /// The span is longer than the longest that the window can read.
    SpanTooLong {
        /// The span requested.
        span: Duration,
        /// The window's interval, or that of its longest tier.
        interval: Duration,
    },
}

impl Display for OutOfRangeError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            OutOfRangeError::AfterNow { at, now } => write!(
                f,
                "the timestamp {} ns lies after the current bucket; the clock says {} ns",
                at.as_nanos(),
                now.as_nanos()
            ),
            OutOfRangeError::BeyondLead { at, newest, max_lead } => write!(
                f,
                "the timestamp {} ns leads the newest bucket, at {} ns, by more than {max_lead:?}",
                at.as_nanos(),
                newest.as_nanos()
            ),
            OutOfRangeError::BeforeRing { at, oldest } => write!(
                f,
                "the timestamp {} ns lies before the ring, which begins at {} ns",
                at.as_nanos(),
                oldest.as_nanos()
            ),
            OutOfRangeError::SpanBeforeRing { at, from, oldest } => write!(
                f,
                "the span that ends at the timestamp {} ns begins at {} ns, before the ring, which \
                 begins at {} ns",
                at.as_nanos(),
                from.as_nanos(),
                oldest.as_nanos()
            ),
            OutOfRangeError::ZeroSpan => {
                write!(f, "the span is 0 s; it must cover at least one bucket")
            }
            OutOfRangeError::SpanTooLong { span, interval } => write!(
                f,
                "the span of {span:?} is longer than the longest interval that is read, {interval:?}"
            ),
        }
    }
}

impl Error for OutOfRangeError {}
