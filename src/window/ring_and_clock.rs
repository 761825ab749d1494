//! A window's ring and clock, made at once or, for a window in a static, at the first use.
//!
//! A constant cannot allocate. So a window in a static begins with a recipe alone, and the first
//! thread that uses it makes the ring. One byte says whether the ring exists. An add reads this
//! byte instead of the ring's strategy, so it needs no further instruction.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::mem::offset_of;
use std::ops::Deref;
#[cfg(not(any(loom, shuttle)))]
use std::panic::RefUnwindSafe;
use std::sync::Once;
// `std`'s types in models too: there each window is made before it is shared, so there is no race
// to explore.
use std::sync::atomic::{AtomicU8, Ordering};

use crate::address_dependency::{self, Zero};
use crate::clock::Clock;
use crate::error::BuildError;
use crate::event::layout::BucketLayout;
use crate::exemplar::Exemplars;
use crate::ring::{Geometry, Ring};
use crate::stripe::Strategy;
use crate::stripe::live_bucket::HasLive;
use crate::timestamp::Timestamp;
use crate::window::window_number::Identity;

/// Adds go per core, in line: the usual way, and the quickest one to look for.
const IN_LINE: u8 = 0;
/// The ring is not made yet.
const NOT_MADE: u8 = 1;
/// Adds are announced.
const PORTABLE: u8 = 2;
/// Adds go in any other way.
const OTHERWISE: u8 = 3;

/// A window's clock, and its [ring](Ring), to which it dereferences.
///
/// The fields stand in this order. What an add reads of a window is at its beginning: the way, the
/// clock and the ring's newest bucket. So an add to a window that was not used for a while waits
/// for one line of it. What else is in that line, and in its neighbour, changes when a bucket is
/// opened, or never, unless it is a clock whose time stands in itself, which each add reads.
#[repr(C, align(128))]
pub(super) struct Made<C> {
    /// [`NOT_MADE`] until `ring` and `beginning` are written, and never again.
    way: AtomicU8,
    once: Once,
    clock: C,
    ring: UnsafeCell<MaybeUninit<Ring>>,
    beginning: UnsafeCell<Beginning>,
    /// The exemplars of the events.
    exemplars: Exemplars,
}

/// A recipe for the ring of a window in a static.
#[derive(Clone, Copy)]
struct Recipe {
    geometry: Geometry,
    layout: BucketLayout,
    /// Makes the ring. A constant that is known when the program is compiled: so the program does
    /// not contain the code for events that its windows do not have.
    make: fn(Geometry, BucketLayout, u64) -> Result<Ring, BuildError>,
}

/// The state of a window: a recipe until the ring is made, and its beginning from then on.
enum Beginning {
    /// Its ring is not made yet.
    #[cfg_attr(any(loom, shuttle), allow(dead_code))] // there are no statics in models
    Ahead(Recipe),
    Made(Since),
}

/// The beginning of a window whose ring is made.
#[derive(Clone, Copy)]
struct Since {
    /// The clock's reading at that time.
    built: Timestamp,
    identity: Identity,
}

// SAFETY: the cells are written once, by the one thread that `once` lets in, before `way` says that
// they are. All other threads read them after that (Acquire), by shared references only.
unsafe impl<C: Sync> Sync for Made<C> where Ring: Send + Sync {}

// A panic in the middle of a call leaves the cells as they were: they are written whole.
#[cfg(not(any(loom, shuttle)))]
impl<C: RefUnwindSafe> RefUnwindSafe for Made<C> where Ring: RefUnwindSafe {}

/// The ring may not be made yet: nothing but an address comes of this.
impl<C> HasLive for Made<C> {
    const CURRENT: usize = offset_of!(Made<C>, ring) + Ring::CURRENT;
    const GUESS: usize = offset_of!(Made<C>, ring) + Ring::GUESS;
}

impl<C> Made<C> {
    /// Makes the window of an existing ring.
    pub(super) fn of(ring: Ring, clock: C, built: Timestamp) -> Made<C> {
        let since = Since { built, identity: Identity::new() };
        Made {
            way: AtomicU8::new(way(&ring)),
            once: Once::new(),
            clock,
            ring: UnsafeCell::new(MaybeUninit::new(ring)),
            beginning: UnsafeCell::new(Beginning::Made(since)),
            exemplars: Exemplars::new(),
        }
    }

    /// Makes a window whose ring is made at the first use.
    #[cfg(not(any(loom, shuttle)))]
    pub(super) const fn at_first_use(
        geometry: Geometry,
        layout: BucketLayout,
        clock: C,
    ) -> Made<C> {
        let make = if layout.has_counts_alone() { Ring::of_counts } else { Ring::without_tiers };
        Made {
            way: AtomicU8::new(NOT_MADE),
            once: Once::new(),
            clock,
            ring: UnsafeCell::new(MaybeUninit::uninit()),
            beginning: UnsafeCell::new(Beginning::Ahead(Recipe { geometry, layout, make })),
            exemplars: Exemplars::new(),
        }
    }

