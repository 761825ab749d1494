//! Timers, which report their own lifetime.

use std::fmt::{self, Debug, Formatter};
use std::time::{Duration, Instant};

/// A guard that reports its own lifetime as a duration when it is dropped: from
/// [`Histogram::timer`](crate::Histogram::timer) and
/// [`SlidingWindow::timer`](crate::SlidingWindow::timer), which record it.
///
/// So every way out of a block is timed, including a `?` and a panic. It uses [`Instant`], not the
/// window's clock. Call [`discard`](Self::discard) to report nothing.
///
/// ```
/// let latency = windrow::Histogram::new();
/// latency.timer().discard(); // for a request that was not answered
/// drop(latency.timer());
/// assert_eq!(latency.count(), 1);
/// ```
#[must_use = "the timer reports when it is dropped: bind it to a name, such as `_timer`"]
#[doc(alias = "HistogramTimer")]
#[doc(alias = "stop_and_record")]
#[doc(alias = "stopwatch")]
pub struct Timer<F: FnMut(Duration)> {
    started: Instant,
    /// `None` if nothing is to be reported.
    tell: Option<F>,
}

impl<F: FnMut(Duration)> Timer<F> {
    /// Starts a timer that calls `tell` with its lifetime.
    #[inline]
    pub(crate) fn new(tell: F) -> Timer<F> {
        Timer { started: Instant::now(), tell: Some(tell) }
    }

    /// Ends the timer without a report.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.timer().discard();
    /// assert_eq!(latency.count(), 0);
    /// ```
    #[doc(alias = "stop_and_discard")]
    #[doc(alias = "cancel")]
    pub fn discard(mut self) {
        self.tell = None;
    }
}

impl<F: FnMut(Duration)> Drop for Timer<F> {
    fn drop(&mut self) {
        if let Some(tell) = &mut self.tell {
            tell(self.started.elapsed());
        }
    }
}

/// Shows the time since the timer was started.
impl<F: FnMut(Duration)> Debug for Timer<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timer").field(&self.started.elapsed()).finish()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn every_way_out_of_a_block_is_told_once() {
        let told = Cell::new(0);
        let timer = || Timer::new(|_| told.set(told.get() + 1));
        let fails = || -> Option<()> {
            let _timer = timer();
            None?;
            Some(())
        };
        assert_eq!((fails(), told.get()), (None, 1));
        let panics = AssertUnwindSafe(|| {
            let _timer = timer();
            panic!("in a block");
        });
        assert!(catch_unwind(panics).is_err());
        assert_eq!(told.get(), 2);
        timer().discard();
        assert_eq!(told.get(), 2);
    }
}
