//! What a window is made of: at once, or at its first use if it is a static's.
//!
//! A constant cannot allocate. So a window in a static begins with a recipe alone, and the first
//! thread that uses it makes the ring. One byte says whether there is one. An add looks at this
//! byte in place of the ring's strategy, so it needs no instruction more.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, offset_of};
use std::ops::Deref;
#[cfg(not(any(loom, shuttle)))]
use std::panic::RefUnwindSafe;
use std::sync::Once;
// Also in a model, where each window is made before it is shared: there is nothing to try.
use std::sync::atomic::{AtomicU8, Ordering};

use crate::clock::Clock;
use crate::event::layout::BucketLayout;
use crate::ring::{Geometry, Ring};
use crate::stripe::Strategy;
use crate::timestamp::Timestamp;
use crate::window::identity::Identity;

/// How adds go: nothing is made yet.
const NOT_MADE: u8 = 0;
/// Per core, by concurrency id: nearly always.
const BY_ID: u8 = 1;
/// By an announcement.
const PORTABLE: u8 = 2;
/// Otherwise.
const OTHERWISE: u8 = 3;

/// What a window is made of: its clock, and the [ring](Ring) that it derefs to.
pub(super) struct Made<C> {
    /// Is [`NOT_MADE`] until `ring` and `since` are there, and never again.
    way: AtomicU8,
    once: Once,
    recipe: Option<Recipe>,
    clock: C,
    since: UnsafeCell<MaybeUninit<Since>>,
    /// Beside the others, not in one cell with them: it is padded.
    ring: UnsafeCell<MaybeUninit<Ring>>,
}

/// Of a window that makes itself.
#[derive(Clone, Copy)]
struct Recipe {
    geometry: Geometry,
    layout: BucketLayout,
}

/// Since when it is there.
#[derive(Clone, Copy)]
struct Since {
    /// What the clock said then.
    built: Timestamp,
    identity: Identity,
}

// SAFETY: the cells are written once, by the one thread that `once` lets in, before `way` says that
// they are. All others look at them after it has said so (Acquire), and only share them.
unsafe impl<C: Sync> Sync for Made<C> where Ring: Send + Sync {}

// A panic in the middle of a call leaves the cells as it found them: they are written whole.
#[cfg(not(any(loom, shuttle)))]
impl<C: RefUnwindSafe> RefUnwindSafe for Made<C> where Ring: RefUnwindSafe {}

impl<C> Made<C> {
    /// Makes it of a ring, at once.
    pub(super) fn of(ring: Ring, clock: C, built: Timestamp) -> Made<C> {
        let since = MaybeUninit::new(Since { built, identity: Identity::new() });
        Made {
            way: AtomicU8::new(way(&ring)),
            once: Once::new(),
            recipe: None,
            clock,
            since: UnsafeCell::new(since),
            ring: UnsafeCell::new(MaybeUninit::new(ring)),
        }
    }

