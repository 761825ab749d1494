//! A turn that was reserved, of one limit or of several.

use std::process;
use std::time::Duration;

use portable_atomic::AtomicU128;

use crate::limit::answer::Taken;
use crate::limit::ends::{self, Ends};
use crate::limit::moment::{now, resolution, wait};
use crate::limit::word::{self, Word};

/// The limits of which a call has taken, and what it has taken.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Pace(Word<'static>, word::Taken),
    Paces(Ends<'static, AtomicU128>, ends::Taken),
}

/// A turn that [`Pace::reserve`](crate::Pace::reserve) or
/// [`Paces::reserve`](crate::Paces::reserve) has reserved for a call.
///
/// The caller waits for [`wait`](Self::wait), calls [`keep`](Self::keep), and goes on. A
/// reservation that is dropped before its turn is given back, as if its call had never been, if no
/// later call of any process was admitted meanwhile. Otherwise the turn stays empty: the later call
/// was told its time. At its turn, or later, a drop gives nothing back.
///
/// A forked child that drops a reservation of its parent gives nothing back.
#[must_use = "a reservation that is dropped at once is given back"]
pub struct Reservation {
    wait: u64,
    due: u64,
    part: Part,
    /// The process that has reserved it: a forked child has a copy, which must not be given back a
    /// second time.
    process: u32,
}

impl Reservation {
    pub(crate) fn new<U>(taken: &Taken<U>, part: Part) -> Reservation {
        let (wait, due) = (taken.wait(), taken.due);
        Reservation { wait, due, part, process: process::id() }
    }

    /// Returns the time from the call of `reserve` to the turn; zero if that came at once.
    pub fn wait(&self) -> Duration {
        wait(self.wait)
    }

    /// Keeps the turn: it counts as used, whenever that is.
    pub fn keep(self) {
        std::mem::forget(self); // it owns nothing
    }

    /// Gives the turn back, whether it has come or not: the call has cost nothing. Returns whether
    /// it was given back. It is not if a later call was admitted.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_mapped::File;
    ///
    /// let file = File::builder().columns(1).sealed()?;
    /// let pace = file.pace("partner", &[], Duration::from_secs(6), 10)?;
    /// let turn = pace.reserve(1, Duration::ZERO)?;
    /// assert!(turn.cancel()); // the request was answered from a cache
    /// assert_eq!(pace.left(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::must_use_candidate)] // most callers only give up
    pub fn cancel(self) -> bool {
        let is_given_back = self.give_back();
        self.keep();
        is_given_back
    }

    fn give_back(&self) -> bool {
        let is_own = self.process == process::id();
        is_own
            && match self.part {
                Part::Pace(word, taken) => word.give_back(taken),
                Part::Paces(ends, taken) => ends.give_back(taken),
            }
    }
}

/// Gives the turn back if it has not come.
impl Drop for Reservation {
    fn drop(&mut self) {
        let is_to_come = self.due > now().saturating_add(resolution());
        if self.wait != 0 && is_to_come {
            self.give_back();
        }
    }
}

shown! {
    /// Shows the wait.
    Reservation(turn) { wait: turn.wait() }
}
