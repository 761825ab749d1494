//! A thread's own slot: taken at its first use, given back at its end.
//!
//! The pointer to it, null before the first use, is one of the thread's [words](WORDS), which have
//! no destructor, so that a use is right at any moment of a thread's life. Destructors that run
//! after the slot was given back have no slot.
//!
//! # The word of a row
//!
//! A slot repeats its thread's other word, that of its row, so that a portable add to a window,
//! which has the slot, needs no second look-up. Only [`set_row`] writes that word, and it writes
//! the slot's too, if the thread has a slot; a thread that takes a slot copies the word there. A
//! signal handler may see the slot's word older than the other: then its add goes another way. No
//! slot has the word of a row that was given back: the thread writes both words before. A thread
//! without a slot does not add to windows in this way.

use std::ptr::{from_ref, null, without_provenance};
use std::sync::atomic::compiler_fence;

use super::Slot;
use crate::sync::Ordering;
use crate::thread_end::words::{WORDS, Words};
use crate::thread_end::{self, AtEnd, GiveBack, process};

/// Takes the place of a slot: the thread is taking one, or giving it back.
const BUSY: *const () = without_provenance(1);
/// Takes the place of a slot: the thread has given its slot back, and gets no other.
const GONE: *const () = without_provenance(2);

static AT_END: AtEnd<Slot> = AtEnd::new();

/// Prepares slots to be given back, by threads that end and in forked children. Called once in a
/// process. Returns false if the system has no free key or no memory for that: then no thread takes
/// a slot.
#[inline]
pub(crate) fn prepare() -> bool {
    AT_END.prepare() && thread_end::in_children(begin_child)
}

/// Runs early in a forked child, where other handlers may have run before, and threads that they
/// started.
extern "C" fn begin_child() {
    match WORDS.with(|words| words.slot.get()) {
        BUSY => {} // a handler has forked in the middle: one of the taken slots is this thread's
        mine => super::forget_the_absent(mine.cast()),
    }
}

impl GiveBack for Slot {
    #[inline]
    fn give_back(&'static self) {
        // (In a model, all values of a thread are dropped at once, and this one may be the first.)
        let _ = WORDS.try_with(|words| words.slot.set(BUSY));
        // A child that a handler forks from here on does not use the slot.
        compiler_fence(Ordering::SeqCst);
        // A slot in which an object is kept stays this thread's.
        let then = if Slot::give_back(self, process()) { GONE } else { from_ref(self).cast() };
        compiler_fence(Ordering::SeqCst);
        let _ = WORDS.try_with(|words| words.slot.set(then));
    }
}

/// Returns this thread's slot, if it has one.
#[inline]
pub(crate) fn mine() -> Option<&'static Slot> {
    WORDS.with(of)
}

#[inline]
fn of(words: &Words) -> Option<&'static Slot> {
    let slot = words.slot.get();
    // SAFETY: a value above these two is the address of a slot, which is never freed.
    (slot.addr() > GONE.addr()).then(|| unsafe { &*slot.cast() })
}

/// Writes the word of this thread's row, which the module of rows has chosen. (In a model, all
/// values of a thread are dropped at once, and then nothing is written.)
#[inline]
pub(crate) fn set_row(row: usize) {
    let _ = WORDS.try_with(|words| {
        words.row.set(row);
        if let Some(slot) = of(words) {
            slot.row.set(row);
        }
    });
}

/// Returns this thread's slot, and takes one first if it has none; `None` if it cannot have one at
/// present.
#[cold]
pub(crate) fn mine_or_taken() -> Option<&'static Slot> {
    // The words are there in a thread's last moments, too. (`with` has code that says otherwise.)
    let _ = WORDS.try_with(|words| {
        if words.slot.get().is_null() {
            words.slot.set(BUSY);
            compiler_fence(Ordering::SeqCst); // as above
            let slot = take().map_or(null(), from_ref);
            compiler_fence(Ordering::SeqCst);
            words.slot.set(slot.cast());
            // Again, if a handler comes between, in which the thread gets a row.
            while let Some(slot) = of(words).filter(|slot| slot.row.get() != words.row.get()) {
                slot.row.set(words.row.get());
                compiler_fence(Ordering::SeqCst);
            }
        }
    });
    mine()
}

/// Takes a slot that this thread will give back.
#[inline]
fn take() -> Option<&'static Slot> {
    let slot = Slot::take()?;
    if AT_END.arm(slot) {
        return Some(slot);
    }
    Slot::give_back(slot, process());
    None
}
