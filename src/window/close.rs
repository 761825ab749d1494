//! Closing buckets by a ticker's thread.

use std::sync::{Arc, Weak};

use super::SlidingWindow;
use crate::clock::{Chore, Clock, Ticker};
use crate::event::Events;

/// # Closing elsewhere
impl<E: Events, C: Clock + Send + Sync + 'static> SlidingWindow<E, C> {
    /// Lets `ticker`'s thread close this window's buckets, each within a tick or two after the next
    /// one was opened. No add makes a system call from then on: for services whose [slowest
    /// add](crate::guide::design::windows#what-an-add-costs) matters.
    ///
    /// The ticker need not be the window's clock. In return, ticks are late by the time that the
    /// kernel takes; and where buckets are shorter than ticks, most of them count in cells that all
    /// cores share.
    ///
    /// When the ticker ends, adds close buckets again; in a forked child, until the ticker ticks
    /// there. The window may be dropped at any time. (One in a static stands in a `LazyLock` of an
    /// `Arc`.)
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::sync::Arc;
    /// use windrow::{SlidingWindow, clock::Ticker};
    ///
    /// let ticker = Ticker::default();
    /// let window = SlidingWindow::<Hits>::builder().clock(ticker.clone()).build()?;
    /// let window = Arc::new(window);
    /// window.close_on(&ticker);
    /// window.add(Hits::Hit, 1); // as always
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "close_static_on")]
    pub fn close_on(self: &Arc<Self>, ticker: &Ticker) {
        let window: Weak<Self> = Arc::downgrade(self);
        if ticker.add_chore(window) {
            self.ring.close_elsewhere(true);
        } // otherwise at the ticker's first tick in this process, if it ever ticks
    }
}

impl<E: Events, C: Clock + Send + Sync + 'static> Chore for SlidingWindow<E, C> {
    fn at_tick(&self) {
        self.ring.close_elsewhere(true); // also in a forked child
        self.ring.close_retired();
    }

    fn at_end(&self) {
        self.ring.close_elsewhere(false);
    }
}
