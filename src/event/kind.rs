//! The kinds of event.

use crate::histogram::Scale;

/// The kind of an event: the numbers that a bucket keeps of it.
///
/// | kind | counts | a bucket keeps | its [`Stats`](crate::Stats) |
/// |---|---|---|---|
/// | `Count` | a number that only grows | its sum | `count` and `sum`: that sum |
/// | `Signed` | a number that goes up and down | its change | `count` and `sum`: that change |
/// | `Value` | values | count, sum, minimum, maximum | all four |
/// | `Maximum` | values | the maximum | `max`; the others are 0 and `None` |
/// | `Minimum` | values | the minimum | `min`; the others are 0 and `None` |
/// | `Histogram` | values | count and sum of each cell, minimum, maximum | all four |
///
/// The `count` and `sum` of a `Signed` event are in two's complement: `sum.cast_signed()` is the
/// number. The cells of a `Histogram` event
/// are those of its [`Scale`]. It alone has quantiles, in its
/// [distribution](crate::SlidingWindow::distribution).
///
/// The types in [`kind`](crate::kind) tell the compiler what can be done with an event. A `Maximum`
/// or `Minimum` event has no sum, rate or mean.
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
/// The number of cells of each kind:
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
    /// A number that only grows: one cell.
    Count,
    /// A number that goes up and down: one cell.
    Signed,
    /// Values with count, sum, minimum and maximum: four cells.
    Value,
    /// Values with only the maximum: two cells.
    Maximum,
    /// Values with only the minimum: two cells.
    Minimum,
    /// Values with their [`Distribution`](crate::histogram::Distribution): two cells for each cell
    /// of the scale, the two outside of its range included, and two more. With [`Scale::DEFAULT`]
    /// these are 438.
    Histogram(Scale),
}

impl Kind {
    /// Returns the number of cells, of eight bytes each, that an event of this kind takes in a
    /// bucket.
    ///
    /// In each row of a window's blocks, a `Value` takes a fifth cell, and a `Histogram` one more
    /// for each cell of its scale, the two outside of its range included.
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
