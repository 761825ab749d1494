//! Announcements: a thread publishes the address of the object that it may be using, and a thread
//! that wants to reuse or free the object looks there (hazard pointers). It is a pin without a
//! fence.
//!
//! # Theorem
//!
//! Let a thread, the *looker*, see that a pointer no longer leads to an object, and will not lead
//! there again before the looker allows it. Let every processor of the process pass a full fence
//! after that, and let a look at each slot after the fence find that none announces this object
//! ([`is_announced`]). Then no thread is using the object by [`Slot::follow`] or [`Slot::keep`],
//! none will, and everything that threads did there is visible to the looker.
//!
//! # Why
//!
//! A user announces the object (S), then checks again whether the pointer leads there (L), and uses
//! the object only in that case. The fence is at one of three points of the user's program:
//!
//! * before S, or between S and L: L sees everything that was visible before the fence, so it does
//!   not find the object;
//! * after L: S comes before the fence, so the looker finds this announcement, or a later one of
//!   the slot. A later one, and the null that takes this one back, were stored with Release after
//!   the use: the look (Acquire) has seen the use. The next thread that has the slot took it with
//!   Acquire, after everything that the thread before did.
//!
//! There are two ways to that fence. *By a barrier* of the whole process (see
//! `stripe::membarrier`): the looker requests it, and the user has only a compiler fence. *By
//! fences*: the user has one between S and L, the looker one before its look. One of the two fences
//! comes first. If it is the looker's, the user's check L comes after it; if it is the user's, the
//! look comes after the announcement.
//!
//! The object may be reused for another purpose as soon as it is given back. A thread that has
//! loaded the pointer long before, and announces the object only then, does not find it at the
//! check L; or it finds the object because the pointer leads there again, and then uses it in its
//! new role. So a user must read the object only after the check L. The announcement then delays
//! the object's reuse for a moment, and does no other harm.
//!
//! # Words
//!
//! A slot has one word for the moment of an add, which follows the pointer to a window's live
//! bucket. [Others](Word) keep an object for its user's time ([`Slot::keep`]): a series of a
//! family, which may itself be a window that is added to meanwhile. A word announces one object. So
//! a thread that keeps an object does not keep another in the same word, and takes another path.
//!
//! # Slots
//!
//! A thread takes a slot at its first use, and gives it back at its end. Slots stand in chunks,
//! which are linked into a list before their first announcement; they are never unlinked and never
//! freed. So their number exceeds the largest number of threads that had one at the same time by at
//! most one chunk (and one more chunk for each two that were linked at the same moment). A forked
//! child takes back the announcements of threads that it does not have, and frees their slots.
//!
//! A chunk has a word with a bit for each slot that is *in use*, and a look visits only these
//! slots. So its cost grows with the number of threads; a free slot costs a 64th of it. A thread
//! sets its bit when it has taken the slot, before any announcement: the fence of the theorem makes
//! the link and the bit visible together with the announcement. It clears the bit (Release) when it
//! is done with the slot, before it gives that back. So a look after the fence that finds a bit
//! clear has seen everything that a user did whose announcement came before the fence: it reads the
//! clearing of the bit, or a later value in the word's order; all of these are written by
//! read-modify-writes, which continue the release sequence. The next thread that has the slot sets
//! the bit after that.
//!
//! Some threads have no slot: a thread in its last moments, a thread for which there is no memory,
//! and one whose signal handler comes in the middle of taking a slot. Such a thread does not follow
//! pointers here, and takes another path. A thread that keeps an object when its slot is to be
//! given back (in a thread-local that is dropped later, or leaked) has the slot for ever: no other
//! thread gets that.
//!
//! # Signal handlers
//!
//! A handler that follows a pointer in the middle of the same thread's `follow` takes the
//! announcement back. The object may then be given back while the interrupted code still uses it.
//! The consequence depends on the object: the memory of a bucket is not freed, and a number goes to
//! the memory's owner at that time. A kept object would be freed. So `keep` does not touch a word
//! that is set: a handler that comes in the middle of the thread's `keep` either finds the word
//! set, or has cleared it before the thread sets it, which looks at the pointer only after that.
//! This holds for handlers that drop what they keep before they return, as all must.

