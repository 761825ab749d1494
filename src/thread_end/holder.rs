//! Exclusive ownership of a resource by a thread, tagged with the process that took it.
//!
//! # Theorem
//!
//! If each thread uses the resource only between [`take`](Holder::take) and
//! [`give_back`](Holder::give_back), then no two threads use it at the same time, also in a forked
//! child, and everything that one does with it happens before everything that the next one does.
//!
//! # Why
//!
//! One compare-exchange takes it, Acquire, and one gives it back, Release.
//!
//! A forked child has its parent's memory, but only one thread. Resources of the others are tagged
//! with the parent's number there, and [are freed](Holder::free_in_child). But handlers of the
//! application may have run in the child before, and started threads: their resources are tagged
//! with the child's number, and stay theirs.
//!
//! A thread that gives a resource back passes the process number that it read at the beginning. If
//! a signal handler forks in between, the child frees the resource, and another thread there may
//! take it. Then the tag differs from that number, and the resource is not given back twice.
//!
//! Two processes may have the same number (a child in a new namespace of numbers; a reused number).
//! Then nothing is freed in the child, which only has fewer free resources. The same happens if a
//! handler forks while its thread takes a resource.

use super::process;
use crate::sync::{AtomicU32, Ordering, const_fn};

/// The owner of a resource: [`FREE`], or the number of the process to which the owning thread
/// belongs.
#[derive(Debug)]
pub(crate) struct Holder(AtomicU32);

const FREE: u32 = 0;

impl Holder {
    const_fn! {
        /// Returns the holder of a free resource.
        pub(crate) const fn free() -> Holder {
            Holder(AtomicU32::new(FREE))
        }
    }

    /// Takes the resource for this thread; returns false if another thread has it.
    /// Async-signal-safe.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Acquire: pairs with the Release in `give_back`. Relaxed: on failure another thread has
        // it.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        // Relaxed: a look first, so that a visit to a taken resource, the usual case, writes
        // nothing.
        self.0.load(Ordering::Relaxed) == FREE
            && self.0.compare_exchange(FREE, process(), order, failed).is_ok()
    }

    /// Gives the resource back, if it is still tagged with this process number.
    #[inline]
    pub(crate) fn give_back(&self, process: u32) {
        // Release: pairs with the Acquire in `take`. Relaxed: on failure it belongs to another
        // thread, of a forked child.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.0.compare_exchange(process, FREE, order, failed);
    }

    /// In the forked child with the number `child`: tags the forking thread's resource with that
    /// number.
    #[inline]
    pub(crate) fn keep_in_child(&self, child: u32) {
        self.0.store(child, Ordering::Relaxed); // only the owner writes it
    }

    /// In that child: returns whether the owner is a thread that the child does not have. (Not for
    /// the forking thread's resources.)
    #[inline]
    pub(crate) fn is_absent(&self, child: u32) -> bool {
        ![FREE, child].contains(&self.0.load(Ordering::Relaxed)) // no other thread writes it then
    }

    /// In that child: frees the resource of such a thread.
    #[inline]
    pub(crate) fn free_in_child(&self) {
        // Release: pairs with the Acquire in `take`.
        self.0.store(FREE, Ordering::Release);
    }

    /// Returns whether any thread has the resource.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed) != FREE
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_given_back_by_the_process_that_has_it() {
        let holder = Holder::free();
        assert!(holder.take() && !holder.take());
        let (parent, child) = (process(), process() + 1);
        holder.give_back(child);
        assert!(holder.is_taken());
        holder.give_back(parent);
        assert!(holder.take());
    }

    #[test]
    fn a_child_frees_what_bears_another_number_and_nothing_else() {
        let (holder, parent, child) = (Holder::free(), process(), process() + 1);
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
