//! Error types: one enum for each fallible operation.
//!
//! Every message names the value and the rule that it breaks. No error loses a count: an operation
//! that fails has counted nothing and changed nothing.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::timestamp::Timestamp;

#[cfg(feature = "family")]
mod label_names;
#[cfg(feature = "limits")]
mod limit;
mod out_of_range;

#[cfg(feature = "family")]
pub use label_names::LabelNamesError;
#[cfg(feature = "limits")]
pub use limit::LimitError;
pub use out_of_range::OutOfRangeError;

/// The error of a geometry or clock that a window cannot have, or of a capacity that
/// [`HeavyKeys`](crate::HeavyKeys) cannot have.
///
/// Returned by [`WindowBuilder::build`](crate::WindowBuilder::build),
/// [`SlidingWindow::reconfigure`](crate::SlidingWindow::reconfigure) and
/// [`HeavyKeysBuilder::build`](crate::heavy::HeavyKeysBuilder::build).
///
/// ```
/// use std::time::Duration;
/// use windrow::{BuildError, SlidingWindow, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let error = SlidingWindow::<Hits>::builder()
///     .interval(Duration::from_secs(1))
///     .buckets(0)
///     .build()
///     .unwrap_err();
/// assert_eq!(error, BuildError::NoBuckets);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The interval is zero.
    ZeroInterval,
    /// The number of buckets is zero.
    NoBuckets,
    /// The interval has more nanoseconds than a `u64` holds (584 years).
    IntervalTooLong {
        /// The interval requested.
        interval: Duration,
    },
    /// The buckets do not divide the interval into whole nanoseconds.
    UnevenBuckets {
        /// The interval requested.
        interval: Duration,
        /// The number of buckets requested.
        buckets: usize,
    },
    /// There is no memory for a ring with this number of buckets.
    TooManyBuckets {
        /// The number of buckets requested.
        buckets: usize,
    },
    /// The length of a tier's buckets is not a multiple of that of the buckets below it.
    UnevenTier {
        /// The length of the tier's buckets.
        length: Duration,
        /// The length of the buckets below: those of the tier before, or of the window.
        finer: Duration,
    },
    /// A tier's buckets are longer than the interval below it, so that neither could resolve the
    /// beginning of some spans.
    TierTooCoarse {
        /// The length of the tier's buckets.
        length: Duration,
        /// The interval below: that of the tier before, or of the window.
        interval: Duration,
    },
    /// The clock's resolution is coarser than a tenth of a bucket: buckets would be unequal.
    ClockTooCoarse {
        /// The resolution of the clock.
        resolution: Duration,
        /// The length of a bucket.
        bucket: Duration,
    },
    /// The capacity of heavy keys is zero.
    ZeroCapacity,
    /// The capacity of heavy keys is more than a table can hold.
    CapacityTooHigh {
        /// The capacity requested.
        capacity: usize,
        /// The maximum.
        most: usize,
    },
    /// The number of shards of heavy keys is zero.
    ZeroShards,
}

impl Display for BuildError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::ZeroInterval => {
                write!(f, "the interval is 0 s; it must be longer than 0 s")
            }
            BuildError::NoBuckets => {
                write!(f, "the number of buckets is 0; a window needs at least 1")
            }
            BuildError::IntervalTooLong { interval } => write!(
                f,
                "the interval of {interval:?} is longer than {:?}, the most that 64 bits of \
                 nanoseconds hold",
                Duration::from_nanos(u64::MAX)
            ),
            BuildError::UnevenBuckets { interval, buckets } => write!(
                f,
                "{buckets} buckets do not divide the interval of {interval:?} into whole \
                 nanoseconds"
            ),
            BuildError::TooManyBuckets { buckets } => {
                write!(f, "there is no memory for a ring of {buckets} buckets")
            }
            BuildError::UnevenTier { length, finer } => write!(
                f,
                "the tier's buckets of {length:?} are not a whole number of the buckets of \
                 {finer:?} below"
            ),
            BuildError::TierTooCoarse { length, interval } => write!(
                f,
                "the tier's buckets of {length:?} are longer than the interval of {interval:?} \
                 below"
            ),
            BuildError::ClockTooCoarse { resolution, bucket } => write!(
                f,
                "the clock's resolution of {resolution:?} is coarser than a tenth of the bucket \
                 length of {bucket:?}"
            ),
            BuildError::ZeroCapacity => {
                write!(f, "the capacity is 0 keys; it must be at least 1")
            }
            BuildError::CapacityTooHigh { capacity, most } => {
                write!(f, "the capacity is {capacity} keys; it must be {most} or less")
            }
            BuildError::ZeroShards => {
                write!(f, "the number of shards is 0; it must be at least 1")
            }
        }
    }
}