    /// Looks whether adds are per core, in line. Then the ring is made, and is seen so at addresses
    /// that depend on the look.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(super) fn in_line(&self) -> Option<Zero> {
        self.seen_to_go::<IN_LINE>()
    }

    /// Looks in the same way whether adds are announced.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(super) fn portable(&self) -> Option<Zero> {
        self.seen_to_go::<PORTABLE>()
    }

    /// Returns the ring, without checking that it is made.
    ///
    /// # Safety
    ///
    /// The ring is made, and this thread knows it by another method; if by one that orders only
    /// what is at addresses that depend on its answer, `self` is such an address.
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address
    pub(super) unsafe fn made(&self) -> &Ring {
        // SAFETY: the ring is written, and not written again before `drop`.
        unsafe { (*self.ring.get()).assume_init_ref() }
    }

    pub(super) fn clock(&self) -> &C {
        &self.clock
    }

    pub(super) fn exemplars(&self) -> &Exemplars {
        &self.exemplars
    }

    /// Looks whether adds go this way, for an add.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    fn seen_to_go<const WAY: u8>(&self) -> Option<Zero> {
        if address_dependency::ON {
            // Relaxed: the ring's fields are seen as made, by addresses that depend on this.
            let way = self.way.load(Ordering::Relaxed);
            return Zero::of((way ^ WAY).into());
        }
        self.goes::<WAY>().then_some(Zero::ORDERED)
    }

    /// Returns whether adds go this way. Acquire: pairs with the Release in `make`.
    #[cfg(any(not(all(target_arch = "x86_64", target_pointer_width = "64")), miri))]
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    fn goes<const WAY: u8>(&self) -> bool {
        self.way.load(Ordering::Acquire) == WAY
    }

    /// Returns whether adds go this way. Acquire: pairs with the Release in `make`. On x86 every
    /// load is Acquire.
    ///
    /// The compiler does not merge an atomic load with the comparison after it. This code does,
    /// which saves an add one instruction.
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    fn goes<const WAY: u8>(&self) -> bool {
        // SAFETY: reads one whole byte of `self`. (The option `readonly` is left out, so that the
        // compiler moves no later load before it.)
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
    /// Returns the time at which the window was made, by its clock. Makes a window in a static.
    pub(super) fn built(&self) -> Timestamp {
        self.since().built
    }

    /// Returns the window's identity. Makes a window in a static.
    pub(super) fn identity(&self) -> Identity {
        self.since().identity
    }

    fn since(&self) -> Since {
        self.make_sure();
        // SAFETY: the ring is made, so the beginning is not written again.
        match unsafe { &*self.beginning.get() } {
            Beginning::Made(since) => *since,
            Beginning::Ahead(_) => unreachable!("the ring is made, and its beginning is not"),
        }
    }

    /// Makes the ring, if it is not made yet.
    #[inline]
    fn make_sure(&self) {
        if self.goes::<NOT_MADE>() {
            self.make();
        }
    }

    /// Makes the ring, or waits for the thread that does.
    #[cold]
    #[inline(never)]
    fn make(&self) {
        self.once.call_once(|| {
            // SAFETY: `once` lets one thread in, once; others read the cells after `way` says so.
            let beginning = unsafe { &mut *self.beginning.get() };
            let Beginning::Ahead(Recipe { geometry, layout, make }) = *beginning else {
                unreachable!("only a window with a recipe is not made at once")
            };
            let built = self.clock.now();
            let made = make(geometry, layout, built.as_nanos());
            // A ring is refused only if there is no memory for its slots.
            let ring = made.unwrap_or_else(|_| handle_alloc_error(Layout::new::<Ring>()));
            let way = way(&ring);
            let since = Since { built, identity: Identity::new() };
            *beginning = Beginning::Made(since);
            // SAFETY: as above.
            unsafe { (*self.ring.get()).write(ring) };
            // Release: a thread that sees the way sees the cells as written here.
            self.way.store(way, Ordering::Release);
        });
    }
}

/// Returns the way in which adds to a ring go.
fn way(ring: &Ring) -> u8 {
    match ring.strategy() {
        Strategy::PerCore if ring.is_in_line() => IN_LINE,
        Strategy::Portable => PORTABLE,
        _ => OTHERWISE,
    }
}

/// Returns the ring, and makes it first if necessary.
impl<C: Clock> Deref for Made<C> {
    type Target = Ring;

    #[inline]
    fn deref(&self) -> &Ring {
        self.make_sure();
        // SAFETY: the ring is made, as `goes` or `once` has said.
        unsafe { self.made() }
    }
}

impl<C> Drop for Made<C> {
    fn drop(&mut self) {
        if *self.way.get_mut() != NOT_MADE {
            // SAFETY: the ring is made, and this is the last access to it.
            unsafe { self.ring.get_mut().assume_init_drop() };
        }
    }
}
