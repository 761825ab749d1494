//! The cells of events of which some are histograms.

use std::fmt::{self, Debug, Formatter};

use super::cells::EventCells;
use super::layout::BucketLayout;
use super::{Events, Positions, are_zero, layout_of};

/// The cells of a bucket of events of which some are histograms: `N` cells, of which `K` are of
/// other kinds of events, or extremes. It is what [`events!`](crate::events!) takes as
/// [`Events::Cells`](crate::Events::Cells) where there is a `Histogram`.
///
/// A snapshot holds the `K` cells of each bucket in place, and of the others those that are not
/// zero: of a histogram most are. (With `[u64; N]` it would hold all of them.)
///
/// ```
/// use windrow::{Event, Events, Kind, SlidingWindow, WideCells, kind, histogram::Scale};
///
/// struct Disk;
///
/// impl Events for Disk {
///     const EVENTS: &'static [(&'static str, Kind)] =
///         &[("latency", Kind::Histogram(Scale::DEFAULT))];
///     type Cells = WideCells<438, 2>; // as many as `Kind::cells` says; the extremes are two
///     const ZERO: Self::Cells = WideCells::ZERO;
/// }
///
/// const LATENCY: Event<Disk, kind::Histogram> = Event::at(0);
///
/// let window = SlidingWindow::<Disk>::builder().build()?;
/// window.record(LATENCY, 1_500);
/// assert_eq!(window.snapshot().distribution(LATENCY).max(), Some(1_500));
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[derive(Clone)]
pub struct WideCells<const N: usize, const K: usize>([u64; N]);

impl<const N: usize, const K: usize> WideCells<N, K> {
    /// All zero.
    ///
    /// ```
    /// let zero: windrow::WideCells<438, 2> = windrow::WideCells::ZERO;
    /// assert_eq!(zero.as_ref(), [0; 438]);
    /// ```
    pub const ZERO: WideCells<N, K> = WideCells([0; N]);
}

impl<const N: usize, const K: usize> AsRef<[u64]> for WideCells<N, K> {
    fn as_ref(&self) -> &[u64] {
        &self.0
    }
}

impl<const N: usize, const K: usize> AsMut<[u64]> for WideCells<N, K> {
    fn as_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// Shows them as a list.
impl<const N: usize, const K: usize> Debug for WideCells<N, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Events<Cells = WideCells<N, K>>, const N: usize, const K: usize> Positions<E>
    for WideCells<N, K>
{
    const LAYOUT: BucketLayout = {
        are_zero(&E::ZERO.0);
        let layout = layout_of::<E>(N);
        assert!(
            layout.wide() + K == N,
            "of `WideCells<N, K>`, K must be how many cells are not of a `Histogram`, and two for each `Histogram`"
        );
        layout
    };

    // As of an array.
    const CELLS: &'static [EventCells] = {
        let cells: &[EventCells; N] =
            const { &EventCells::all(<WideCells<N, K> as Positions<E>>::LAYOUT, E::EVENTS) };
        cells.split_at(E::EVENTS.len()).0
    };

    type InPlace = [u64; K];
    const IN_PLACE: [u64; K] = [0; K];
}
