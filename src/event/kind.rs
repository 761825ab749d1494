//! The kinds of event.

use crate::histogram::Scale;

/// How an event is counted.
///
/// | kind | of | a bucket keeps | [`Stats`](crate::Stats) of it |
/// |---|---|---|---|
/// | `Count` | a number that adds up | its sum | `count` and `sum` are both that |
/// | `Signed` | a number that goes up and down | by how much | the same, as [two's complement](crate::Stats::signed_sum) |
/// | `Value` | values | count, sum, least and greatest | all four |
/// | `Maximum` | values | the greatest | `max`; the others are 0 and `None` |
/// | `Minimum` | values | the least | `min`; the others are 0 and `None` |
/// | `Histogram` | values | count and sum of each cell of its [`Scale`], least and greatest | all four; and its [distribution](crate::SlidingWindow::distribution) has percentiles |
///
/// What can be done with an event, the compiler knows by its type in [`kind`](crate::kind). A
/// `Maximum` or `Minimum` has no sum, rate or mean.
///
/// ```
/// use windrow::{SlidingWindow, events};
///
/// events! {
///     enum Queue { Pushed: Count, Grown: Signed, Waited: Value, Depth: Maximum, Room: Minimum }
/// }
///
/// let window = SlidingWindow::<Queue>::builder().build()?;
/// for depth in [3, 9, 0] {
///     window.add(Queue::Pushed, 1);
///     window.add(Queue::Grown, -1);
///     window.record(Queue::Waited, 10 * depth);
///     window.record(Queue::Depth, depth);
///     window.record(Queue::Room, 100 - depth);
/// }
/// assert_eq!(window.sum(Queue::Pushed), 3);
/// assert_eq!(window.sum(Queue::Grown), -3);
/// assert_eq!(window.stats(Queue::Waited).mean(), Some(40.0));
/// assert_eq!(window.stats(Queue::Depth).max, Some(9));
/// assert_eq!(window.stats(Queue::Room).min, Some(91));
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// Each takes so many cells:
///
/// ```
/// use windrow::Kind;
///
/// assert_eq!(Kind::Count.cells(), 1);
/// assert_eq!(Kind::Value.cells(), 4);
/// assert_eq!(Kind::Maximum.cells(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A number that adds up: one cell.
    Count,
    /// A number that goes up and down: one cell.
    Signed,
    /// Values, of which the count, sum, minimum and maximum are kept: four cells.
    Value,
    /// Values, of which the greatest alone is kept: two cells.
    Maximum,
    /// Values, of which the least alone is kept: two cells.
    Minimum,
    /// Values, of which the [`Distribution`](crate::histogram::Distribution) is kept: two cells for
    /// each cell of the scale and for what is below and above its range, and two more. With
    /// [`Scale::DEFAULT`] these are 438.
    Histogram(Scale),
}

impl Kind {
    /// How many cells of eight bytes an event of this kind takes in a bucket.
    ///
    /// In each row of a window's blocks, a `Value` takes a fifth cell besides, and a `Histogram`
    /// one for each cell of its scale and for what is outside of its range.
    ///
    /// ```
    /// use windrow::{Kind, histogram::Scale};
    ///
    /// assert_eq!(Kind::Value.cells(), 4);
    /// assert_eq!(Kind::Histogram(Scale::DEFAULT).cells(), 2 * (216 + 2) + 2);
    /// ```
    pub const fn cells(self) -> usize {
        match self {
            Kind::Count | Kind::Signed => 1,
            Kind::Value => 4,
            Kind::Maximum | Kind::Minimum => 2,
            Kind::Histogram(scale) => 2 * scale.places() + 2,
        }
    }
}
