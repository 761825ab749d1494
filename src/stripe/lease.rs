//! Leases: which rows of the first bank a thread has for itself.
//!
//! # Theorem
//!
//! Let each thread write the cells of a row only between the [`take`] that leased it the row and
//! its [giving back](Lease::give_back). Then no two threads write a row at the same time, and what
//! one has written there the next finds, and comes after it.
//!
//! # Why
//!
//! A lease has one [`Holder`] at a time. Taking is Acquire and giving back is Release, so all that
//! a thread has done before it gave a row back happens before all that the next one does with it.
//! So the next one's loads find the last one's last stores, and its stores come after them in the
//! order of each cell (*coherence*). A reader that finds a store of the next one has also
//! synchronised with what led to the last one's, through the lease.
//!
//! # Which row
//!
//! The lowest that is free. Open rows are those of the lowest numbers (see [`open`](super::open)),
//! so a row that was leased before is taken before one that is new, and there are as many open rows
//! as threads have had leases at once. A thread that finds none does without.
//!
//! A thread that is killed (a raw `exit` system call) keeps its row for ever, whose cells stay what
//! they are: nothing is lost but the row. So does one that leases it in the C library's last round
//! of destructors of keys: none follows that would give it back.
//!
//! A forked child takes all rows from threads that are not there ([`take_from_the_absent`]).

use super::{MOST_ROWS, first_rows};
use crate::sync::{alike, global, sized};
use crate::thread_end::holder::Holder;
use crate::thread_end::process;

/// The right to write a row.
#[derive(Debug)]
pub(super) struct Lease {
    holder: Holder,
    /// Of the writes in the row: none may come at the same time as another.
    #[cfg(loom)]
    writes: crate::sync::Witness,
}

/// As many as there may be rows.
const LEASES: usize = sized(MOST_ROWS, 2);

global! {
    /// A lease for each row.
    fn leases() -> [Lease; LEASES] = alike![
        Lease {
            holder: Holder::nobody(),
            #[cfg(loom)]
            writes: crate::sync::Witness::new(),
        };
        LEASES
    ];
}

/// Leases this thread a row, and says which; `None` if there is none to be had. Async-signal-safe.
pub(super) fn take() -> Option<(usize, &'static Lease)> {
    leases()[..first_rows()].iter().enumerate().find(|(_, lease)| lease.holder.take())
}

impl Lease {
    /// Gives the row back, if it is still of the process with this number.
    pub(super) fn give_back(&self, process: u32) {
        self.holder.give_back(process);
    }
}

/// In a forked child, whose forking thread has leased the row `mine`: frees the rows of threads
/// that are not there.
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

/// How many rows are leased.
#[cfg(all(test, not(any(loom, shuttle, miri))))]
pub(super) fn taken() -> usize {
    leases().iter().filter(|lease| lease.holder.is_taken()).count()
}
