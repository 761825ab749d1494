//! Handing out closed buckets, for a log.

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::Event;
use crate::snapshot::BucketSnapshot;

/// # A log
impl<E: Event, C: Clock> SlidingWindow<E, C> {
    /// Hands every closed bucket that was not handed out yet to `each`, oldest first. Returns how
    /// many there were.
    ///
    /// Each bucket that was ever added to has one turn, in the order in which they were live; those
    /// in which nobody has added anything are not there. So a line per bucket makes a log that adds up:
    /// with nobody adding, the difference between [`lifetime`](Self::lifetime) and all that was handed
    /// out is exactly
    ///
    /// * what is in the newest bucket, which is not closed;
    /// * what was [`late`](Self::late);
    /// * what was back-dated into a bucket after its turn;
    /// * buckets that had left the ring before anybody came. Call it at least once in
    ///   `interval - length`.
    /// * buckets that two changes of geometry had merged before the first call of all: call it once when
    ///   the window is built.
    ///
    /// Nobody waits for anybody: if another thread is draining, this returns 0 at once. A bucket that
    /// cannot be closed yet holds up those after it until a later call. (With restartable sequences a
    /// bucket is closed when the next one is opened. Without, every thread that was in the middle of
    /// an add must have gone on.)
    ///
    /// A bucket that was opened before [`reconfigure`](Self::reconfigure) has its own start and length. Should
    /// `each` panic, the bucket that it was given has had its turn.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(60))
    ///     .buckets(60)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// let mut log = Vec::new();
    /// for second in 1..=5 {
    ///     window.add(Hits::Hit, second);
    ///     window.drain_closed(|bucket| log.push(bucket.sum(Hits::Hit)));
    ///     clock.advance(Duration::from_secs(1));
    /// }
    /// # while log.len() < 4 { window.drain_closed(|bucket| log.push(bucket.sum(Hits::Hit))); }
    /// assert_eq!(log, [1, 2, 3, 4]); // the fifth is live
    /// assert_eq!(window.drain_closed(|_| unreachable!()), 0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn drain_closed(&self, mut each: impl FnMut(BucketSnapshot<E>)) -> usize {
        self.ring
            .drain(|start, length, number| each(BucketSnapshot::final_at(start, length, number)))
    }
}
