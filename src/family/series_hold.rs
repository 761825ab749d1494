//! Holds: a series is not freed while a lookup's user has it.
//!
//! | | the lookup | before a removed series is freed |
//! |---|---|---|
//! | announced | announces a series, and looks again | a barrier has ended, and no thread announces it |
//! | pinned | pins an epoch | a grace period has passed |
//! | nothing | finds it by its index, or the overflow series | nothing: it is freed with the family |
//!
//! [`announced`](crate::reclaim::announced) and [`grace`](crate::reclaim::grace) say why each is
//! enough. A series is removed from its list once, and never inserted again. Its memory is not
//! reused while it is announced.
//!
//! For the first series, the pointer of that theorem is the list's head: once the series was
//! removed, the head does not lead to it again. For the second it is the link of the first, which
//! the thread has announced before. That link leads to the second as long as both are in the list,
//! because series are inserted only at the head. But if the first was removed before the second,
//! its link stays as it was, and the head does not lead to the first again. So the thread looks at
//! the link (L1), and at the head again (L2), both after it has announced the second. Let the
//! second be removed, and then every thread pass a fence. If the fence comes before L1 and L2, one
//! of the two differs: the link, or, if the first was removed before, the head. If it comes after
//! one of them, the announcement is seen.
//!
//! An announcement costs two stores to a line of the thread's own. A pin costs a fence; and, again
//! and again, a walk over all threads, which takes from each of them the line that it writes at
//! each pin. With sixteen threads that is more than the rest of a lookup. So a lookup announces its
//! series where it can: where the system has barriers, the series is among the first two of its
//! list and in use, and the thread has a slot and keeps no other series there. All others pin.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

use crate::family::labels::Labels;
use crate::reclaim::announced::{self, Kept};
use crate::reclaim::{Guard, pin};

/// A user's hold of a series in a family by such labels: one of the rows of the table above.
///
/// In two words, of which one is written where a series is announced: the path of a lookup.
pub(super) struct Hold<L: Labels> {
    /// The announcement of the series, if it is announced.
    announced: ManuallyDrop<Option<Kept>>,
    /// Initialised if it is not announced.
    pinned: MaybeUninit<Option<Guard>>,
    labels: PhantomData<fn() -> L>,
}

impl<L: Labels> Hold<L> {
    /// Returns a pin, with which a lookup holds all series that it may find in a table. If lookups
    /// announce theirs there, takes a slot for that, if this thread has none.
    pub(super) fn pin(announces: bool) -> Option<Guard> {
        if L::COMBINATIONS.is_some() {
            return None;
        }
        if announces && announced::mine().is_none() {
            announced::mine_or_taken();
        }
        Some(pin())
    }

    /// Returns the hold of a series that needs none.
    #[inline]
    pub(super) fn nothing() -> Hold<L> {
        Hold::pinned(None)
    }

    /// Returns the hold of all series that a lookup may find under this pin.
    #[inline]
    pub(super) fn pinned(guard: Option<Guard>) -> Hold<L> {
        Hold::by(None, MaybeUninit::new(guard))
    }

    /// Returns the hold of an announced series.
    #[inline]
    pub(super) fn announced(kept: Kept) -> Hold<L> {
        Hold::by(Some(kept), MaybeUninit::uninit())
    }

    #[inline]
    fn by(announced: Option<Kept>, pinned: MaybeUninit<Option<Guard>>) -> Hold<L> {
        Hold { announced: ManuallyDrop::new(announced), pinned, labels: PhantomData }
    }
}

impl<L: Labels> Drop for Hold<L> {
    #[inline]
    fn drop(&mut self) {
        // Otherwise it is nothing, which the compiler does not always see.
        if L::COMBINATIONS.is_none() {
            // SAFETY: neither is used again; and the pin is initialised where no announcement is.
            unsafe {
                match ManuallyDrop::take(&mut self.announced) {
                    Some(kept) => drop(kept),
                    None => unpin(&mut self.pinned),
                }
            }
        }
    }
}

/// Ends a pin, if there is one.
///
/// # Safety
/// It is initialised, and not used again.
#[cold]
unsafe fn unpin(pinned: &mut MaybeUninit<Option<Guard>>) {
    // SAFETY: the contract.
    unsafe { pinned.assume_init_drop() }
}
