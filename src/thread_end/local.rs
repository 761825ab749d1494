//! The end of a thread by a thread-local value with a destructor: of `std`, or in a model of the
//! engine.

use std::cell::Cell;
use std::marker::PhantomData;

use super::GiveBack;
#[cfg(any(loom, shuttle))]
use crate::sync::engine::thread_local;
#[cfg(not(any(loom, shuttle)))]
use std::thread_local;

/// The number of kinds of resources.
const KINDS: usize = 2;

/// The resources that this thread gives back.
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

/// Gives back resources of one kind, one for each thread.
pub(crate) struct AtEnd<T>(PhantomData<fn(T)>);

impl<T: GiveBack> AtEnd<T> {
    pub(crate) const fn new() -> AtEnd<T> {
        AtEnd(PhantomData)
    }

    #[allow(clippy::unused_self)] // as where there are keys
    pub(crate) fn prepare(&self) -> bool {
        true
    }

    /// False outside of models: `std` keeps a list of values with destructors, and aborts a process
    /// whose allocator uses such a value.
    #[allow(clippy::unused_self)] // as where there are keys
    pub(crate) fn takes_no_memory(&self) -> bool {
        cfg!(any(loom, shuttle, miri))
    }

    /// Lets `thing` be given back at this thread's end. Returns false if the thread is about to
    /// end.
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

/// Does nothing: `std`, or the engine, calls the destructors.
pub(crate) fn keep_code() {}

/// Returns the same number in all processes: see [`in_children`].
pub(crate) fn process() -> u32 {
    1
}

/// Does nothing: processes do not fork, or no handler can run in a child.
pub(crate) fn in_children(_: extern "C" fn()) -> bool {
    true
}
