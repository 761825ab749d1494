//! A key that finds room asks the overflow gate for a while more.
//!
//! # Theorem
//!
//! Of grants that are no further apart than the shortest [span](super::settings#spans) that the own
//! gate and the overflow gate had from the first one's decision to the last one's, all gates that a
//! key asks let no more of it through than one of them grants, on one clock that does not step
//! back. (Where both have one geometry that stays, this is each run of as many buckets as the
//! interval has.)
//!
//! # Why
//!
//! What the overflow gate has granted, any key may have used. A key that finds room while anything
//! of that counts, or is waited for, asks both gates until it counts no more: all that it gets in
//! that time, and all that it got before, the overflow gate has granted; and its own gate has
//! counted all since it was made. So a span that reaches back behind the end of that time lies
//! within what the overflow gate has granted, or within what the own gate has.
//!
//! That time is fixed when the key finds room, and stays though the overflow gate's geometry may
//! change: it is an interval of the gate, from then on, or from the end of the last wait. (How far
//! that is, the gate tells by a refusal: it grants nothing before the last wait's bucket. By
//! interval alone it could not be told, since an older geometry may have been longer.)
//!
//! A key that shares is not forgotten: otherwise it would share for ever where the overflow gate is
//! always in use. Before a key is forgotten nothing that its gate has granted counts.
//!
//! A thread may have found no room, and ask the overflow gate while another finds room for the same
//! key and looks at that gate. Each writes first and looks then, with a fence between the two: the
//! series against the grant. So the one sees the grant, and shares; or the other sees the series,
//! and what it was granted is granted in vain.

use std::time::Duration;

use windrow::{Clock, Gate, Timestamp, gate::Admission};

/// Until when a key asks the overflow gate beside its own.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    until: Timestamp,
}

impl Sharing {
    /// Returns that of a key that is in the family now; `None` if nothing that the overflow gate
    /// has granted counts.
    pub(super) fn with<C: Clock>(overflow: &Gate<C>) -> Option<Sharing> {
        let interval = overflow.interval();
        // In this order: what no longer waits is granted by the second look.
        let last_wait = last_wait(overflow);
        if last_wait.is_none() && overflow.granted() == 0 {
            return None;
        }
        // (It may have another interval by now.)
        let lasts = last_wait.unwrap_or_default() + interval.max(overflow.interval());
        let nanos = u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX);
        let until = overflow.clock().now().as_nanos().saturating_add(nanos);
        Some(Sharing { until: Timestamp::from_nanos(until) })
    }

    /// Returns how long it still lasts; `None` if it is over.
    pub(super) fn left<C: Clock>(self, overflow: &Gate<C>) -> Option<Duration> {
        let left = self.until.as_nanos().saturating_sub(overflow.clock().now().as_nanos());
        (left > 0).then(|| Duration::from_nanos(left))
    }
}

/// Returns how long it takes at most until nobody waits any more that waits now; `None` if nobody
/// does.
fn last_wait<C: Clock>(overflow: &Gate<C>) -> Option<Duration> {
    if overflow.waiting() == 0 {
        return None;
    }
    // While others wait, nothing is granted before the bucket in which the last of them goes on.
    match overflow.admit(1, Duration::ZERO) {
        Admission::Refused { retry_after } => {
            Some(retry_after.unwrap_or_default() + overflow.bucket_length())
        }
        Admission::Now | Admission::After(_) => Some(Duration::ZERO),
    }
}

/// Asks two gates for what both have to grant, without a wait. `left` is how long the key asks
/// `overflow`.
pub(super) fn admit_by_both<C: Clock>(
    own: &Gate<C>,
    overflow: &Gate<C>,
    weight: u64,
    left: Duration,
) -> Admission {
    let now = Duration::ZERO;
    let by_overflow = || match overflow.admit(weight, now) {
        Admission::Refused { retry_after } => Admission::Refused {
            retry_after: Some(retry_after.map_or(left, |wait| wait.min(left))),
        },
        granted @ (Admission::Now | Admission::After(_)) => granted,
    };
    // The gate that seems to be short comes first: what is refused takes nothing from the other.
    if own.left() >= weight && overflow.left() < weight {
        if let refused @ Admission::Refused { .. } = by_overflow() {
            return refused;
        }
        return own.admit(weight, now);
    }
    match own.admit(weight, now) {
        Admission::Now => by_overflow(),
        refused @ (Admission::After(_) | Admission::Refused { .. }) => refused,
    }
}
