//! A thread's own slot: taken at its first use, given back at its end.
//!
//! The pointer to it is a thread-local without a destructor, so that a use is right at any moment
//! of a thread's life. What other destructors use afterwards, they use without a slot.

use std::cell::Cell;
use std::ptr::{from_ref, null, without_provenance};
use std::sync::atomic::compiler_fence;

use super::Slot;
use crate::sync::Ordering;
#[cfg(any(loom, shuttle))]
use crate::sync::engine::thread_local;
use crate::thread_end::{self, AtEnd, GiveBack, process};

/// In place of a slot: the thread is taking one, or giving it back.
const BUSY: *const Slot = without_provenance(1);
/// It has given its slot back, and gets no other.
const GONE: *const Slot = without_provenance(2);

#[cfg(not(any(loom, shuttle)))]
std::thread_local! {
    /// Null before the first use.
    static MINE: Cell<*const Slot> = const { Cell::new(null()) };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static MINE: Cell<*const Slot> = Cell::new(null());
}

static AT_END: AtEnd<Slot> = AtEnd::new();

/// Sees to it that slots are given back, by threads that end and in forked children. Once a
/// process. False if the system has no room for that: then no thread takes a slot.
pub(crate) fn prepare() -> bool {
    AT_END.prepare() && thread_end::in_children(begin_child)
}

/// What a forked child does early: other handlers may have run, and threads that they started.
extern "C" fn begin_child() {
    match MINE.with(Cell::get) {
        BUSY => {} // a handler has forked in the middle: one of the slots is this thread's
        mine => super::forget_the_absent(mine),
    }
}

impl GiveBack for Slot {
    fn give_back(&'static self) {
        // (In a model, all values of a thread go at once, and this one may be the first.)
        let _ = MINE.try_with(|mine| mine.set(BUSY));
        // a child that a handler forks from here on leaves the slot alone
        compiler_fence(Ordering::SeqCst);
        Slot::give_back(self, process());
        compiler_fence(Ordering::SeqCst);
        let _ = MINE.try_with(|mine| mine.set(GONE));
    }
}

/// This thread's slot, if it has one.
#[inline]
pub(crate) fn mine() -> Option<&'static Slot> {
    let slot = MINE.with(Cell::get);
    // SAFETY: above the two it is a slot, which is never freed.
    (slot.addr() > GONE.addr()).then(|| unsafe { &*slot })
}

/// This thread's slot, taken if it has none; `None` if it can have none now.
#[cold]
pub(crate) fn mine_or_taken() -> Option<&'static Slot> {
    MINE.with(|mine| {
        if mine.get().is_null() {
            mine.set(BUSY);
            compiler_fence(Ordering::SeqCst); // as above
            let slot = take().map_or(null(), from_ref);
            compiler_fence(Ordering::SeqCst);
            mine.set(slot);
        }
    });
    mine()
}

/// A slot that this thread will give back.
fn take() -> Option<&'static Slot> {
    let slot = Slot::take()?;
    if AT_END.arm(slot) {
        return Some(slot);
    }
    Slot::give_back(slot, process());
    None
}