use std::cell::Cell;
use std::iter::successors;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::atomic::compiler_fence;

use crate::address_dependency;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, Witness, fence, global, sized};
use crate::thread_end::holder::Holder;
use crate::thread_end::process;

mod link;
#[cfg(windrow_announced)]
mod steps;
mod thread;

#[cfg(windrow_announced)]
pub(crate) use steps::interrupt;
pub(crate) use thread::{mine, mine_or_taken, prepare, set_row};

/// The words in which one thread at a time announces. They are on cache lines of their own, because
/// their thread writes them at each use.
#[repr(align(128))]
pub(crate) struct Slot {
    /// The object that the thread may be using in an add, or null.
    announced: AtomicPtr<()>,
    /// The object that the thread keeps in each [`Word`], or null.
    kept: [AtomicPtr<()>; KEPT_WORDS],
    /// The word of the thread's row: see [`thread`].
    row: Cell<usize>,
    holder: Holder,
    /// The chunk of the slot.
    chunk: *const Chunk,
    /// Its bit in the chunk's word.
    bit: usize,
}

// SAFETY: atomics; a pointer that does not change once other threads see the slot; and a cell that
// only the thread uses that has the slot.
unsafe impl Sync for Slot {}

/// The number of slots in a chunk.
const SLOTS: usize = sized(usize::BITS as usize, 2);

/// Slots that were allocated together.
pub(crate) struct Chunk {
    slots: [Slot; SLOTS],
    /// A bit for each slot that is in use.
    in_use: AtomicUsize,
    /// The chunk that was linked before.
    next: *const Chunk,
    witness: Witness,
}

// SAFETY: as for a slot.
unsafe impl Sync for Chunk {}

global! {
    /// The chunk that was linked last.
    fn first() -> AtomicPtr<Chunk> = AtomicPtr::new(null_mut());
}

#[inline]
fn chunks() -> impl Iterator<Item = &'static Chunk> {
    // SAFETY: null or a chunk, which is never freed. Acquire: pairs with the Release in `link`.
    let first = unsafe { first().load(Ordering::Acquire).as_ref() };
    // SAFETY: as above.
    successors(first, |chunk| unsafe { chunk.next.as_ref() }).inspect(|chunk| chunk.witness.check())
}

/// The words in which a thread keeps objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// For an object to which a pointer that is never freed leads.
    First,
    /// For an object to which a kept one leads.
    Second,
}

const KEPT_WORDS: usize = 2;

/// The kind of fence between an announcement and the check after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// A compiler fence only: a thread that looks at the slots has made all processors pass a
    /// fence.
    Nothing,
    /// A fence: a thread that looks at the slots has one of its own.
    Fence,
}

