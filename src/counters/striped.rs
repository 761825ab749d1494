//! A number on a column of its own: the part that all counters share.
//!
//! A [`Striped`] is made in a `const`, without a column. The first add claims one. If the arena is full,
//! the number counts in its fallback cell from then on, as any atomic does. The column pointer changes
//! once, from null to a column or to [`TaggedColumn::Unavailable`]. So readers need not retry: an add
//! that they have synchronised with went to a cell that they find.
//!
//! Adds that cannot use this core's row also go to the fallback cell: a plain add and a locked one never
//! meet in a cell.

use std::ptr::null_mut;

use crate::arena::arena;
use crate::arena::by_row::ByRow;
use crate::arena::rows;
use crate::stripe::miss::Miss;
use crate::stripe::per_core::{self, Numbering, PerCoreColumn};
use crate::stripe::portable::Mine;
use crate::stripe::retry::retry_after;
use crate::stripe::{self, TaggedColumn, portable};
use crate::sync::{AtomicPtr, AtomicU64, Ordering, const_fn, fence};

/// A number that all cores may write at once.
pub(crate) struct Striped {
    /// A [`TaggedColumn`], encoded.
    column: AtomicPtr<AtomicU64>,
    /// What it began with, what was added without a column, and by threads without a row.
    fallback: AtomicU64,
}

impl Striped {
    const_fn! {
        pub(crate) const fn new() -> Striped {
            Striped { column: AtomicPtr::new(null_mut()), fallback: AtomicU64::new(0) }
        }
    }

    /// A number that begins at `n`.
    pub(crate) fn starting_at(n: u64) -> Striped {
        Striped { column: AtomicPtr::new(null_mut()), fallback: AtomicU64::new(n) }
    }

    /// Adds `n`, wrapping. `order` is at least Release.
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of an add
    pub(crate) fn add(&self, n: u64, order: Ordering) {
        let word = self.word();
        if let Some(column) = per_core::by_id(word) {
            self.add_in_sequence(column, n, order);
        // SAFETY: as in `tagged`.
        } else if let Some(cell) = unsafe { portable::leased(word) } {
            cell.add(n, order);
        // SAFETY: the same, and it is not per core by concurrency id.
        } else if let Some(cell) = unsafe { portable::dealt(word) } {
            cell.add(0, n, order);
        } else if let Some(column) = per_core::by_processor(word) {
            self.add_in_sequence(column, n, order);
        } else {
            self.add_first(n, order);
        }
    }

    /// Raises the number to `value`, unless it is there already.
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of an add
    pub(crate) fn raise(&self, value: u64) {
        let word = self.word();
        if let Some(column) = per_core::by_id(word) {
            self.raise_in_sequence(column, value);
        // SAFETY: as in `add`.
        } else if let Some(cell) = unsafe { portable::leased(word) } {
            cell.raise(value);
        // SAFETY: as in `add`.
        } else if let Some(cell) = unsafe { portable::dealt(word) } {
            cell.raise(0, value);
        } else if let Some(column) = per_core::by_processor(word) {
            self.raise_in_sequence(column, value);
        } else {
            self.raise_first(value);
        }
    }

