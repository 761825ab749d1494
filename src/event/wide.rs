//! The cells of a set of events with histograms.

use std::fmt::{self, Debug, Formatter};

use super::cells::EventCells;
use super::layout::BucketLayout;
use super::{Events, Positions, layout_of};

/// The cells of a bucket whose events include histograms: `N` cells, of which `K` are extremes or
/// belong to other kinds of events. [`events!`](crate::events!) makes it the
/// [`Events::Cells`](crate::Events::Cells) of a set with a `Histogram`.
///
/// A snapshot stores the `K` cells of each bucket inline, and of the others only those that are not
/// zero, which are few in a histogram. (With `[u64; N]` it would store all of them.)
///
/// ```
/// use windrow::{Event, Events, Kind, SlidingWindow, WideCells, kind, histogram::Scale};
///
/// struct Disk;
///
/// impl Events for Disk {
///     const EVENTS: &'static [(&'static str, Kind)] =
///         &[("latency", Kind::Histogram(Scale::DEFAULT))];
///     type Cells = WideCells<438, 2>; // `Kind::cells` of all events; two of them are extremes
/// }
///
/// const LATENCY: Event<Disk, kind::Histogram> = Event::at(0);
///
/// let window = SlidingWindow::<Disk>::builder().build()?;
/// window.record(LATENCY, 1_500);
/// assert_eq!(window.snapshot().totals().distribution(LATENCY).max(), Some(1_500));
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[derive(Clone)]
pub struct WideCells<const N: usize, const K: usize>([u64; N]);

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

/// Shows the cells as a list.
impl<const N: usize, const K: usize> Debug for WideCells<N, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Events<Cells = WideCells<N, K>>, const N: usize, const K: usize> Positions<E>
    for WideCells<N, K>
{
    const ZERO: WideCells<N, K> = WideCells([0; N]);

    const LAYOUT: BucketLayout = {
        let layout = layout_of::<E>(N);
        assert!(
            layout.wide() + K == N,
            "in `WideCells<N, K>`, K must be the number of cells of other kinds, and two for each `Histogram`"
        );
        layout
    };

    // As for an array.
    const CELLS: &'static [EventCells] = {
        let cells: &[EventCells; N] =
            const { &EventCells::all(<WideCells<N, K> as Positions<E>>::LAYOUT, E::EVENTS) };
        cells.split_at(E::EVENTS.len()).0
    };

    type InPlace = [u64; K];
    const IN_PLACE: [u64; K] = [0; K];
}
