//! Leases: which rows of the first bank a thread has for itself.
//!
//! # Theorem
//!
//! Let each thread write the cells of a row only between the [`take`] that leased it the row and its [giving back](Lease::give_back).
//! Then no two threads write a row at the same time, and what one has written there the next finds, and comes after it.
//!
//! # Why
//!
//! A lease is a word, which is taken by a compare-exchange. So one thread has it at a time. Taking is Acquire and giving back is Release, so
//! all that a thread has done before it gave a row back happens before all that the next one does with it. So the next
//! one's loads find the last one's last stores, and its stores come after them in the order of each cell (*coherence*). A
//! reader that finds a store of the next one has also synchronised with what led to the last one's, through the lease.
//!
//! # Which row
//!
//! The lowest that is free. Open rows are those of the lowest numbers (see [`open`](super::open)), so a row that was leased before is
//! taken before one that is new, and there are as many open rows as threads have had leases at once. A thread that finds none does
//! without.
//!
//! A thread that is killed (a raw `exit` system call) keeps its row for ever, whose cells stay what they are: nothing is lost but the
//! row. A forked child has one thread, which takes all rows but its own from those that are not there
//! ([`take_from_the_absent`]).

use super::{MOST_ROWS, rows};
use crate::sync::{AtomicBool, Ordering, alike, global, sized};

/// The right to write a row: true while a thread has it.
#[derive(Debug)]
pub(super) struct Lease {
    is_taken: AtomicBool,
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
            is_taken: AtomicBool::new(false),
            #[cfg(loom)]
            writes: crate::sync::Witness::default(),
        };
        LEASES
    ];
}

/// Leases this thread a row, and says which; `None` if there is none to be had. Async-signal-safe.
pub(super) fn take() -> Option<(usize, &'static Lease)> {
    leases()[..rows()].iter().enumerate().find(|(_, lease)| lease.take())
}

impl Lease {
    fn take(&self) -> bool {
        // Relaxed: a look at those that are taken, which are most, writes nothing.
        !self.is_taken.load(Ordering::Relaxed)
            // Acquire: pairs with the Release in `give_back`. Relaxed: another thread has it.
            && self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the row back.
    pub(super) fn give_back(&self) {
        // Release: pairs with the Acquire in `take`.
        self.is_taken.store(false, Ordering::Release);
    }
}

/// In a forked child: gives back all rows but `mine`, of threads that are not there.
pub(super) fn take_from_the_absent(mine: Option<usize>) {
    let absent = leases().iter().enumerate().filter(|(row, _)| Some(*row) != mine);
    absent.for_each(|(_, lease)| lease.give_back());
}

/// In a model: the thread that has leased `row` is about to write there.
#[cfg(loom)]
pub(super) fn write(row: usize) {
    leases()[row].writes.renew();
}

/// How many rows are leased.
#[cfg(all(test, not(miri)))]
pub(super) fn taken() -> usize {
    leases().iter().filter(|lease| lease.is_taken.load(Ordering::Relaxed)).count()
}
