//! windrow's: a gate, and a window that is asked for its sum before it is added to.

use windrow::{Clock, Gate, SlidingWindow, events};

use super::{Limiter, Terms};

events! { enum Let { Through: Count } }

/// A gate whose limit holds for each interval of whole buckets.
///
/// # Panics
/// If no gate has these terms.
pub fn gate<C: Clock>(terms: Terms, clock: C) -> Gate<C> {
    let builder = Gate::builder(terms.limit).interval(terms.interval);
    let builder = builder.buckets(terms.buckets as usize).clock(clock).allow_coarse_clock();
    builder.build().expect("sound terms")
}

/// A gate whose limit holds for each span as long as the interval.
///
/// # Panics
/// If no gate has these terms.
pub fn strict<C: Clock>(terms: Terms, clock: C) -> Gate<C> {
    let builder = Gate::builder(terms.limit).interval(terms.interval).strict();
    let builder = builder.buckets(terms.buckets as usize).clock(clock).allow_coarse_clock();
    builder.build().expect("sound terms")
}

impl<C: Clock + Send + Sync> Limiter for Gate<C> {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        self.try_admit(1)
    }
}

/// A window: sum, then add. Over the limit by as many threads as are between the two.
pub struct Soft<C> {
    limit: u64,
    window: SlidingWindow<Let, C>,
}

impl<C: Clock> Soft<C> {
    /// By this clock.
    ///
    /// # Panics
    /// If no window has these terms.
    pub fn new(terms: Terms, clock: C) -> Soft<C> {
        let builder = SlidingWindow::builder().interval(terms.interval);
        let builder = builder.buckets(terms.buckets as usize).clock(clock).allow_coarse_clock();
        Soft { limit: terms.limit, window: builder.build().expect("sound terms") }
    }
}

impl<C: Clock + Send + Sync> Limiter for Soft<C> {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        let fits = self.window.sum(Let::Through) < self.limit;
        if fits {
            self.window.add(Let::Through, 1);
        }
        fits
    }
}
