//! Announcements: a thread says what it may be using, and whoever wants it back looks. A pin
//! without a fence.
//!
//! # Theorem
//!
//! Let a thread see that a pointer no longer leads to a thing, and will not lead there again before
//! this thread allows it. Let every processor of the process pass a full fence after that, and let
//! one look at each slot, behind it, find another announcement than of this thing
//! ([`is_announced`]). Then no thread is using the thing in [`Slot::follow`], none will, and all
//! that those threads did there is visible to the looker.
//!
//! # Why
//!
//! A user announces the thing (S), then looks once more whether the pointer leads there (L), and
//! uses it only if so. The fence stands at one of three places in the user's program:
//!
//! * before S, or between S and L: what was seen before the fence, L sees. It does not find the
//!   thing;
//! * behind L: S comes before the fence, so the looker finds this announcement, or a later one of
//!   the slot. A later one, and the null that takes this one back, were stored with Release behind
//!   the use: the look (Acquire) has seen the use. The next thread that has the slot took it with
//!   Acquire, behind all that the one before did.
//!
//! There are two ways to that fence. *By a barrier* of the whole process (see
//! `stripe::membarrier`): the looker asks for it, and the user has none of its own, but one for the
//! compiler. *By fences*: the user has one between S and L, the looker one before its look. Of two
//! fences one comes first. If it is the looker's, the user's second look comes behind it; if it is
//! the user's, the look comes behind the announcement.
//!
//! The thing may be used for something else as soon as it is given back. Who has loaded the pointer
//! long ago, and announces the thing only then, does not find it when it looks again; or finds it,
//! because the pointer leads there once more, and then uses it as what it is by now. So whoever
//! reads the thing does so behind the second look. The announcement holds the thing up for a
//! moment, and no more.
//!
//! # Slots
//!
//! A thread takes a slot at its first use, and gives it back at its end. Slots stand in chunks,
//! which are linked into a list before their first announcement; they are never unlinked and never
//! freed. So there are no more than a chunk's beyond the most threads that ever had one at the same
//! time (and one more chunk for each two that were linked at the same moment). A forked child takes
//! back what the threads have announced that it does not have, and frees their slots.
//!
//! A chunk has a word with a bit for each slot that is *in use*, and a look visits these slots
//! alone. So it grows with the threads that there are; free slots cost it a 64th. A thread sets its
//! bit when it has taken the slot, before any announcement: the fence of the theorem makes the link
//! and the bit visible together with the announcement. It clears the bit (Release) when it is done
//! with the slot, before it gives that back. So a look behind the fence that finds a bit clear has
//! seen all that a user did whose announcement came before the fence: it reads the clearing of the
//! bit, or something later in the word's order, all of which is read-modify-writes, which hand on
//! the Release. The next thread that has the slot sets the bit after that.
//!
//! A thread without a slot uses nothing here, and does what it wanted in another way: one in its
//! last moments, one for which there is no memory, and one whose signal handler comes in the middle
//! of taking it.
//!
//! # Signal handlers
//!
//! A handler that follows a pointer in the middle of the same thread's `follow` takes the
//! announcement back. The thing may then be given back while the interrupted code still uses it.
//! What can happen is what the thing allows: memory that lives on, and a number that goes to
//! whomever the memory belongs to by then.

use std::iter::successors;
use std::ops::Deref;
use std::ptr::{null, null_mut};
use std::sync::atomic::compiler_fence;

use crate::sync::{AtomicPtr, AtomicUsize, Ordering, Witness, fence, global, sized};
use crate::thread_end::holder::Holder;
use crate::thread_end::process;

#[cfg(windrow_announced)]
mod places;
mod thread;

#[cfg(windrow_announced)]
pub(crate) use places::interrupt;
pub(crate) use thread::{mine, mine_or_taken, prepare};

/// Where one thread at a time announces. On lines of its own: its thread writes it with each use.
#[repr(align(128))]
pub(crate) struct Slot {
    /// What the thread may be using; null: nothing.
    announced: AtomicPtr<()>,
    holder: Holder,
    /// The chunk that it stands in.
    chunk: *const Chunk,
    /// Its bit there.
    bit: usize,
}

