//! The clock hand of a family: where its next sweep begins.
//!
//! A sweep goes round all series once, list by list, and stops where its caller does, also within a
//! list. The next one goes on behind the last series that was looked at.
//!
//! A series is put before its list. So what is left of a list is told by its number of series, from
//! the end: those that come meanwhile stand behind the hand, and have their turn in the next round.
//! (If one that was left is removed meanwhile, one that was looked at is looked at again.)

use crate::family::labels::Labels;
use crate::family::series::Series;
use crate::family::table::Table;

/// The place of a family's clock hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hand {
    list: usize,
    /// The number of series at the end of the list at which the hand has still to look.
    left: usize,
}

impl Hand {
    /// The place before the first list.
    pub(super) const START: Hand = Hand { list: 0, left: usize::MAX };

    /// Returns the place in a list before the last `left` series.
    fn before(list: usize, left: usize) -> Hand {
        if left > 0 { Hand { list, left } } else { Hand { list: list + 1, ..Hand::START } }
    }

    /// Returns all series in the table, each once, from the hand on; each with the place behind it.
    ///
    /// # Safety
    ///
    /// The contract of [`Table::each_of`].
    pub(super) unsafe fn round<L: Labels, M>(
        self,
        table: &Table<L, M>,
    ) -> impl Iterator<Item = (Hand, &Series<L, M>)> {
        let Hand { list, left } = if self.list < table.lists() { self } else { Hand::START };
        // SAFETY: the contract.
        let length = unsafe { table.each_of(list) }.count();
        let passed = length.saturating_sub(left);
        let others = table.occupied(list + 1..table.lists()).chain(table.occupied(0..list));
        let parts = [(list, passed, length)].into_iter();
        let parts =
            parts.chain(others.map(|list| (list, 0, usize::MAX))).chain([(list, 0, passed)]);
        parts.flat_map(|(list, from, to)| {
            // SAFETY: the contract.
            let all = unsafe { table.each_of(list) };
            let length = all.clone().count();
            if length == 0 {
                // SAFETY: the contract.
                unsafe { table.note_empty(list) };
            }
            let each = all.enumerate().take(to).skip(from);
            each.map(move |(at, series)| (Hand::before(list, length - at - 1), series))
        })
    }
}