    /// Says how to make it at the first use.
    #[cfg(not(any(loom, shuttle)))]
    pub(super) const fn at_first_use(
        geometry: Geometry,
        layout: BucketLayout,
        clock: C,
    ) -> Made<C> {
        Made {
            way: AtomicU8::new(NOT_MADE),
            once: Once::new(),
            recipe: Some(Recipe { geometry, layout }),
            clock,
            since: UnsafeCell::new(MaybeUninit::uninit()),
            ring: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the ring if adds to it are per core, by concurrency id.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(super) fn by_id(&self) -> Option<&Ring> {
        // SAFETY: what has a way is made.
        self.goes::<BY_ID>().then(|| unsafe { self.made() })
    }

    /// Returns the ring if adds to it are announced.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(super) fn portable(&self) -> Option<&Ring> {
        // SAFETY: as above.
        self.goes::<PORTABLE>().then(|| unsafe { self.made() })
    }

    /// Returns the ring, without a look whether it is made.
    ///
    /// # Safety
    ///
    /// It is made, and this thread knows it: another method has returned the ring.
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address
    pub(super) unsafe fn made(&self) -> &Ring {
        // SAFETY: it is written, and not written again before `drop`.
        unsafe { (*self.ring.get()).assume_init_ref() }
    }

    pub(super) fn clock(&self) -> &C {
        &self.clock
    }

    /// Whether adds go this way. Acquire: pairs with the Release in `make`.
    #[cfg(any(not(all(target_arch = "x86_64", target_pointer_width = "64")), miri))]
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    fn goes<const WAY: u8>(&self) -> bool {
        self.way.load(Ordering::Acquire) == WAY
    }

    /// Whether adds go this way. Acquire: pairs with the Release in `make`. On x86 any load is.
    ///
    /// The compiler does not merge an atomic load with the comparison behind it. This does, and
    /// spares an add an instruction.
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    fn goes<const WAY: u8>(&self) -> bool {
        // SAFETY: reads a byte of `self`, whole. (It is not said to be `readonly`: so the compiler
        // moves no later load before it.)
        unsafe {
            std::arch::asm!(
                "cmp byte ptr [{made} + {at}], {way}",
                "jne {other}",
                made = in(reg) self,
                at = const offset_of!(Made<C>, way),
                way = const WAY,
                other = label { return false },
                options(nostack),
            );
        }
        true
    }
}

impl<C: Clock> Made<C> {
    /// Returns when it was made, by its clock; a window in a static is made by this.
    pub(super) fn built(&self) -> Timestamp {
        self.since().built
    }

    /// Returns which window it is; one in a static is made by this, too.
    pub(super) fn identity(&self) -> Identity {
        self.since().identity
    }

    fn since(&self) -> Since {
        self.make_sure();
        // SAFETY: it is made: so this is written, too.
        unsafe { (*self.since.get()).assume_init() }
    }

    /// Makes it, if it is not there.
    #[inline]
    fn make_sure(&self) {
        if self.goes::<NOT_MADE>() {
            self.make();
        }
    }

    /// Makes it, or waits for the thread that does.
    #[cold]
    #[inline(never)]
    fn make(&self) {
        let Some(Recipe { geometry, layout }) = self.recipe else {
            unreachable!("only what has a recipe is not made at once")
        };
        self.once.call_once(|| {
            let built = self.clock.now();
            let made = Ring::new(geometry, Vec::new(), layout, built.as_nanos());
            // It is refused only if there is no memory for its slots.
            let ring = made.unwrap_or_else(|_| handle_alloc_error(Layout::new::<Ring>()));
            let way = way(&ring);
            let since = Since { built, identity: Identity::new() };
            // SAFETY: `once` lets one thread in, once; others look at the cells after `way` says
            // so.
            unsafe { (*self.since.get()).write(since) };
            // SAFETY: as above.
            unsafe { (*self.ring.get()).write(ring) };
            // Release: a thread that sees a way sees what is written.
            self.way.store(way, Ordering::Release);
        });
    }
}

/// How adds to a ring go.
fn way(ring: &Ring) -> u8 {
    match ring.strategy() {
        Strategy::PerCore if ring.is_by_id() => BY_ID,
        Strategy::Portable => PORTABLE,
        _ => OTHERWISE,
    }
}

/// The ring, which is made if it is not there.
impl<C: Clock> Deref for Made<C> {
    type Target = Ring;

    #[inline]
    fn deref(&self) -> &Ring {
        self.make_sure();
        // SAFETY: it is made: `goes` or `once` has said so.
        unsafe { self.made() }
    }
}

impl<C> Drop for Made<C> {
    fn drop(&mut self) {
        if *self.way.get_mut() != NOT_MADE {
            // SAFETY: it is made, and this is the last that looks at it.
            unsafe { self.ring.get_mut().assume_init_drop() };
        }
    }
}
