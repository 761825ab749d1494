//! Where the cells of a set of events stand: told by their kinds, and by nothing else.

use super::Event;
use crate::layout::{Place, Shape};

/// What windows know of the cells of `E`'s events.
///
/// Sealed, as nobody outside can name it: [`Event`] is a safe trait that anybody may implement, while the
/// path of an add takes a place on trust, without looking whether it is within the block. So places are
/// never said by an implementation. They follow from [`Event::EVENTS`], and are checked here, once, when
/// a window is compiled.
#[diagnostic::on_unimplemented(
    message = "`Event::Cells` must be `[u64; N]`, N being the sum of all events' `Kind::cells`"
)]
pub trait Positions<E> {
    /// How many cells there are, and which add up.
    const SHAPE: Shape;
    /// The place of each event, in the order of their indexes: as many as there are events.
    const PLACES: &'static [Place];
}

impl<E: Event<Cells = [u64; M]>, const M: usize> Positions<E> for [u64; M] {
    const SHAPE: Shape = {
        let shape = Shape::of(E::EVENTS);
        shape.check();
        assert!(
            shape.cells() == M,
            "`Event::Cells` must be `[u64; N]`, N being the sum of all events' `Kind::cells`"
        );
        let mut cell = 0;
        while cell < M {
            assert!(E::ZERO[cell] == 0, "`Event::ZERO` must be all zero");
            cell += 1;
        }
        shape
    };

    // An event has a cell at least: there are as many cells as events, or more.
    const PLACES: &'static [Place] = {
        let places: &[Place; M] =
            const { &Place::all(<[u64; M] as Positions<E>>::SHAPE, E::EVENTS) };
        places.split_at(E::EVENTS.len()).0
    };
}