impl Slot {
    /// Announces the object to which `pointer` leads, and holds it if the pointer still leads
    /// there; otherwise returns `None`.
    ///
    /// # Safety
    /// The pointer is never null. Every object to which it has ever led lives as long as the
    /// pointer.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of an add
    pub(crate) unsafe fn follow<'s, T>(
        &'s self,
        pointer: &'s AtomicPtr<T>,
        between: Between,
    ) -> Option<Held<'s, T>> {
        // Relaxed: nothing is read through it before the check.
        let found = pointer.load(Ordering::Relaxed);
        let there = announce(&self.announced, found, pointer, between);
        // SAFETY: by contract.
        let held = Held { slot: self, thing: unsafe { &*there } };
        address_dependency::are_equal(there.addr(), found.addr()).then_some(held)
    }

    /// Announces the object to which `pointer` leads, and keeps it if the pointer still leads
    /// there: until the second result is dropped, [`is_announced`] is true of the object. Returns
    /// `None` if the pointer is null or leads elsewhere by now, or if this thread keeps another
    /// object in this word. Only for users whose lookers have barriers.
    ///
    /// The object must be used only in that time, and only by this thread.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(crate) fn keep<T>(
        &'static self,
        word: Word,
        pointer: &AtomicPtr<T>,
    ) -> Option<(*const T, Kept)> {
        let word = &self.kept[word as usize];
        // Relaxed: it is this thread's own word. Nothing is read through the pointer yet.
        let (other, found) = (word.load(Ordering::Relaxed), pointer.load(Ordering::Relaxed));
        if !other.is_null() || found.is_null() {
            return None;
        }
        let there = announce(word, found, pointer, Between::Nothing);
        let kept = Kept { word, _not_send: PhantomData };
        address_dependency::are_equal(there.addr(), found.addr())
            .then_some((there.cast_const(), kept))
    }

    /// Returns the word of this thread's row.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of an add
    pub(crate) fn row(&self) -> usize {
        self.row.get()
    }

    /// Takes a free slot, or one of a new chunk; returns `None` if there is no memory.
    fn take() -> Option<&'static Slot> {
        chunks().find_map(Chunk::take).or_else(Chunk::link)
    }

    /// Gives the slot back, if it still belongs to the process with this number. Returns false,
    /// and leaves the slot to its thread, if an object is still kept.
    #[inline]
    fn give_back(&self, process: u32) -> bool {
        // Relaxed: they are this thread's own words.
        if self.kept.iter().any(|word| !word.load(Ordering::Relaxed).is_null()) {
            return false;
        }
        // SAFETY: a chunk is never freed.
        let chunk = unsafe { &*self.chunk };
        // Release: a look that finds the bit clear has seen everything that this thread did after
        // its announcements.
        chunk.in_use.fetch_and(!self.bit, Ordering::Release);
        // The next thread's announcements come after everything that this thread did.
        self.holder.give_back(process);
        true
    }
}

impl Chunk {
    /// Takes a free slot of this chunk.
    fn take(&'static self) -> Option<&'static Slot> {
        // Relaxed: only a hint, which avoids reading cache lines.
        let free = !self.in_use.load(Ordering::Relaxed);
        let slot = self.with_bits(free).find(|slot| slot.holder.take())?;
        // Relaxed: the bit is set before the announcement, and is visible with it.
        self.in_use.fetch_or(slot.bit, Ordering::Relaxed);
        Some(slot)
    }

    /// Returns the slots whose bits are set in `bits`.
    fn with_bits(&self, bits: usize) -> impl Iterator<Item = &Slot> {
        let bits = bits & (usize::MAX >> (usize::BITS as usize - SLOTS));
        let rest = successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
        let set = rest.take_while(|bits| *bits != 0);
        set.map(|bits| &self.slots[bits.trailing_zeros() as usize])
    }

    /// Calls `see` with what is announced in the slots of this chunk, until that returns true.
    /// Returns whether it has. (A loop: iterators have four times its code.)
    #[inline(never)]
    fn announcements(&self, see: &mut dyn FnMut(*mut ()) -> bool) -> bool {
        // Acquire: pairs with the Release in `give_back`.
        let in_use = self.in_use.load(Ordering::Acquire);
        for slot in self.with_bits(in_use) {
            for word in slot.kept.iter().chain([&slot.announced]) {
                // Acquire: pairs with the Release of the stores in `announce`, `Held` and `Kept`:
                // everything done after an announcement that is gone is seen.
                let what = word.load(Ordering::Acquire);
                if !what.is_null() && see(what) {
                    return true;
                }
            }
        }
        false
    }
}

/// Announces in `word` what was `found` at `pointer`, and returns what is there after that.
#[inline(always)]
#[allow(clippy::inline_always)] // the path of an add
fn announce<T>(
    word: &AtomicPtr<()>,
    found: *mut T,
    pointer: &AtomicPtr<T>,
    between: Between,
) -> *mut T {
    // Release: a look that finds this announcement has seen everything that the thread did after
    // the one before.
    step(|| word.store(found.cast(), Ordering::Release));
    match between {
        Between::Nothing => compiler_fence(Ordering::SeqCst),
        Between::Fence => fence(Ordering::SeqCst), // pairs with the one in `fence_and_look`
    }
    step(|| {
        if address_dependency::ON {
            // Relaxed: the holder reaches the object by this very address.
            pointer.load(Ordering::Relaxed)
        } else {
            // Acquire: pairs with the Release that made the pointer lead there: the holder sees the
            // object as it is since then, which may differ from the first load.
            pointer.load(Ordering::Acquire)
        }
    })
}

/// The announcement of a kept object. Dropping this takes it back.
pub(crate) struct Kept {
    word: &'static AtomicPtr<()>,
    /// The word is this thread's.
    _not_send: PhantomData<*const ()>,
}

impl Drop for Kept {
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn drop(&mut self) {
        // Release: a look that no longer finds the announcement has seen everything that was done
        // with the object.
        self.word.store(null_mut(), Ordering::Release);
    }
}

/// An announced object to which the pointer leads. Dropping this takes the announcement back.
pub(crate) struct Held<'s, T> {
    slot: &'s Slot,
    thing: &'s T,
}

