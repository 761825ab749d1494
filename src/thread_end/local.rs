//! By a thread-local value that has a destructor: std's, or in a model the engine's.

use std::cell::Cell;
use std::marker::PhantomData;

use super::GiveBack;
#[cfg(any(loom, shuttle))]
use crate::sync::engine::thread_local;
#[cfg(not(any(loom, shuttle)))]
use std::thread_local;

/// As many kinds of things as there are.
const KINDS: usize = 2;

/// What this thread gives back.
#[derive(Default)]
struct Things(Cell<[Option<&'static dyn GiveBack>; KINDS]>);

impl Drop for Things {
    fn drop(&mut self) {
        self.0.take().into_iter().flatten().for_each(GiveBack::give_back);
    }
}

thread_local! {
    static THINGS: Things = Things::default();
}

/// Has things of one kind given back, one a thread.
pub(crate) struct AtEnd<T>(PhantomData<fn(T)>);

impl<T: GiveBack> AtEnd<T> {
    pub(crate) const fn new() -> AtEnd<T> {
        AtEnd(PhantomData)
    }

    #[allow(clippy::unused_self)] // as where there are keys
    pub(crate) fn prepare(&self) -> bool {
        true
    }

    /// Outside of models it may: std keeps a list of what has destructors, and ends a process whose
    /// allocator uses such a value.
    #[allow(clippy::unused_self)] // as where there are keys
    pub(crate) fn takes_no_memory(&self) -> bool {
        cfg!(any(loom, shuttle, miri))
    }

    /// Has `thing` given back at this thread's end. False if the thread is about to end.
    #[allow(clippy::unused_self)] // as where there are keys
    pub(crate) fn arm(&self, thing: &'static T) -> bool {
        let put = |things: &Things| {
            let mut all = things.0.get();
            let free = all.iter_mut().find(|place| place.is_none());
            let is_free = free.map(|place| *place = Some(thing)).is_some();
            things.0.set(all);
            is_free
        };
        THINGS.try_with(put).unwrap_or(false)
    }
}

/// Std, or the engine, calls what ends a thread.
pub(crate) fn keep_code() {}

/// One number for all: see [`in_children`].
pub(crate) fn process() -> u32 {
    1
}

/// Where processes do not fork, or a child cannot be told of it: nothing runs there.
pub(crate) fn in_children(_: extern "C" fn()) -> bool {
    true
}
