//! A thread's own slot: taken at its first use, given back at its end.
//!
//! The pointer to it is a thread-local without a destructor, so that a use is right at any moment of a thread's
//! life. What gives the slot back is another one, with a destructor.

use std::cell::Cell;
use std::ptr::{from_ref, null, without_provenance};

use super::Slot;

/// In place of a slot: the thread is taking one.
const TAKING: *const Slot = without_provenance(1);
/// It has given its slot back, and gets no other.
const GONE: *const Slot = without_provenance(2);

std::thread_local! {
    /// Null before the first use.
    static MINE: Cell<*const Slot> = const { Cell::new(null()) };
    static AT_THE_END: AtTheEnd = const { AtTheEnd };
}

/// Gives the slot back.
struct AtTheEnd;

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let slot = mine();
        MINE.set(GONE);
        if let Some(slot) = slot {
            slot.give_back();
        }
    }
}

/// This thread's slot, if it has one.
#[inline]
pub(crate) fn mine() -> Option<&'static Slot> {
    let slot = MINE.get();
    // SAFETY: above the two it is a slot, which is never freed.
    (slot.addr() > GONE.addr()).then(|| unsafe { &*slot })
}

/// Whether this thread, or what it has interrupted, is taking a slot.
pub(super) fn is_taking() -> bool {
    MINE.get() == TAKING
}

/// This thread's slot, taken if it has none; `None` if it can have none now.
#[cold]
pub(crate) fn mine_or_taken() -> Option<&'static Slot> {
    if MINE.get().is_null() {
        MINE.set(TAKING);
        let slot = AT_THE_END.try_with(|_| ()).ok().and_then(|()| Slot::take());
        MINE.set(slot.map_or(null(), from_ref));
    }
    mine()
}