impl<T> Held<'_, T> {
    /// Returns the word of this thread's row.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of an add
    pub(crate) fn row(&self) -> usize {
        self.slot.row()
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of an add
    fn deref(&self) -> &T {
        self.thing
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn drop(&mut self) {
        // Release: a look that no longer finds the announcement has seen everything that was done
        // with the object.
        self.slot.announced.store(null_mut(), Ordering::Release);
    }
}

/// Returns everything that is announced, in the order of addresses. Must be called after a barrier:
/// see the theorem.
#[inline]
pub(crate) fn all() -> Vec<*mut ()> {
    let mut all = Vec::new();
    for chunk in chunks() {
        chunk.announcements(&mut |what| {
            all.push(what);
            false
        });
    }
    all.sort_unstable();
    all
}

/// Returns whether a thread may be using `what`. Must be called after a barrier: see the theorem.
pub(crate) fn is_announced<T>(what: *const T) -> bool {
    let what = what.cast_mut().cast();
    chunks().any(|chunk| chunk.announcements(&mut |announced| announced == what))
}

/// Returns [`is_announced`] after a fence of the looker, which has seen that the pointer leads
/// elsewhere. For users with a [`Between::Fence`].
pub(crate) fn fence_and_look<T>(what: *const T) -> bool {
    fence(Ordering::SeqCst); // pairs with the one in `follow`
    is_announced(what)
}

/// In a forked child, whose forking thread has the slot `mine`, if any: takes back the
/// announcements of threads that the child does not have, and frees their slots.
#[inline]
fn forget_the_absent(mine: *const Slot) {
    let child = process();
    for slot in chunks().flat_map(|chunk| &chunk.slots) {
        if std::ptr::eq(slot, mine) {
            slot.holder.keep_in_child(child);
        } else if slot.holder.is_absent(child) {
            for word in slot.kept.iter().chain([&slot.announced]) {
                word.store(null_mut(), Ordering::Relaxed); // before it is given back
            }
            // SAFETY: as in `give_back`. Relaxed: the thread does not exist here, and the child's
            // memory is a copy that includes everything it did.
            unsafe { &*slot.chunk }.in_use.fetch_and(!slot.bit, Ordering::Relaxed);
            slot.holder.free_in_child();
        }
    }
}

/// Runs one step of a user's program; in a model a barrier may interrupt the thread before it or
/// after it.
#[inline(always)]
#[allow(clippy::inline_always)] // the path of an add
fn step<R>(act: impl FnOnce() -> R) -> R {
    #[cfg(windrow_announced)]
    let _here = steps::enter();
    act()
}
