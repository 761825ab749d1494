//! The methods of one atomic word that a counter cannot have.

use super::Counter;
use crate::counters::one_word::{Extremal, Falling, OfOneWord};
use crate::sync::Ordering;

impl Counter {
    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn store<T: OfOneWord>(&self, _: T, _: Ordering) {}

    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn swap<T: OfOneWord>(&self, _: T, _: Ordering) -> u64 {
        self.sum()
    }

    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn compare_exchange<T: OfOneWord>(&self, _: T, _: T, _: Ordering, _: Ordering) {}

    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn compare_exchange_weak<T: OfOneWord>(&self, _: T, _: T, _: Ordering, _: Ordering) {}

    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn fetch_sub<T: Falling>(&self, _: T, _: Ordering) {}

    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn fetch_max<T: Extremal>(&self, _: T, _: Ordering) {}

    /// Does not compile: a message says what to write instead.
    #[doc(hidden)]
    pub fn fetch_min<T: Extremal>(&self, _: T, _: Ordering) {}
}
