//! Announcements: a thread says what it may be using, and whoever wants it back looks. A pin without a fence.
//!
//! # Theorem
//!
//! Let a thread see that a pointer no longer leads to a thing, and will not lead there again before this thread
//! allows it. Let every processor of the process pass a full fence after that, and let one look at each slot,
//! behind it, find another announcement than of this thing ([`is_announced`]). Then no thread is using the
//! thing in [`Slot::follow`], none will, and all that those threads did there is visible to the looker.
//!
//! # Why
//!
//! A user announces the thing (S), then looks once more whether the pointer leads there (L), and uses it only
//! if so. The fence stands at one of three places in the user's program:
//!
//! * before S, or between S and L: what was seen before the fence, L sees. It does not find the thing;
//! * behind L: S comes before the fence, so the looker finds this announcement, or a later one of the slot. A later
//!   one, and the null that takes this one back, were stored with Release behind the use: the look (Acquire)
//!   has seen the use. The next thread that has the slot took it with Acquire, behind all that the one before did.
//!
//! There are two ways to that fence. *By a barrier* of the whole process (see `stripe::membarrier`): the looker asks
//! for it, and the user has none of its own, but one for the compiler. *By fences*: the user has one between
//! S and L, the looker one before its look. Of two fences one comes first. If it is the looker's, the user's
//! second look comes behind it; if it is the user's, the look comes behind the announcement.
//!
//! The thing may be used for something else as soon as it is given back. Who has loaded the pointer long ago, and
//! announces the thing only then, does not find it when it looks again; or finds it, because the pointer leads
//! there once more, and then uses it as what it is by now. So whoever reads the thing does so behind the second look.
//! The announcement holds the thing up for a moment, and no more.
//!
//! # Slots
//!
//! A thread takes a slot at its first use, and gives it back at its end. Slots are linked into a list before
//! their first announcement; they are never unlinked and never freed. So there are as many as there were ever
//! threads at one time. The fence makes the link visible together with the announcement. A forked child takes back
//! what the threads have announced that it does not have, and frees their slots.
//!
//! A thread without a slot uses nothing here, and does what it wanted in another way: one in its last moments, one
//! for which there is no memory, and one whose signal handler comes in the middle of taking it.
//!
//! # Signal handlers
//!
//! A handler that follows a pointer in the middle of the same thread's `follow` takes the announcement back. The
//! thing may then be given back while the interrupted code still uses it. What can happen is what the thing
//! allows: memory that lives on, and a number that goes to whomever the memory belongs to by then.

use std::iter::successors;
use std::ptr::null_mut;
use std::sync::atomic::compiler_fence;

use crate::sync::{AtomicBool, AtomicPtr, Ordering, Witness, fence, global};

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
    is_taken: AtomicBool,
    /// The slot that was linked before.
    next: *const Slot,
    witness: Witness,
}

// SAFETY: atomics, and a pointer that does not change once other threads see the slot.
unsafe impl Sync for Slot {}

global! {
    /// The slot that was linked last.
    fn first() -> AtomicPtr<Slot> = AtomicPtr::new(null_mut());
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    // SAFETY: null or a slot, which is never freed. Acquire: pairs with the Release in `link`.
    let first = unsafe { first().load(Ordering::Acquire).as_ref() };
    // SAFETY: as above.
    successors(first, |slot| unsafe { slot.next.as_ref() }).inspect(|slot| slot.witness.check())
}

/// What stands between an announcement and the second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Nothing but what the compiler minds: whoever looks at the slots has made all processors pass a fence.
    Nothing,
    /// A fence: whoever looks has one of its own.
    Fence,
}