    /// The sum of all that was added.
    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        let rows = self.tagged().column().map_or(0, rows::sum);
        rows.wrapping_add(self.beside_rows())
    }

    /// What was added without a row.
    #[inline]
    fn beside_rows(&self) -> u64 {
        // Acquire: pairs with the Release of the add, as in `rows::value`.
        self.fallback.load(Ordering::Acquire)
    }

    /// What each row holds of it, and what is not in rows.
    pub(crate) fn by_row(&self) -> ByRow {
        let rows =
            self.tagged().column().map_or_else(Vec::new, |column| rows::by_place(column).collect());
        ByRow { rows, shared: self.beside_rows() }
    }

    /// The greatest value that it was raised to; zero if there was none.
    #[inline]
    pub(crate) fn greatest(&self) -> u64 {
        let rows = self.tagged().column().map_or(0, rows::greatest);
        rows.max(self.fallback.load(Ordering::Acquire)) // as in `sum`
    }

    #[inline]
    fn word(&self) -> *mut AtomicU64 {
        // Acquire: pairs with the Release in `claim`. The cells are seen as zero, and what the strategy
        // found out is seen.
        self.column.load(Ordering::Acquire)
    }

    #[inline]
    fn tagged(&self) -> TaggedColumn {
        // SAFETY: null at first; `claim` stores nothing else.
        unsafe { TaggedColumn::decode(self.word()) }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of an add
    fn add_in_sequence<N: Numbering>(&self, column: PerCoreColumn<N>, n: u64, order: Ordering) {
        // The committing store is a plain one: Release on the processors that have this
        // strategy. The `asm!` is a barrier to the compiler.
        let missed = |why| self.add_missed(column, n, why);
        per_core::add(column, n, || missed(Miss::Aborted), || missed(Miss::NoRow));
        if order == Ordering::SeqCst {
            fence(Ordering::SeqCst); // as the locked add would be
        }
    }

    #[cold]
    fn add_missed<N: Numbering>(&self, column: PerCoreColumn<N>, n: u64, why: Miss) {
        let miss = retry_after(why, |missed| {
            let because = |why| move || missed.set(Some(why));
            per_core::add(column, n, because(Miss::Aborted), because(Miss::NoRow));
        });
        if miss.is_some() {
            self.add_shared(n);
        }
    }

    /// Adds without a row.
    #[cold]
    fn add_shared(&self, n: u64) {
        self.fallback.fetch_add(n, Ordering::Release); // as in `portable::Dealt::add`
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn raise_in_sequence<N: Numbering>(&self, column: PerCoreColumn<N>, value: u64) {
        let missed = |why| self.raise_missed(column, value, why);
        per_core::raise(column, value, || missed(Miss::Aborted), || missed(Miss::NoRow));
    }

    #[cold]
    fn raise_missed<N: Numbering>(&self, column: PerCoreColumn<N>, value: u64, why: Miss) {
        let miss = retry_after(why, |missed| {
            let because = |why| move || missed.set(Some(why));
            per_core::raise(column, value, because(Miss::Aborted), because(Miss::NoRow));
        });
        if miss.is_some() {
            self.raise_shared(value);
        }
    }

    /// Raises without a row.
    #[cold]
    fn raise_shared(&self, value: u64) {
        portable::raise_cell(&self.fallback, value);
    }

    /// Adds where there was no column, or no row: the first add to this number, or of this thread, or one of a handler in the middle of
    /// another.
    #[cold]
    fn add_first(&self, n: u64, order: Ordering) {
        match self.claim() {
            Some(Claimed::PerCore) => self.add(n, order),
            Some(Claimed::Portable(mine)) => mine.add(n, order),
            None => _ = self.fallback.fetch_add(n, order),
        }
    }

    #[cold]
    fn raise_first(&self, value: u64) {
        match self.claim() {
            Some(Claimed::PerCore) => self.raise(value),
            Some(Claimed::Portable(mine)) => mine.raise(value),
            None => self.raise_shared(value),
        }
    }

    /// Claims a column unless one is set; `None` if the arena is full or the strategy undecided.
    fn claim(&self) -> Option<Claimed> {
        if self.tagged() == TaggedColumn::Unclaimed {
            let strategy = stripe::decided()?;
            let claimed = arena().claim(1);
            // Release: publishes the claimed column, with its cells zero.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            let word = TaggedColumn::encode(claimed, strategy);
            let won = self.column.compare_exchange(null_mut(), word, order, failed).is_ok();
            if let Some(column) = claimed.filter(|_| !won) {
                // SAFETY: claimed above; no other thread has seen it.
                unsafe { arena().free(column, 1) };
            }
        }
        let word = self.word();
        // SAFETY: as in `tagged`; `any` is given a word that is portable.
        unsafe {
            match TaggedColumn::decode(word) {
                TaggedColumn::PerCore(_) | TaggedColumn::PerProcessor(_) => Some(Claimed::PerCore),
                TaggedColumn::Portable(_) => Some(Claimed::Portable(portable::any(word))),
                TaggedColumn::Unavailable | TaggedColumn::Unclaimed => None,
            }
        }
    }
}

/// Where to add, with a column.
enum Claimed {
    PerCore,
    Portable(Mine),
}

impl Drop for Striped {
    fn drop(&mut self) {
        if let Some(column) = self.tagged().column() {
            // SAFETY: `&mut self`: every use happened before, and no thread can reach the column now.
            unsafe { arena().free(column, 1) };
        }
    }
}

/// The order of a read-modify-write on a cell: Release, which sums and drains rely on, or `SeqCst` if the
/// caller asks for it. Acquire is not needed: an add returns nothing, so no thread can tell what it came
/// after.
#[inline]
pub(crate) fn at_least_release(order: Ordering) -> Ordering {
    if order == Ordering::SeqCst { order } else { Ordering::Release }
}
