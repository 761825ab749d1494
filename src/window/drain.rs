//! Handing out closed buckets, for a log.

use std::ops::ControlFlow;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::Events;
use crate::window::snapshot::BucketSnapshot;

/// # A log
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Hands every closed bucket that was not handed out yet to `each`, oldest first. Returns their
    /// number.
    ///
    /// Each bucket that was ever added to has one turn, in the order of their starts, unless its
    /// adds cancel out (to sums of 0). While no thread adds, the difference between
    /// [`lifetime`](Self::lifetime) and the sum of all buckets handed out is exactly
    ///
    /// * the adds in the newest bucket, which is not closed;
    /// * the [`late`](Self::late) adds, whether or not a tier has them;
    /// * the adds back-dated into a bucket after its turn, or after that of a newer one (of a
    ///   record back-dated *during* the turn, a part may be handed out, and the rest counts here);
    /// * the buckets that had left the ring before any drain reached them. Call
    ///   [`close_past`](Self::close_past) and this at least once in `interval - length`;
    /// * the adds that a [`clear`](Self::clear) removed. After it, no start has a second turn,
    ///   unless the call takes the window back.
    ///
    /// Allocates only for `Histogram` values. No thread waits: if another thread is draining, this
    /// returns 0 at once. A change of geometry, or a bucket that [cannot be closed
    /// yet](crate::guide::design::windows#drain), holds up the rest until a later call. A
    /// [`reconfigure`](Self::reconfigure) removes no bucket's turn, unless it removes the bucket
    /// from the ring; buckets of the old geometry come first, each with its own start and length,
    /// or [merged](crate::guide::design::windows#drain) by a second change.
    ///
    /// # Panics
    ///
    /// If `each` panics. The bucket that it was given has then had its turn.
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
        self.ring.drain(|start, length, number| {
            each(BucketSnapshot::final_at(start, length, number));
            ControlFlow::Continue(())
        })
    }

    /// Hands out the next closed bucket that was not handed out yet, by overwriting `bucket`.
    /// Returns false, and leaves `bucket` as it was, if there is none.
    ///
    /// One turn of [`drain_closed`](Self::drain_closed), for a log that is written continuously:
    /// the caller can return an error between two buckets. Allocates nothing, unless more cells of
    /// a `Histogram`'s scale were used than in any bucket before.
    /// ([`distribution_into`](BucketSnapshot::distribution_into) reuses memory for percentiles.)
    ///
    /// ```
    /// use std::fmt::Write;
    /// use std::time::Duration;
    /// use windrow::{SlidingWindow, clock::Manual, events, snapshot::BucketSnapshot};
    ///
    /// events! { enum Hits { Hit: Count } }
    ///
    /// let clock = Manual::default();
    /// let window = SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// let (mut bucket, mut line) = (BucketSnapshot::default(), String::new());
    /// for hits in 1..=5 {
    ///     window.add(Hits::Hit, hits);
    ///     clock.advance(Duration::from_millis(500)); // a bucket
    ///     window.close_past();
    ///     while window.drain_next(&mut bucket) {
    ///         line.clear();
    ///         write!(line, "{} ns: {} hits", bucket.start().as_nanos(), bucket.sum(Hits::Hit))?;
    ///     }
    /// }
    /// # while window.drain_next(&mut bucket) {}
    /// assert_eq!(bucket.sum(Hits::Hit), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "if it returns false, `bucket` is as it was"]
    pub fn drain_next(&self, bucket: &mut BucketSnapshot<E>) -> bool {
        let count = self.ring.drain(|start, length, number| {
            bucket.refill(start, length, number);
            ControlFlow::Break(())
        });
        count > 0
    }

    /// Closes the newest bucket if its time is over and it is not empty.
    ///
    /// Call this before each drain. Otherwise the last bucket stays open while no thread adds, and
    /// may have left the ring when the next add comes.
    ///
    /// Opens the current bucket, at the cost of an add that does, and counts nothing. For an idle
    /// window, whose empty bucket stays open (without a [lead](crate::WindowBuilder::max_lead)), it
    /// costs a look. It may miss an add that is under way; the next call finds it. Never waits:
    /// without restartable sequences, the bucket may be closed later, when a thread in the middle
    /// of an add has finished it.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// # use std::time::Duration;
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 3);
    /// clock.advance(Duration::from_millis(500)); // a bucket
    /// assert_eq!(window.drain_closed(|_| ()), 0); // no add has come
    /// window.close_past();
    /// window.drain_closed(|bucket| assert_eq!(bucket.sum(Hits::Hit), 3));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn close_past(&self) {
        self.ring.close_past(self.ring.clock().now().as_nanos());
    }
}
