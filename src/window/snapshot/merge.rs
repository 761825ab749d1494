//! Merging snapshots of several windows.

use super::{BucketSnapshot, Snapshot};
use crate::error::MergeError;
use crate::event::Events;

/// # Merging
impl<E: Events> Snapshot<E> {
    /// Merges another window's snapshot into this one, bucket by bucket: counts and sums add up,
    /// wrapping, and the smaller minimum and the larger maximum remain.
    ///
    /// For windows of the same geometry whose clocks have the same zero, for example those of
    /// several shards or endpoints. Take the snapshots one after another: if a bucket begins
    /// meanwhile, the snapshots differ, and must be taken anew. (Two clocks cannot be checked for
    /// the same zero: if they differ, events of different times are merged.) The result has the
    /// later of the two times. Its buckets are closed where they are in both. Merging two snapshots
    /// of one window counts its events twice.
    ///
    /// Costs a pass over the cells of all buckets, and with `Histogram` events an allocation for
    /// each bucket.
    ///
    /// # Errors
    ///
    /// [`MergeError`] if the interval, the length of a bucket or the start of the newest bucket
    /// differs. Then this snapshot stays as it was.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use windrow::{SlidingWindow, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let builder = SlidingWindow::<Hits>::builder().clock(clock);
    /// let shards = [(); 3].map(|()| builder.clone().build());
    /// let mut all = None;
    /// for (index, shard) in shards.into_iter().enumerate() {
    ///     let shard = shard?;
    ///     shard.add(Hits::Hit, 10 + index as u64);
    ///     match &mut all {
    ///         None => all = Some(shard.snapshot()),
    ///         Some(all) => all.merge(&shard.snapshot())?,
    ///     }
    /// }
    /// assert_eq!(all.map(|all| all.totals().sum(Hits::Hit)), Some(33));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Snapshot<E>) -> Result<(), MergeError> {
        let (this, that) = (self.interval, other.interval);
        if this != that {
            return Err(MergeError::Interval { this, other: that });
        }
        let (this, that) = (self.length, other.length);
        if this != that {
            return Err(MergeError::BucketLength { this, other: that });
        }
        // There is always a newest bucket, which with interval and length determines the others.
        let newest = |snapshot: &Snapshot<E>| snapshot.buckets[snapshot.buckets.len() - 1].start;
        let (this, that) = (newest(self), newest(other));
        if this != that {
            return Err(MergeError::Start { this, other: that });
        }
        self.at = self.at.max(other.at);
        for (bucket, other) in self.buckets.iter_mut().zip(&other.buckets) {
            bucket.join(other);
        }
        Ok(())
    }
}

impl<E: Events> BucketSnapshot<E> {
    /// Merges the numbers of another window's bucket of the same time.
    fn join(&mut self, other: &BucketSnapshot<E>) {
        self.is_closed &= other.is_closed;
        self.numbers.join(&other.numbers);
    }
}
