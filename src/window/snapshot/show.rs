//! `Debug` output of snapshots, with each event by its name.

use std::fmt::{self, Debug, Formatter};

use super::{BucketSnapshot, Snapshot};
use crate::event::Events;
use crate::event::debug_output::debug_event_fields;

/// Shows the time, the interval, each event's stats over all buckets, and the buckets.
#[allow(clippy::missing_fields_in_debug)] // the buckets show their length
impl<E: Events> Debug for Snapshot<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Snapshot");
        shown.field("at", &self.at).field("interval", &self.interval);
        debug_event_fields::<E>(&mut shown, |cells| self.stats_at(cells));
        shown.field("buckets", &self.buckets).finish()
    }
}

/// Shows start, end, `is_closed`, and each event's stats.
#[allow(clippy::missing_fields_in_debug)] // the stats show the cells
impl<E: Events> Debug for BucketSnapshot<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("BucketSnapshot");
        shown.field("start", &self.start).field("end", &self.end);
        shown.field("is_closed", &self.is_closed);
        debug_event_fields::<E>(&mut shown, |cells| self.stats_at(cells));
        shown.finish()
    }
}
