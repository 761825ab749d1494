//! The record of everything that an execution has pinned, retired and allocated; and its guards.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard};

use crate::sync::{AtomicUsize, Ordering, engine, fence};

engine::lazy_static! {
    /// New for every execution; its drop checks it.
    pub(super) static ref REGISTRY: Registry = Registry::default();
}

/// Everything that this execution pinned, retired and allocated.
#[derive(Default)]
pub(super) struct Registry {
    /// The one object of the registry that the model checker sees.
    events: AtomicUsize,
    /// Never contended: a model's threads take turns on one system thread, and none holds this lock
    /// across a step of the model.
    records: Mutex<Records>,
}

/// The plain part of the registry.
#[derive(Default)]
struct Records {
    /// The guards that live now, by number.
    live: Vec<usize>,
    /// The number of guards ever made.
    pinned: usize,
    /// The number of retirements.
    retired: usize,
    /// The retired blocks that a guard may still reach.
    waiting: Vec<Retired>,
    /// The memory of every block, freed or not.
    memory: Vec<Memory>,
    /// The number of those blocks that were freed.
    freed: usize,
}

/// An action to run when the last of the guards is dropped that lived at the time of retiring.
struct Retired {
    guards: Vec<usize>,
    action: Box<dyn FnOnce()>,
}

/// A block's memory, and the function that frees it without running a destructor.
pub(super) struct Memory {
    pub(super) block: *mut (),
    pub(super) release: unsafe fn(*mut ()),
}

// SAFETY: loom and shuttle run all threads of an execution on one system thread, one at a time.
// Only that thread has the registry.
unsafe impl Send for Records {}

impl Registry {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().expect("the records are changed without panicking")
    }

    /// Records a new guard and returns its number.
    fn enter(&self) -> usize {
        self.events.fetch_add(1, Ordering::Relaxed);
        let (number, anything_retired) = {
            let mut records = self.records();
            records.pinned += 1;
            let number = records.pinned;
            records.live.push(number);
            (number, records.retired > 0)
        };
        if anything_retired {
            fence(Ordering::Acquire); // pairs with earlier retires: their unlinking is visible
        }
        number
    }

    /// Records the end of a guard, and runs the actions that waited only for it.
    fn leave(&self, guard: usize) {
        self.events.fetch_add(1, Ordering::Release); // pairs with the fence below
        let mut ready = Vec::new();
        {
            let mut records = self.records();
            records.live.retain(|&number| number != guard);
            for mut retired in std::mem::take(&mut records.waiting) {
                retired.guards.retain(|&number| number != guard);
                if retired.guards.is_empty() {
                    ready.push(retired.action);
                } else {
                    records.waiting.push(retired);
                }
            }
        }
        if !ready.is_empty() {
            fence(Ordering::Acquire); // pairs with every unpin so far: they are done with the block
        }
        for action in ready {
            action();
        }
    }

    /// Keeps a block's memory until the execution ends.
    pub(super) fn allocated(&self, memory: Memory) {
        self.records().memory.push(memory);
    }

    /// Records that a block was freed.
    pub(super) fn freed(&self) {
        self.records().freed += 1;
    }

    /// Defers `action` until every guard that lives now is dropped.
    fn retire(&self, action: Box<dyn FnOnce()>) {
        self.events.fetch_add(1, Ordering::AcqRel); // pairs with later pins
        let mut records = self.records();
        records.retired += 1;
        let guards = records.live.clone();
        assert!(!guards.is_empty(), "retired under a guard that is gone");
        records.waiting.push(Retired { guards, action });
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // the execution has failed already
        }
        let records = std::mem::take(&mut *self.records());
        let allocated = records.memory.len();
        for Memory { block, release } in records.memory {
            // SAFETY: `release` came with `block`. The execution that used it is over.
            unsafe { release(block) };
        }
        assert!(records.live.is_empty(), "{} guards were never dropped", records.live.len());
        assert!(records.waiting.is_empty(), "{} deferred actions never ran", records.waiting.len());
        let leaked = allocated - records.freed;
        assert!(leaked == 0, "{leaked} of {allocated} blocks were never freed");
    }
}

/// Keeps blocks alive that were not yet retired when the guard was made.
pub(crate) struct Guard {
    number: usize,
    not_send: PhantomData<*mut ()>,
}

engine::thread_local! {
    /// The number of this thread's guards.
    static GUARDS: Cell<usize> = Cell::new(0);
}

/// Returns whether this thread has a guard.
#[cfg(any(windrow_per_core, windrow_announced))]
pub(crate) fn is_pinned() -> bool {
    GUARDS.with(|guards| guards.get() > 0)
}

/// Pins this thread.
pub(crate) fn pin() -> Guard {
    GUARDS.with(|guards| guards.set(guards.get() + 1));
    Guard { number: REGISTRY.enter(), not_send: PhantomData }
}

// The interface is crossbeam-epoch's; the library does not use all of it.
#[allow(dead_code)]
impl Guard {
    /// Calls `action` when every guard that lives now is gone.
    pub(crate) fn defer<F, R>(&self, action: F)
    where
        F: FnOnce() -> R + Send + 'static,
    {
        // SAFETY: `action` owns what it touches and may run on any thread.
        unsafe { self.defer_unchecked(action) };
    }

    /// Calls `action` when every guard that lives now is gone.
    ///
    /// # Safety
    ///
    /// Borrows of `action` must live until then. Any thread may call it.
    #[allow(clippy::unused_self)] // a guard is the proof that one lives
    pub(crate) unsafe fn defer_unchecked<F, R>(&self, action: F)
    where
        F: FnOnce() -> R,
    {
        let action: Box<dyn FnOnce() + '_> = Box::new(move || drop(action()));
        // SAFETY: only the lifetime changes; the caller vouches for the borrows.
        REGISTRY.retire(unsafe {
            std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(action)
        });
    }

    /// Does nothing: no action waits in a bag here.
    #[allow(clippy::unused_self)]
    pub(crate) fn flush(&self) {}

    /// Drops the guard and pins anew.
    pub(crate) fn repin(&mut self) {
        REGISTRY.leave(self.number);
        self.number = REGISTRY.enter();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            GUARDS.with(|guards| guards.set(guards.get() - 1));
            REGISTRY.leave(self.number);
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.number).finish()
    }
}
