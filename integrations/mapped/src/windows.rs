//! Sliding windows of a file's counters, in the process that reads: for exporters that show
//! windows, and for the log, which writes closed buckets.
//!
//! A window is fed with the differences between readings. So its buckets have exactly what was
//! added between the readings that fell into them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windrow::{BuildError, SlidingWindow};

use crate::reading::Reading;

windrow::events! {
    /// The only event of a counter's window.
    pub(crate) enum Addition { Added: Count }
}

/// The window of a counter.
pub(crate) type Window = SlidingWindow<Addition>;

/// The windows of a file's counters.
#[derive(Debug)]
pub(crate) struct Windows {
    /// The span of each window, and the number of its buckets.
    interval: Duration,
    buckets: usize,
    fed: Mutex<Fed>,
}

#[derive(Debug, Default)]
struct Fed {
    /// The last reading, of which the windows have the sums.
    last: Option<Arc<Reading>>,
    /// The window of each counter, by the number of that.
    windows: HashMap<u64, Arc<Window>>,
}

impl Windows {
    /// Checks that a window can have this geometry.
    pub(crate) fn new(interval: Duration, buckets: usize) -> Result<Windows, BuildError> {
        let windows = Windows { interval, buckets, fed: Mutex::default() };
        windows.build().map(|_| windows)
    }

    fn build(&self) -> Result<Window, BuildError> {
        SlidingWindow::builder().interval(self.interval).buckets(self.buckets).build()
    }

    /// Adds to each window what its counter has more in this reading than in the one before. What
    /// counters have in the first one was added at a time that is not known, and is in no window.
    pub(crate) fn feed(&self, reading: &Arc<Reading>) {
        // A panic leaves what is valid.
        let mut fed = self.fed.lock().unwrap_or_else(PoisonError::into_inner);
        let Fed { last, windows } = &mut *fed;
        for metric in reading.metrics() {
            let Some(sum) = metric.sum() else { continue };
            let before = last.as_ref().map_or(sum, |last| last.sum_before(&metric));
            let window = windows.entry(metric.number()).or_insert_with(|| {
                let window = self.build();
                Arc::new(window.expect("a window of this geometry was built before"))
            });
            window.add(Addition::Added, sum.wrapping_sub(before));
        }
        *last = Some(Arc::clone(reading));
    }

    /// Returns the window of a counter that was in a reading.
    pub(crate) fn get(&self, number: u64) -> Option<Arc<Window>> {
        let fed = self.fed.lock().unwrap_or_else(PoisonError::into_inner);
        fed.windows.get(&number).cloned()
    }
}
