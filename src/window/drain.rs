//! Handing out closed buckets, for a log.

use std::ops::ControlFlow;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::Events;
use crate::window::snapshot::BucketSnapshot;

/// # A log
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Hands every closed bucket that was not handed out yet to `each`, oldest first. Returns how
    /// many there were.
    ///
    /// Each bucket that was ever added to has one turn, in the order of their starts. Buckets
    /// without an add have no turn, nor have those whose adds left nothing: adds of 0 to a `Count`
    /// event, or steps of a `Signed` one that cancel each other. So a line per bucket makes a log
    /// that adds up: while no thread adds, the difference between [`lifetime`](Self::lifetime) and
    /// all that was handed out is exactly
    ///
    /// * what is in the newest bucket, which is not closed;
    /// * what was [`late`](Self::late), whether or not a tier has it;
    /// * what was back-dated into a bucket after its turn, or after that of a newer one;
    /// * buckets that had left the ring before any drain reached them. Call
    ///   [`close_past`](Self::close_past) and this at least once in `interval - length`;
    /// * what a [`clear`](Self::clear) has forgotten. No start has a second turn behind it, unless
    ///   it takes the window back.
    ///
    /// Of a record that is back-dated *while* its bucket has its turn, a part may be handed out:
    /// its sum, say, without its count. The rest comes after the turn, and counts as said.
    ///
    /// It allocates for the values of `Histogram` events alone. [`drain_next`](Self::drain_next)
    /// hands out one bucket at a time, in a buffer, and allocates nothing.
    ///
    /// No thread waits: if another thread is draining, this returns 0 at once. While the geometry
    /// is being changed, it hands out no more until a later call. A bucket that cannot be closed
    /// yet holds up those after it until a later call. (With restartable sequences, a bucket is
    /// closed when the next one is opened. Without, so it is, unless a thread is found in the
    /// middle of an add, which must have finished it; by
    /// [epochs](crate::diagnostics::Strategy::Epochs), unless a thread is pinned.)
    ///
    /// # Changes of geometry
    ///
    /// [`reconfigure`](Self::reconfigure) takes no bucket's turn away, unless it takes the bucket
    /// out of the ring. All buckets of one geometry have their turns before those of the next:
    /// bucket 2 of a geometry may come after bucket 4 of the one before. Each has its own start and
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

    /// Hands out the next closed bucket that was not handed out yet: writes it into `bucket`, in
    /// place of what that held. Returns false, and leaves `bucket` as it was, if there is none.
    ///
    /// For a log that is written all the time: as [`drain_closed`](Self::drain_closed), of which it
    /// is one turn, and in the memory that `bucket` has. So it allocates nothing, unless more cells
    /// of a `Histogram`'s scale were used than in any bucket before; and what is done with a bucket
    /// may fail. ([`distribution_into`](BucketSnapshot::distribution_into) does so with
    /// percentiles.)
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
    pub fn drain_next(&self, bucket: &mut BucketSnapshot<E>) -> bool {
        let count = self.ring.drain(|start, length, number| {
            bucket.refill(start, length, number);
            ControlFlow::Break(())
        });
        count > 0
    }

    /// Closes the newest bucket if its time is over and it holds anything.
    ///
    /// An add closes the bucket before its own. So a window that is no longer added to keeps its
    /// last bucket open, and [`drain_closed`](Self::drain_closed) does not hand it out; and if the
    /// next add comes after more than the interval, that bucket has left the ring. Call this before
    /// each drain, and the log has it.
    ///
    /// It opens the current bucket, at the cost of an add that does, and counts nothing. A bucket
    /// that holds nothing stays open, unless the builder was given a
    /// [lead](crate::WindowBuilder::max_lead): a window at rest costs a look at its newest bucket.
    /// An add that is under way may be missed, and is then found by the next call. Never waits.
    /// (Without restartable sequences, if a thread is in the middle of an add, the bucket is closed
    /// when that has finished it; another call of `drain_closed` then finds it.)
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
