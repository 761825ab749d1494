//! Adds to a counter through a handle, which find the counter's column without its series.
//!
//! After other work, each line of memory that an add touches is one to wait for, and a line whose
//! address is in another comes after that. A handle points to its series, and the series' counter
//! has the word of its column. So the handle repeats the word: an add then reads the handle and the
//! cell, as an add to a counter of its own reads the counter and the cell.
//!
//! # Why
//!
//! A counter's word changes once, from null to that of its column, or of none; and the column is
//! given back when the counter is dropped. The handle keeps the series, and with it the counter. So
//! a word that is not null is the counter's as long as there is the handle, also if the series was
//! removed from its family. The first add through a handle finds null, and repeats the word.

use std::mem::offset_of;
use std::ptr::{NonNull, from_ref};

use super::Handle;
use crate::arena::on_demand::Repeated;
use crate::counters::{Counter, Striped, at_least_release};
use crate::family::labels::Labels;
use crate::family::series::Series;
use crate::stripe::column_write::{Add, Number, put};
use crate::sync::{AtomicU64, Ordering};

/// # A counter's handle
impl<L: Labels> Handle<L, Counter> {
    /// Adds `n` to the counter, wrapping: [`Counter::add`] without a look at the series.
    ///
    /// After other work, which has left nothing of the series in the processor's caches, an add
    /// waits for one line of memory less than through the series. The first add through each
    /// handle takes longer: it looks at the series.
    ///
    /// ```
    /// use windrow::{Counter, Family, labels};
    ///
    /// labels! { pub struct Route { route: str } }
    ///
    /// static BYTES: Family<Route, Counter> = Family::new();
    ///
    /// let cart = BYTES.handle(Route { route: "/cart" });
    /// cart.add(512);
    /// assert_eq!(cart.sum(), 512);
    /// ```
    #[inline]
    pub fn add(&self, n: u64) {
        put(self.counter(), Add(n, at_least_release(Ordering::Relaxed))); // as a counter's own add
    }

    /// Adds 1 to the counter, as [`add`](Self::add) does.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// # static REQUESTS: Family<Route, Counter> = Family::new();
    /// let cart = REQUESTS.handle(Route { route: "/cart" });
    /// cart.increment();
    /// assert_eq!(cart.sum(), 1);
    /// ```
    #[inline]
    pub fn increment(&self) {
        self.add(1);
    }
}

impl<L: Labels> Handle<L, Counter> {
    #[inline]
    fn counter(&self) -> &OfHandle {
        const { assert!(size_of::<Self>() == size_of::<OfHandle>()) };
        const { assert!(offset_of!(Series<L, Counter>, metric) == 0) };
        // SAFETY: both are `repr(C)`, with the same fields: a series begins with its counter, and a
        // reference to it is a pointer.
        unsafe { &*from_ref(self).cast::<OfHandle>() }
    }
}

/// A [`Handle`] of a counter, for any labels: the code of its adds is the same for all.
#[repr(C)]
struct OfHandle {
    counter: NonNull<Counter>,
    column: Repeated,
}

impl OfHandle {
    fn cells(&self) -> &Striped {
        // SAFETY: the handle keeps the series, and with it the counter.
        unsafe { self.counter.as_ref() }.cells()
    }
}

// SAFETY: both words are the counter's, or null.
unsafe impl Number for &OfHandle {
    #[inline]
    fn word(self) -> *mut AtomicU64 {
        self.column.dependent_word()
    }

    #[inline]
    fn claimed(self) -> *mut AtomicU64 {
        let word = self.cells().claimed();
        self.column.repeat(word);
        word
    }

    fn aside(&self) -> &AtomicU64 {
        self.cells().cell_aside()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::labels::RuntimeLabels;
    use crate::{Counter, Family};

    fn family() -> Family<RuntimeLabels, Counter> {
        Family::with_names(["one"]).unwrap()
    }

    #[test]
    fn adds_through_handles_and_the_family_are_adds_to_one_counter() {
        let family = family();
        let [first, second] = [family.handle(&["a"]), family.handle(&["a"])];
        let third = first.clone();
        for _ in 0..3 {
            first.add(1);
            second.increment();
            third.add(100);
            family.with(&["a"]).add(10_000);
        }
        assert_eq!(first.sum(), 3 * 10_102);
        assert_eq!(family.handle(&["b"]).sum(), 0);
    }

    /// The column goes to another counter when the last handle is dropped, and not before.
    #[test]
    fn a_handle_of_a_removed_series_adds_to_that_and_to_no_other() {
        let family = family();
        for _ in 0..100 {
            let old = family.handle(&["a"]);
            old.add(5);
            assert!(family.remove(&["a"]));
            let others = ["a", "b", "c"].map(|text| family.handle(&[text]));
            for other in &others {
                other.increment();
            }
            old.add(7);
            assert_eq!(old.sum(), 12);
            assert_eq!(others[0].sum(), 1);
            for text in ["a", "b", "c"] {
                assert!(family.remove(&[text]));
            }
        }
    }

    #[test]
    fn threads_may_share_a_handle_before_its_first_add() {
        for _ in 0..50 {
            let handle = family().handle(&["a"]);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| (0..100).for_each(|_| handle.increment()));
                }
            });
            assert_eq!(handle.sum(), 300);
        }
    }
}
