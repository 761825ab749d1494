//! Units that were granted elsewhere, shared out to rows: a ration in each, as of a
//! [`RationedGate`](super::RationedGate). For `windrow-redis`.
//!
//! # Promise
//!
//! A unit that was put into a row is taken by one thread, up to its end, or is returned by one
//! swap, or is still there ([`ration_use`](crate::stripe::ration_use)). When its end has passed, it
//! is taken by no thread.
//!
//! A stock grants nothing. Times are the caller's own, in any unit.

use super::rations::Rations;
use crate::stripe::open_rows::open_rows;
use crate::stripe::ration::Ration;
use crate::sync::const_fn;

/// Units that were granted elsewhere, a ration in each row.
#[doc(hidden)]
pub struct Stock {
    rations: Rations,
}

impl Stock {
    const_fn! {
        /// Makes an empty stock, which claims its columns when something is first put in.
        pub const fn new() -> Stock {
            Stock { rations: Rations::new() }
        }
    }

    /// Takes `n` of this core's ration, if `now` is not after its last moment. Returns whether it
    /// did.
    #[inline]
    pub fn take(&self, now: u64, n: u64) -> bool {
        self.rations.take(now, n).is_ok()
    }

    /// Takes as [`take`](Self::take) does, where per-core adds are not in line.
    #[cold]
    pub fn take_apart(&self, now: u64, n: u64) -> bool {
        self.rations.take_apart(now, n).is_ok()
    }

    /// Replaces this core's ration by `count` units that may be used up to `last`, and returns the
    /// old one's last moment and count. Returns `None`, without an effect, if the thread has no row
    /// of its own.
    pub fn swap(&self, last: u64, count: u64) -> Option<(u64, u64)> {
        self.rations.swap(Ration { last, left: count }).map(|old| (old.last, old.left))
    }

    /// Returns the units in all rows, those included that have ended. Not a snapshot.
    pub fn left(&self) -> u64 {
        self.rations.left()
    }

    /// Returns the number of rows that threads have used.
    pub fn rows() -> u64 {
        open_rows().first as u64
    }
}

impl Default for Stock {
    fn default() -> Stock {
        Stock::new()
    }
}