// SAFETY: atomics, and a pointer that does not change once other threads see the slot.
unsafe impl Sync for Slot {}

/// As many slots as a chunk has.
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

// SAFETY: as of a slot.
unsafe impl Sync for Chunk {}

global! {
    /// The chunk that was linked last.
    fn first() -> AtomicPtr<Chunk> = AtomicPtr::new(null_mut());
}

fn chunks() -> impl Iterator<Item = &'static Chunk> {
    // SAFETY: null or a chunk, which is never freed. Acquire: pairs with the Release in `link`.
    let first = unsafe { first().load(Ordering::Acquire).as_ref() };
    // SAFETY: as above.
    successors(first, |chunk| unsafe { chunk.next.as_ref() }).inspect(|chunk| chunk.witness.check())
}

/// What stands between an announcement and the second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Nothing but what the compiler minds: whoever looks at the slots has made all processors pass
    /// a fence.
    Nothing,
    /// A fence: whoever looks has one of its own.
    Fence,
}

impl Slot {
    /// Announces what `pointer` leads to, and holds it if the pointer still leads there. `None` if
    /// it does not.
    ///
    /// # Safety
    /// The pointer is never null. Whatever it has ever led to lives as long as the pointer.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of an add
    pub(crate) unsafe fn follow<'s, T>(
        &'s self,
        pointer: &'s AtomicPtr<T>,
        between: Between,
    ) -> Option<Held<'s, T>> {
        // Relaxed: nothing is read through it before the second look.
        let found = pointer.load(Ordering::Relaxed);
        // Release: a look that finds this announcement has seen what the thread did behind the one
        // before.
        place(|| self.announced.store(found.cast(), Ordering::Release));
        match between {
            Between::Nothing => compiler_fence(Ordering::SeqCst),
            Between::Fence => fence(Ordering::SeqCst), // pairs with the one in `fence_and_look`
        }
        // SAFETY: by contract.
        let held = Held { slot: self, thing: unsafe { &*found } };
        // Acquire: pairs with the Release that made the pointer lead there: whoever holds it sees
        // what it leads to as it is since then, whatever it was when the pointer was first loaded.
        let is_there = place(|| pointer.load(Ordering::Acquire)) == found;
        is_there.then_some(held)
    }

    /// Takes a free slot, or one of a new chunk; `None` if there is no memory.
    fn take() -> Option<&'static Slot> {
        chunks().find_map(Chunk::take).or_else(Chunk::link)
    }

    /// Gives the slot back, in which nothing is announced, if it is still of the process with this
    /// number.
    fn give_back(&self, process: u32) {
        // SAFETY: a chunk is never freed.
        let chunk = unsafe { &*self.chunk };
        // Release: a look that finds the bit clear has seen what this thread did behind its
        // announcements.
        chunk.in_use.fetch_and(!self.bit, Ordering::Release);
        // what the next thread announces comes behind all that this one did
        self.holder.give_back(process);
    }
}

