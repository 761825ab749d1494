//! A key with a new gate of its own asks the overflow gate for a while more. (A new pace begins
//! where the overflow pace stands instead: `src/pace/succession.rs` of windrow has its theorem. For
//! both, what follows of threads holds.)
//!
//! # Theorem
//!
//! Take grants of one key that are no further apart than the shortest [span](super::settings#spans)
//! that its own gate and the overflow gate had from the first grant's decision to the last one's.
//! All gates that the key asks admit no more of it than one of them grants, on one clock that does
//! not step back. (If both have one geometry that stays, this holds for each run of consecutive
//! buckets as long as the interval.)
//!
//! # Why
//!
//! Any key may have used the grants of the overflow gate. A key that gets its own gate while any of
//! those grants counts, or is waited for, asks both gates until they count no more: everything that
//! it gets in that time, and everything that it got before, the overflow gate has granted; and its
//! own gate has counted everything since it was made. So a span that reaches back behind the end of
//! that time lies within the grants of the overflow gate, or within those of its own gate.
//!
//! That time is fixed when the key gets its own gate, and stays even if the overflow gate's
//! geometry changes: it is one interval of the gate, from then on, or from the end of the last
//! wait. (The gate tells the distance of that end by a refusal: it grants nothing before the last
//! wait's bucket. The interval alone could not tell it, since an older geometry may have been
//! longer.)
//!
//! A key that shares is not forgotten: otherwise it would share forever where the overflow gate is
//! always in use. When a key is forgotten, none of its gate's grants counts.
//!
//! A thread may have found no place for a key, and ask the overflow gate while another thread finds
//! a place for the same key and looks at that gate. Each writes first and looks then, with a fence
//! between the two: the series against the grant. So either the second thread sees the grant, and
//! shares; or the first sees the series, and its grant is not used.
//!
//! The first thread may stand still before it looks, until the key has used its own gate and was
//! forgotten. So keys that leave are [counted](Departures), before they are removed. A grant is not
//! used if the count has changed since the overflow gate was asked. A key that was counted before
//! has no grant that counts when that gate decides.
//!
//! A grant that is not used is given back: so of the grants that count in the overflow gate, each
//! went to a caller, or to one that has not looked yet.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

use windrow::Clock;
use windrow::gate::Admission;

use crate::limiter::Limiter;

/// The number of keys that have left, or were about to.
pub(super) struct Departures(AtomicU64);

impl Departures {
    pub(super) const fn new() -> Departures {
        Departures(AtomicU64::new(0))
    }

    /// Counts a key whose gate is retired, before it is removed.
    pub(super) fn note(&self) {
        // Release: pairs with the Acquire in `count`: the gate was retired before.
        self.0.fetch_add(1, Ordering::Release);
        // Between the count and the removal; pairs with the fence in `have_changed_since`.
        fence(Ordering::Release);
    }

    /// Returns the number.
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire) // pairs with the Release in `note`
    }

    /// Returns whether the number is another one. Of a key that the caller has looked for, and not
    /// found because it has left, the departure is counted.
    pub(super) fn have_changed_since(&self, count: u64) -> bool {
        fence(Ordering::Acquire); // between the look and the load; pairs with the fence in `note`
        self.0.load(Ordering::Relaxed) != count
    }
}

/// Asks two limiters for a weight that both must grant, without a wait. `left` is the time for
/// which the key still asks `overflow`. A refusal has the wait after which both would grant it.
pub(super) fn decide_by_both<G: Limiter>(
    own: &G,
    overflow: &G,
    weight: u64,
    left: Duration,
) -> (Admission, Option<G::Grant>) {
    // Behind the moment at which the clock shows the end, as limiters tell their waits.
    let told = left.saturating_add(overflow.clock().resolution());
    let ask = |limiter: &G| match limiter.decide(weight, Duration::ZERO) {
        (Admission::Refused { retry_after }, granted) if ptr::eq(limiter, overflow) => {
            let retry_after = Some(retry_after.map_or(told, |wait| wait.min(told)));
            (Admission::Refused { retry_after }, granted)
        }
        decided => decided,
    };
    // The one that seems short comes first: a refusal takes nothing from the other.
    let overflow_is_first = overflow.left() < weight;
    let (first, second) = if overflow_is_first { (overflow, own) } else { (own, overflow) };
    let (answer, granted) = ask(first);
    if granted.is_none() && (!overflow_is_first || own.left() >= weight) {
        return (answer, None);
    }
    let (other, other_granted) = ask(second);
    match (granted, other_granted) {
        (Some(granted), Some(other_granted)) => {
            (other, Some(if overflow_is_first { other_granted } else { granted }))
        }
        (Some(granted), None) => {
            first.leave_unused(granted);
            (other, None)
        }
        (None, Some(granted)) => {
            second.leave_unused(granted);
            (answer, None)
        }
        // The caller is told when both would admit it.
        (None, None) => match (answer, other) {
            (Admission::Refused { retry_after: shared }, Admission::Refused { retry_after }) => {
                let retry_after = retry_after.max(retry_after.and(shared));
                (Admission::Refused { retry_after }, None)
            }
            _ => (other, None),
        },
    }
}
