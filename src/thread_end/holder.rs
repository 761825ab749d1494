//! Who has a thing that one thread at a time has: nobody, or a thread of the process with a certain
//! number.
//!
//! # Theorem
//!
//! Let each thread use the thing only between [`take`](Holder::take) and
//! [`give_back`](Holder::give_back). Then no two threads have it at the same time, in a forked
//! child neither, and all that one does with it happens before what the next one does.
//!
//! # Why
//!
//! One compare-exchange takes it, Acquire, and one gives it back, Release.
//!
//! A forked child has its parent's memory, but one thread alone. What the others had bears the
//! parent's number there, and [is freed](Holder::free_in_child). But handlers of the application
//! may have run in the child before, and started threads: what these have bears the child's number,
//! and stays theirs.
//!
//! Who gives a thing back says which number it had when it began to. If a signal handler forks in
//! between, the child frees the thing, and another thread there may take it. Then the number is
//! another, and nothing is given back twice.
//!
//! Two processes may have one number (a child in a new namespace of numbers; a number that is used
//! again). Then nothing is freed in the child, and it has so many things fewer. So it is where a
//! handler forks while its thread takes a thing.

use super::process;
use crate::sync::{AtomicU32, Ordering, const_fn};

/// Who has a thing: [`NOBODY`], or the number of the process whose thread it is.
#[derive(Debug)]
pub(crate) struct Holder(AtomicU32);

const NOBODY: u32 = 0;

impl Holder {
    const_fn! {
        /// Of a thing that nobody has.
        pub(crate) const fn nobody() -> Holder {
            Holder(AtomicU32::new(NOBODY))
        }
    }

    /// Takes the thing for this thread; false if another has it. Async-signal-safe.
    pub(crate) fn take(&self) -> bool {
        // Acquire: pairs with the Release in `give_back`. Relaxed: another thread has it.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        // Relaxed: a look at those that are taken, which are most, writes nothing.
        self.0.load(Ordering::Relaxed) == NOBODY
            && self.0.compare_exchange(NOBODY, process(), order, failed).is_ok()
    }

    /// Gives the thing back, if it is still of the process with this number.
    pub(crate) fn give_back(&self, process: u32) {
        // Release: pairs with the Acquire in `take`. Relaxed: it is another thread's, of a forked
        // child.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.0.compare_exchange(process, NOBODY, order, failed);
    }

    /// In the forked child with the number `child`: says that the forking thread's thing is the
    /// child's.
    pub(crate) fn keep_in_child(&self, child: u32) {
        self.0.store(child, Ordering::Relaxed); // nobody else writes what a thread has
    }

    /// There: whether a thread has the thing that is not there. (Of those that the forking thread
    /// has not.)
    pub(crate) fn is_absent(&self, child: u32) -> bool {
        ![NOBODY, child].contains(&self.0.load(Ordering::Relaxed)) // nobody else writes what is so
    }

    /// There: frees such a thing.
    pub(crate) fn free_in_child(&self) {
        // Release: pairs with the Acquire in `take`.
        self.0.store(NOBODY, Ordering::Release);
    }

    /// Whether any thread has it.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NOBODY
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_given_back_by_the_process_that_has_it() {
        let holder = Holder::nobody();
        assert!(holder.take() && !holder.take());
        let (parent, child) = (process(), process() + 1);
        holder.give_back(child);
        assert!(holder.is_taken());
        holder.give_back(parent);
        assert!(holder.take());
    }

    #[test]
    fn a_child_frees_what_bears_another_number_and_nothing_else() {
        let (holder, parent, child) = (Holder::nobody(), process(), process() + 1);
        assert!(!holder.is_absent(child));
        assert!(holder.take());
        assert!(holder.is_absent(child) && !holder.is_absent(parent));
        holder.keep_in_child(child);
        assert!(!holder.is_absent(child));
        holder.give_back(parent); // begun before the fork
        assert!(holder.is_taken());
        holder.free_in_child();
        assert!(!holder.is_taken());
    }
}