impl Slot {
    /// Announces what `pointer` leads to, and calls `act` with it if the pointer still leads there. Returns what
    /// that says; `None` if it does not.
    ///
    /// # Safety
    /// The pointer is never null. Whatever it has ever led to lives as long as the pointer.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of an add
    pub(crate) unsafe fn follow<T, R>(
        &self,
        pointer: &AtomicPtr<T>,
        between: Between,
        act: impl FnOnce(&T) -> R,
    ) -> Option<R> {
        // Relaxed: nothing is read through it before the second look.
        let found = pointer.load(Ordering::Relaxed);
        // Release: a look that finds this announcement has seen what the thread did behind the one before.
        place(|| self.announced.store(found.cast(), Ordering::Release));
        match between {
            Between::Nothing => compiler_fence(Ordering::SeqCst),
            Between::Fence => fence(Ordering::SeqCst), // pairs with the one in `fence_and_look`
        }
        // Acquire: pairs with the Release that made the pointer lead there: `act` sees what it leads to as it
        // is since then, whatever it was when the pointer was first loaded.
        let is_there = place(|| pointer.load(Ordering::Acquire)) == found;
        // SAFETY: by contract.
        let outcome = is_there.then(|| act(unsafe { &*found }));
        // Release: a look that no longer finds the announcement has seen what `act` did.
        self.announced.store(null_mut(), Ordering::Release);
        outcome
    }

    /// Takes a free slot, or makes one; `None` if there is no memory.
    fn take() -> Option<&'static Slot> {
        slots().find(|slot| slot.try_take()).or_else(Slot::link)
    }

    fn try_take(&self) -> bool {
        // Relaxed: only a hint, which keeps the line unwritten.
        !self.is_taken.load(Ordering::Relaxed)
            // Acquire: pairs with the Release in `give_back`.
            && self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the slot back, in which nothing is announced.
    fn give_back(&self) {
        // Release: pairs with the Acquire in `try_take`. What the next thread announces comes behind all that this
        // one did.
        self.is_taken.store(false, Ordering::Release);
    }

    /// Makes a slot that is taken, and links it.
    fn link() -> Option<&'static Slot> {
        let layout = std::alloc::Layout::new::<Slot>();
        #[allow(clippy::cast_ptr_alignment)] // it is of the layout
        // SAFETY: a slot has a size.
        let slot = unsafe { std::alloc::alloc(layout) }.cast::<Slot>();
        if slot.is_null() {
            return None;
        }
        let mut next = first().load(Ordering::Relaxed); // the exchange compares
        loop {
            let (announced, is_taken) = (AtomicPtr::new(null_mut()), AtomicBool::new(true));
            let made = Slot { announced, is_taken, next, witness: Witness::default() };
            // SAFETY: allocated above, for this type; no other thread has seen it.
            unsafe { slot.write(made) };
            // Release: publishes the slot; and, as a read-modify-write, keeps what was published before.
            match first().compare_exchange_weak(next, slot, Ordering::Release, Ordering::Relaxed) {
                // SAFETY: initialised, and never freed.
                Ok(_) => return Some(unsafe { &*slot }),
                Err(now) => next = now,
            }
        }
    }
}

/// Whether a thread may be using `what`. Behind a barrier: see the theorem.
pub(crate) fn is_announced<T>(what: *const T) -> bool {
    let what = what.cast_mut().cast();
    // Acquire: pairs with the Release of the stores in `follow`: what was done behind an announcement that is no
    // longer there, is seen.
    slots().any(|slot| slot.announced.load(Ordering::Acquire) == what)
}

/// As [`is_announced`], for users that have a fence [between](Between::Fence) their two looks: behind a fence of the
/// looker's, which has seen that the pointer leads elsewhere.
pub(crate) fn fence_and_look<T>(what: *const T) -> bool {
    fence(Ordering::SeqCst); // pairs with the one in `follow`
    is_announced(what)
}

/// Takes back what has been announced in all slots but one, and frees these. For a forked child, which has no threads but
/// the one that has that slot, if any.
fn forget_all_but(mine: *const Slot) {
    for slot in slots().filter(|slot| !std::ptr::eq(*slot, mine)) {
        slot.announced.store(null_mut(), Ordering::Relaxed); // there is one thread
        slot.give_back();
    }
}

/// Does one thing at one place of a user's program; in a model a barrier interrupts the thread before it or after.
#[inline(always)]
#[allow(clippy::inline_always)] // the path of an add
fn place<R>(act: impl FnOnce() -> R) -> R {
    #[cfg(windrow_announced)]
    let _here = places::enter();
    act()
}
