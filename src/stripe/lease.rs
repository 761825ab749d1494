//! Leases: rows of the first bank that one thread has for itself.
//!
//! # Theorem
//!
//! If each thread writes the cells of a row only between the [`take`] that leased it the row and
//! its [giving back](Lease::give_back), then no two threads write a row at the same time, and each
//! thread finds what the thread before it has written there, and writes after it.
//!
//! # Why
//!
//! A lease has one [`Holder`] at a time. Taking is Acquire and giving back is Release, so
//! everything that a thread has done before it gave a row back happens before everything that the
//! next one does with it. So the next one's loads find the last stores of the holder before, and
//! its stores come after them in the order of each cell (*coherence*). A reader that finds a store
//! of the next one has also synchronised with the operations before the stores of the holder
//! before, through the lease.
//!
//! # The choice of a row
//!
//! A thread takes the lowest free row. Open rows are those with the lowest numbers (see
//! [`open_rows`](super::open_rows)), so a row that was leased before is taken before a new one, and
//! the number of open rows is the largest number of leases at one time. A thread that finds no free
//! row has no lease.
//!
//! A thread that is killed (a raw `exit` system call) never gives its row back. The row's cells
//! stay as they are: only the row is lost. The same holds for a thread that leases a row in the C
//! library's last round of key destructors, because no further round would give it back.
//!
//! A forked child takes back the rows of all threads that it does not have
//! ([`take_from_the_absent`]).

use super::banks::first_rows;
use super::settings::MOST_ROWS;
use crate::sync::{alike, global, sized};
use crate::thread_end::holder::Holder;
use crate::thread_end::process;

/// The right to write a row.
#[derive(Debug)]
pub(super) struct Lease {
    holder: Holder,
    /// Witnesses the writes in the row: no two may happen at the same time.
    #[cfg(loom)]
    writes: crate::sync::Witness,
}

/// The maximum number of rows.
const LEASES: usize = sized(MOST_ROWS, 2);

global! {
    /// A lease for each row.
    fn leases() -> [Lease; LEASES] = alike![
        Lease {
            holder: Holder::free(),
            #[cfg(loom)]
            writes: crate::sync::Witness::new(),
        };
        LEASES
    ];
}

/// Leases a row to this thread, and returns it; `None` if no row is free. Async-signal-safe.
#[inline]
pub(super) fn take() -> Option<(usize, &'static Lease)> {
    leases()[..first_rows()].iter().enumerate().find(|(_, lease)| lease.holder.take())
}

impl Lease {
    /// Gives the row back, if it still belongs to the process with this number.
    #[inline]
    pub(super) fn give_back(&self, process: u32) {
        self.holder.give_back(process);
    }
}

/// In a forked child, whose forking thread has leased the row `mine`: frees the rows of all threads
/// that the child does not have.
#[inline]
pub(super) fn take_from_the_absent(mine: Option<usize>) {
    let child = process();
    for (row, Lease { holder, .. }) in leases().iter().enumerate() {
        if Some(row) == mine {
            holder.keep_in_child(child);
        } else if holder.is_absent(child) {
            holder.free_in_child();
        }
    }
}

/// In a model: the thread that has leased `row` is about to write there.
#[cfg(loom)]
pub(super) fn write(row: usize) {
    leases()[row].writes.renew();
}

/// Returns the number of leased rows.
#[cfg(all(test, unix, not(any(loom, shuttle, miri))))]
pub(super) fn taken() -> usize {
    leases().iter().filter(|lease| lease.holder.is_taken()).count()
}
