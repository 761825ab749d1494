//! The list of all tickers, by which a forked child marks them as without a thread.
//!
//! A child has its parent's memory and none of its threads: the time that a ticker's thread
//! published would stand still there. So a handler runs in each child before anything else
//! (`pthread_atfork(3)`), and [orphans](super::tick::Tick::orphan) every ticker.
//!
//! The same handler counts forks, because no thread of the child will finish an operation that a
//! thread of the parent had begun (see `ring/coordination/closer`).
//!
//! At a fork, other threads of the parent may be in the middle of anything. So the handler must
//! neither wait nor allocate: it walks a list, by atomic operations. Registrations are added, never
//! freed, and reused by one ticker after another. Their number is the maximum number of tickers
//! that existed at one time.

use std::io;
use std::iter::successors;
use std::ptr::null_mut;
use std::sync::Arc;

use super::tick::Tick;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, Ordering, fence};

/// An entry of the list, which points to a ticker as long as it lives.
#[derive(Debug)]
pub(super) struct Registration {
    /// Null if the registration is free.
    tick: AtomicPtr<Tick>,
    next: Option<&'static Registration>,
}

/// The registration that was added last.
static FIRST: AtomicPtr<Registration> = AtomicPtr::new(null_mut());

/// The handler is installed.
static HANDLED: AtomicBool = AtomicBool::new(false);

/// The number of forks between the first process and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns a number that is not zero, and differs between a forked child and its parent if
/// [`watch`] was called before.
#[inline]
pub(crate) fn process() -> u32 {
    // Relaxed: the first thread of a process writes it, before it starts any other.
    FORKS.load(Ordering::Relaxed).wrapping_add(1).max(1)
}

/// Starts counting forks, if the system allows it.
#[inline]
pub(crate) fn watch() {
    let _ = handle();
}

fn first() -> Option<&'static Registration> {
    // SAFETY: null or a registration, none of which is ever freed. Acquire: pairs with the Release
    // in `add`.
    unsafe { FIRST.load(Ordering::Acquire).as_ref() }
}

#[inline]
fn registrations() -> impl Iterator<Item = &'static Registration> {
    successors(first(), |registration| registration.next)
}

/// Registers `tick`, so that forked children orphan it until its registration is
/// [left](Registration::leave).
#[inline]
pub(super) fn enter(tick: &Arc<Tick>) -> io::Result<&'static Registration> {
    handle()?;
    let tick = Arc::as_ptr(tick).cast_mut();
    Ok(registrations().find(|registration| registration.take(tick)).unwrap_or_else(|| add(tick)))
}

/// Installs the handler that runs in children, if it is not installed yet. Two threads at once may
/// install it twice, which does no harm. No thread waits for another one, which might not exist in
/// a child.
#[inline]
fn handle() -> io::Result<()> {
    // Acquire: pairs with the Release below. If this thread forks, the handler is installed.
    if HANDLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // SAFETY: the handler does only what a child may do.
    match unsafe { libc::pthread_atfork(None, None, Some(orphan_all)) } {
        0 => {
            HANDLED.store(true, Ordering::Release);
            Ok(())
        }
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Adds a registration, for `tick`.
#[inline]
fn add(tick: *mut Tick) -> &'static Registration {
    let mut next = first();
    loop {
        let registration =
            Box::into_raw(Box::new(Registration { tick: AtomicPtr::new(tick), next }));
        let before = next.map_or(null_mut(), |next| std::ptr::from_ref(next).cast_mut());
        // Release: publishes the registration, and the ticker. Relaxed: `first` loads it again.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        if FIRST.compare_exchange(before, registration, order, failed).is_ok() {
            // SAFETY: the registration is never freed, and written by atomic operations only.
            return unsafe { &*registration };
        }
        // SAFETY: made above; no other thread has seen it.
        drop(unsafe { Box::from_raw(registration) });
        next = first();
    }
}

impl Registration {
    #[inline]
    fn take(&self, tick: *mut Tick) -> bool {
        // Release: publishes the ticker, to `orphan_all`. Relaxed: on failure another ticker has
        // the registration.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        self.tick.compare_exchange(null_mut(), tick, order, failed).is_ok()
    }

    /// Leaves the registration, while the ticker still lives.
    #[inline]
    pub(super) fn leave(&self) {
        // Relaxed: the next `take` publishes a ticker of its own.
        self.tick.store(null_mut(), Ordering::Relaxed);
        // A child must not see the end of the ticker without this store: its memory is a state that
        // some thread of the parent might have seen. So the code that frees the ticker comes after
        // the fence.
        fence(Ordering::SeqCst);
    }
}

/// Runs first in a forked child, which has only this thread.
extern "C" fn orphan_all() {
    FORKS.fetch_add(1, Ordering::Relaxed); // there is one thread
    for registration in registrations() {
        // SAFETY: null, or a ticker that has not left its registration and so lives. Acquire: pairs
        // with the Release in `take`, or, if the registration was added with this ticker, in `add`.
        if let Some(tick) = unsafe { registration.tick.load(Ordering::Acquire).as_ref() } {
            tick.orphan();
        }
    }
}