impl Error for BuildError {}

/// The error of [`Snapshot::merge`](crate::snapshot::Snapshot::merge): a snapshot that cannot be
/// merged. Then nothing was merged.
///
/// ```
/// use windrow::{SlidingWindow, events, snapshot::MergeError};
///
/// events! { enum Hits { Hit: Count } }
///
/// let one = SlidingWindow::<Hits>::builder().build()?; // one second in two buckets
/// let other = SlidingWindow::<Hits>::builder().buckets(4).build()?;
/// let error = one.snapshot().merge(&other.snapshot()).unwrap_err();
/// assert!(matches!(error, MergeError::BucketLength { .. }));
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The snapshots cover intervals of different lengths.
    Interval {
        /// The interval of the snapshot on which `merge` was called.
        this: Duration,
        /// The interval of the snapshot to be merged.
        other: Duration,
    },
    /// The snapshots' buckets have different lengths.
    BucketLength {
        /// The length of a bucket in the snapshot on which `merge` was called.
        this: Duration,
        /// The length of a bucket in the snapshot to be merged.
        other: Duration,
    },
    /// The snapshots were taken at times of different buckets.
    Start {
        /// The start of the newest bucket in the snapshot on which `merge` was called.
        this: Timestamp,
        /// The start of the newest bucket in the snapshot to be merged.
        other: Timestamp,
    },
}

impl Display for MergeError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Interval { this, other } => write!(
                f,
                "the interval of {other:?} is not the {this:?} of the snapshot that it was to be merged into"
            ),
            MergeError::BucketLength { this, other } => write!(
                f,
                "the bucket length of {other:?} is not the {this:?} of the snapshot that it was to be \
                 merged into"
            ),
            MergeError::Start { this, other } => write!(
                f,
                "the newest bucket begins at {other}, and not at {this} as in the snapshot that it was \
                 to be merged into"
            ),
        }
    }
}

impl Error for MergeError {}

/// The error of [`Scale::new`](crate::histogram::Scale::new), a range or schema that no scale can
/// have; and of [`Distribution::merge`](crate::histogram::Distribution::merge), distributions whose
/// scales do not fit. Then nothing was merged.
///
/// ```
/// use windrow::{Histogram, histogram::{Scale, ScaleError}};
///
/// assert_eq!(Scale::new(3, 0, 10), Err(ScaleError::ZeroMin));
///
/// let fine = Histogram::new();
/// fine.record(7); // an empty one would take the scale of the other
/// let coarse = Histogram::with_scale(Scale::fixed::<3, 1_000_000, 2_000_000>());
/// coarse.record(2_000); // below its range
/// coarse.record(3_000);
/// let error = fine.distribution().merge(&coarse.distribution()).unwrap_err();
/// assert!(matches!(error, ScaleError::Outside { count: 2, from: 2_000, .. }));
/// ```
#[doc(alias = "ScaleMismatchError")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScaleError {
    /// The schema is not from 0 to 5.
    Schema {
        /// The schema requested.
        schema: u8,
    },
    /// The minimum of the range is zero, which has no exponential cell. Zeros are counted in any
    /// case, in the cell for all values below the range.
    ZeroMin,
    /// The range ends before it begins.
    EmptyRange {
        /// The minimum requested.
        min: u64,
        /// The maximum requested.
        max: u64,
    },
    /// One distribution counted values below or above its range that may belong to several cells of
    /// the other.
    Outside {
        /// The number of these values.
        count: u64,
        /// The minimum that they can have.
        from: u64,
        /// The maximum that they can have.
        to: u64,
    },
}

impl Display for ScaleError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ScaleError::Schema { schema } => {
                write!(f, "the schema is {schema}; it must be from 0 to 5")
            }
            ScaleError::ZeroMin => {
                write!(f, "the range begins at 0; it must begin at 1 or more")
            }
            ScaleError::EmptyRange { min, max } => {
                write!(f, "the range ends at {max}, before it begins, at {min}")
            }
            ScaleError::Outside { count, from, to } => write!(
                f,
                "{count} values from {from} to {to} are outside of the one's range, and in several \
                 cells of the other's"
            ),
        }
    }
}

impl Error for ScaleError {}
