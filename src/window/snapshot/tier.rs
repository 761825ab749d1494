//! Snapshots of a tier's buckets.

use std::time::Duration;

use crate::event::snapshot_numbers::Kept;
use crate::event::{Events, Positions};
use crate::ring::{Coarse, TierSpan, View};
use crate::timestamp::Timestamp;
use crate::window::snapshot::{BucketSnapshot, Snapshot};

impl<E: Events> Snapshot<E> {
    /// Returns a tier's buckets at the view's time, newest first, down to the one that contains the
    /// live bucket; and the totals up to the beginning of that one, which the buckets before it
    /// hold.
    pub(crate) fn newest_of_tier(view: &View<'_>, tier: usize) -> Option<(Snapshot<E>, E::Cells)> {
        let geometry = view.tier_geometry(tier)?;
        let newest = geometry.start_of(view.newest());
        let live = geometry.start_of(view.live());
        // Buckets after the live one are empty.
        let last = live.min(newest).max(geometry.oldest(newest));
        // If the clock has stepped back, the bucket `last` may have left the tier. (Far from the
        // live bucket, the search for a boundary would go all the way.)
        let span = geometry.in_ring(last, live).then(|| TierSpan::of(view, tier, last, last));
        let (mut buckets, mut before) =
            (Vec::with_capacity(geometry.buckets()), <E::Cells as Positions<E>>::ZERO);
        let mut start = newest;
        loop {
            let read = span.as_ref().filter(|_| start == last);
            let number = |position| read.map_or(0, |span| span.number(position));
            let bucket = BucketSnapshot::final_at(start, geometry.length_at(start), number);
            buckets.push(BucketSnapshot { is_closed: false, ..bucket });
            if start == last {
                break;
            }
            start -= geometry.length();
        }
        if let Some(span) = span {
            for (position, before) in before.as_mut().iter_mut().enumerate() {
                *before = span.before(position);
            }
            span.end();
        }
        let at = Timestamp::from_nanos(view.now());
        let interval = Duration::from_nanos(geometry.interval());
        let length = Duration::from_nanos(geometry.length());
        Some((Snapshot { at, interval, length, buckets }, before))
    }

    /// Adds the older buckets of the tier, and returns them all oldest first. Their totals are
    /// constants, so this may take long.
    pub(crate) fn with_older(
        mut self,
        view: &View<'_>,
        tier: usize,
        mut before: E::Cells,
    ) -> Snapshot<E> {
        let Some(geometry) = view.tier_geometry(tier) else { return self };
        let oldest = geometry.oldest(geometry.start_of(view.newest()));
        let mut start = self.buckets.last().map_or(oldest, |last| last.start.as_nanos());
        let mut is_there = true;
        while start > oldest {
            start -= geometry.length();
            let (length, next) = (geometry.length_at(start), before.clone());
            let coarse = Coarse::at(view, tier, start);
            let cells = before.as_mut();
            let number = |position: usize| coarse.number(view, position, &mut cells[position]);
            let mut bucket = BucketSnapshot::final_at(start, length, number);
            is_there &=
                geometry.in_ring(start, geometry.start_of(view.live())) && coarse.is_valid();
            if !is_there {
                // This bucket has left the tier, or does so meanwhile; and all older ones have left
                // before it. An older one that is still found would be counted for both.
                (bucket.numbers, before) = (Kept::ZERO, next);
            }
            self.buckets.push(bucket);
        }
        self.buckets.reverse();
        self
    }
}
