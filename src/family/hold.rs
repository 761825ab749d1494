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
use std::mem::ManuallyDrop;

use crate::family::labels::Labels;
use crate::reclaim::{Guard, announced, pin};

/// The ways to hold a series: the rows of the table above.
enum Way {
    Nothing,
    #[allow(dead_code)] // it is dropped
    Announced(announced::Kept),
    #[allow(dead_code)] // as above
    Pinned(Guard),
}

/// A user's hold of a series in a family by such labels.
pub(super) struct Hold<L: Labels> {
    way: ManuallyDrop<Way>,
    labels: PhantomData<fn() -> L>,
}

impl<L: Labels> Hold<L> {
    /// Returns a hold of all series that a lookup may find in a table. If lookups announce theirs
    /// there, takes a slot for that, if this thread has none.
    pub(super) fn new(announces: bool) -> Hold<L> {
        if L::COMBINATIONS.is_some() {
            return Hold::nothing();
        }
        if announces && announced::mine().is_none() {
            announced::mine_or_taken();
        }
        Hold::by(Way::Pinned(pin()))
    }

    /// Returns the hold of a series that needs none.
    #[inline]
    pub(super) fn nothing() -> Hold<L> {
        Hold::by(Way::Nothing)
    }

    /// Returns the hold of an announced series.
    #[inline]
    pub(super) fn announced(kept: announced::Kept) -> Hold<L> {
        Hold::by(Way::Announced(kept))
    }

    #[inline]
    fn by(way: Way) -> Hold<L> {
        Hold { way: ManuallyDrop::new(way), labels: PhantomData }
    }
}

impl<L: Labels> Drop for Hold<L> {
    #[inline]
    fn drop(&mut self) {
        // Otherwise it is nothing, which the compiler does not always see.
        if L::COMBINATIONS.is_none() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.way) };
        }
    }
}
