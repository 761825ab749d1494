//! The methods of one atomic word that a counter and a gauge cannot have.

use crate::counters::counter::Counter;
use crate::counters::gauge::Gauge;
use crate::counters::one_word::{Extremal, Falling, OfOneWord, Settable};
use crate::sync::Ordering;

/// Writes the methods that neither has, and one that this type does not have.
macro_rules! misuses {
    ($type:ident, $number:ty, fn $own:ident<$bound:ident>($($more:ty),+)) => {
        #[doc(hidden)]
        impl $type {
            /// Does not compile: a message says what to write instead.
            pub fn $own<T: $bound>(&self, $(_: $more),+) {}

            /// Does not compile: a message says what to write instead.
            pub fn store<T: OfOneWord>(&self, _: T, _: Ordering) {}

            /// Does not compile: a message says what to write instead.
            pub fn swap<T: OfOneWord>(&self, _: T, _: Ordering) -> $number {
                self.sum()
            }

            /// Does not compile: a message says what to write instead.
            pub fn compare_exchange<T: OfOneWord>(&self, _: T, _: T, _: Ordering, _: Ordering) {}

            /// Does not compile: a message says what to write instead.
            pub fn compare_exchange_weak<T: OfOneWord>(
                &self,
                _: T,
                _: T,
                _: Ordering,
                _: Ordering,
            ) {
            }

            /// Does not compile: a message says what to write instead.
            pub fn fetch_max<T: Extremal>(&self, _: T, _: Ordering) {}

            /// Does not compile: a message says what to write instead.
            pub fn fetch_min<T: Extremal>(&self, _: T, _: Ordering) {}
        }
    };
}

misuses!(Counter, u64, fn fetch_sub<Falling>(T, Ordering));
misuses!(Gauge, i64, fn set<Settable>(T));