impl Chunk {
    /// Takes a free slot of this chunk.
    fn take(&'static self) -> Option<&'static Slot> {
        // Relaxed: only a hint, which keeps lines unread.
        let free = !self.in_use.load(Ordering::Relaxed);
        let slot = self.with_bits(free).find(|slot| slot.holder.take())?;
        // Relaxed: it comes before the announcement, and is visible with it.
        self.in_use.fetch_or(slot.bit, Ordering::Relaxed);
        Some(slot)
    }

    /// The slots whose bits are set in `bits`.
    fn with_bits(&self, bits: usize) -> impl Iterator<Item = &Slot> {
        let bits = bits & (usize::MAX >> (usize::BITS as usize - SLOTS));
        let rest = successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
        let set = rest.take_while(|bits| *bits != 0);
        set.map(|bits| &self.slots[bits.trailing_zeros() as usize])
    }

    /// Whether `what` is announced in a slot of this chunk.
    fn announces(&self, what: *mut ()) -> bool {
        // Acquire: pairs with the Release in `give_back`.
        let in_use = self.in_use.load(Ordering::Acquire);
        // Acquire: pairs with the Release of the stores in `follow`: what was done behind an
        // announcement that is no longer there, is seen.
        self.with_bits(in_use).any(|slot| slot.announced.load(Ordering::Acquire) == what)
    }

    /// Makes a chunk, links it, and returns a slot of it that is taken.
    fn link() -> Option<&'static Slot> {
        let layout = std::alloc::Layout::new::<Chunk>();
        #[allow(clippy::cast_ptr_alignment)] // it is of the layout
        // SAFETY: a chunk has a size.
        let chunk = unsafe { std::alloc::alloc(layout) }.cast::<Chunk>();
        if chunk.is_null() {
            return None;
        }
        // SAFETY: allocated above, for this type; no other thread has seen it. (Made in its place:
        // it may be more than a stack has.)
        let made = unsafe {
            for number in 0..SLOTS {
                (&raw mut (*chunk).slots[number]).write(Slot {
                    announced: AtomicPtr::new(null_mut()),
                    holder: Holder::free(),
                    chunk,
                    bit: 1 << number,
                });
            }
            (&raw mut (*chunk).in_use).write(AtomicUsize::new(0));
            (&raw mut (*chunk).next).write(null());
            (&raw mut (*chunk).witness).write(Witness::new());
            &*chunk
        };
        let slot = made.take();
        let mut next = first().load(Ordering::Relaxed); // the exchange compares
        loop {
            // SAFETY: as above.
            unsafe { (&raw mut (*chunk).next).write(next) };
            // Release: publishes the chunk; and, as a read-modify-write, keeps what was published
            // before.
            match first().compare_exchange_weak(next, chunk, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return slot,
                Err(now) => next = now,
            }
        }
    }
}

/// What a thread has announced, and found where the pointer leads: given back when this is dropped.
pub(crate) struct Held<'s, T> {
    slot: &'s Slot,
    thing: &'s T,
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
        // Release: a look that no longer finds the announcement has seen what was done meanwhile.
        self.slot.announced.store(null_mut(), Ordering::Release);
    }
}

/// Whether a thread may be using `what`. Behind a barrier: see the theorem.
pub(crate) fn is_announced<T>(what: *const T) -> bool {
    let what = what.cast_mut().cast();
    chunks().any(|chunk| chunk.announces(what))
}

/// As [`is_announced`], for users that have a fence [between](Between::Fence) their two looks:
/// behind a fence of the looker's, which has seen that the pointer leads elsewhere.
pub(crate) fn fence_and_look<T>(what: *const T) -> bool {
    fence(Ordering::SeqCst); // pairs with the one in `follow`
    is_announced(what)
}

/// In a forked child, whose forking thread has the slot `mine`, if any: takes back what threads
/// have announced that are not there, and frees their slots.
fn forget_the_absent(mine: *const Slot) {
    let child = process();
    for slot in chunks().flat_map(|chunk| &chunk.slots) {
        if std::ptr::eq(slot, mine) {
            slot.holder.keep_in_child(child);
        } else if slot.holder.is_absent(child) {
            slot.announced.store(null_mut(), Ordering::Relaxed); // before it is given back
            // SAFETY: as in `give_back`. Relaxed: as there, of a thread that is not there; the
            // child is made of what it did.
            unsafe { &*slot.chunk }.in_use.fetch_and(!slot.bit, Ordering::Relaxed);
            slot.holder.free_in_child();
        }
    }
}

/// Does one thing at one place of a user's program; in a model a barrier interrupts the thread
/// before it or after.
#[inline(always)]
#[allow(clippy::inline_always)] // the path of an add
fn place<R>(act: impl FnOnce() -> R) -> R {
    #[cfg(windrow_announced)]
    let _here = places::enter();
    act()
}
