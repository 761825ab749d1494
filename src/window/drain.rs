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
    /// Each bucket that was ever added to has one turn, in the order of their starts. Buckets
    /// without an add have no turn; nor have those whose adds cancel out: adds of 0 to a `Count`
    /// event, or steps of a `Signed` one that sum to 0. So a log with a line per bucket adds up:
    /// while no thread adds, the difference between [`lifetime`](Self::lifetime) and the sum of all
    /// buckets handed out is exactly
    ///
    /// * the adds in the newest bucket, which is not closed;
    /// * the adds that were [`late`](Self::late), whether or not a tier has them;
    /// * the adds back-dated into a bucket after its turn, or after that of a newer one;
    /// * the buckets that had left the ring before any drain reached them. Call
    ///   [`close_past`](Self::close_past) and this at least once in `interval - length`;
    /// * the adds that a [`clear`](Self::clear) removed. After it, no start has a second turn,
    ///   unless the call takes the window back.
    ///
    /// If a record is back-dated *while* its bucket has its turn, only a part of it may be handed
    /// out: its sum, for example, without its count. The rest comes after the turn, and counts as
    /// listed above.
    ///
    /// Allocates only for the values of `Histogram` events. [`drain_next`](Self::drain_next) hands
    /// out one bucket at a time, in a buffer, and allocates nothing.
    ///
    /// No thread waits: if another thread is draining, this returns 0 at once. While the geometry
    /// is being changed, it hands out no more until a later call. A bucket that cannot be closed
    /// yet holds up those after it until a later call. (A bucket is closed when the next one is
    /// opened. Without restartable sequences it may take longer: until each thread that was found
    /// in the middle of an add has finished it; by [epochs](crate::diagnostics::Strategy::Epochs),
    /// until no thread is pinned.)
    ///
    /// # Changes of geometry
    ///
    /// A [`reconfigure`](Self::reconfigure) removes no bucket's turn, unless it removes the bucket
    /// from the ring. All buckets of one geometry have their turns before those of the next: bucket
    /// 2 of a geometry may come after bucket 4 of the one before. Each has its own start and
    /// length. From the second change on, buckets of the geometries before the last that have not
    /// been handed out may be merged. They then come first, as buckets of the present geometry, in
    /// the order of their starts.
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
    /// For a log that is written continuously: one turn of [`drain_closed`](Self::drain_closed), in
    /// the memory that `bucket` has. So it allocates nothing, unless more cells of a `Histogram`'s
    /// scale were used than in any bucket before; and the caller can return an error between two
    /// buckets. ([`distribution_into`](BucketSnapshot::distribution_into) reuses memory for
    /// percentiles.) [`close_past`](Self::close_past) before it opens a bucket, which may allocate
    /// until the ring has been filled once. The bucket's times are those of the window's clock:
    /// [`system_time`](Self::system_time) converts them.
    ///
    /// Costs an epoch pin, three read-modify-writes, and a few loads for each of the bucket's
    /// cells.
    ///
    /// ```
    /// use std::fmt::Write;
    /// use windrow::{SlidingWindow, clock::Manual, events, snapshot::BucketSnapshot};
    ///
    /// events! { enum Hits { Hit: Count } }
    ///
    /// let clock = Manual::default();
    /// let window = SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// let (mut bucket, mut line) = (BucketSnapshot::default(), String::new());
    /// for hits in 1..=5 {
    ///     window.add(Hits::Hit, hits);
    ///     clock.advance(window.bucket_length());
    ///     window.close_past();
    ///     while window.drain_next(&mut bucket) {
    ///         line.clear();
    ///         write!(line, "{} ns: {} hits", bucket.start().as_nanos(), bucket.sum(Hits::Hit))?;
    ///     }
    /// }
    /// assert_eq!(line, "2000000000 ns: 5 hits");
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
    /// An add closes the bucket before its own. So while no thread adds, the last bucket stays
    /// open, and [`drain_closed`](Self::drain_closed) does not hand it out; and if the next add
    /// comes after more than the interval, that bucket has left the ring. Call this before each
    /// drain, so that the log has it.
    ///
    /// Opens the current bucket, at the cost of an add that does, and counts nothing. An empty
    /// bucket stays open, unless the builder was given a [lead](crate::WindowBuilder::max_lead), so
    /// for an idle window the call costs a look at its newest bucket. It may miss an add that is
    /// under way; the next call finds it. Never waits. (Without restartable sequences, if a thread
    /// is in the middle of an add, the bucket is closed when that thread has finished it; a later
    /// call of `drain_closed` then finds the bucket.)
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
