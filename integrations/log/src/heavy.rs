//! The heaviest keys of closed buckets, and which buckets the log has.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use windrow::heavy::{HeavySnapshot, Key, MAX_TEXT_BYTES};
use windrow::{Clock, HeavyKeys, Timestamp};

use crate::entry::{Heavy, HeavyKey};
use crate::wall::{Wall, Zeros};

/// The last turns of heavy keys, by their names.
#[derive(Debug, Default)]
pub(crate) struct HeavyTurns(HashMap<String, HeavyTurn>);

/// The last addition of heavy keys to a batch.
#[derive(Clone, Copy, Debug)]
struct HeavyTurn {
    /// The time of that addition, by the keys' clock.
    at: Timestamp,
    /// The earliest start of a bucket that the log does not have.
    next: Timestamp,
}

impl HeavyTurns {
    /// Takes the `n` heaviest keys of each closed bucket that the log does not have, the oldest
    /// first; and returns whether some buckets may have left the interval before.
    pub(crate) fn take<K: Key<Owned: Display> + ?Sized, C: Clock>(
        &mut self,
        resource: &str,
        keys: &HeavyKeys<K, C>,
        n: usize,
        zeros: &mut Zeros,
    ) -> (Vec<Heavy>, bool) {
        let buckets = u32::try_from(keys.buckets()).unwrap_or(u32::MAX);
        let (now, length) = (keys.now(), keys.interval() / buckets);
        let last = self.0.get(resource).copied();
        let next = last.map_or(Timestamp::from_nanos(0), |last| last.next);
        let reach = keys.interval().saturating_sub(length);
        let is_overdue = last.is_some_and(|last| last.at + reach < now);
        let closed = keys.closed_since(next);
        let next = closed.last().map_or(next, |(start, _)| *start + length);
        self.0.insert(resource.to_owned(), HeavyTurn { at: now, next });
        if closed.is_empty() {
            return (Vec::new(), is_overdue);
        }
        // Read once, so that the distances of buckets are those of the keys' clock.
        let since_zero = |at: Timestamp| Duration::from_nanos(at.as_nanos());
        let zero = zeros.settle(|| {
            let now = keys.now(); // before the wall clock: see `Zeros`
            Wall::now().minus(since_zero(now))
        });
        let heavy = |(at, bucket): &(Timestamp, HeavySnapshot<K>)| {
            let mut all = bucket.top(usize::MAX);
            let others = all.split_off(n.min(all.len()));
            let others_at_most = others.iter().map(|heavy| heavy.at_most).max().unwrap_or(0);
            let key = |heavy: windrow::heavy::Heavy<K>| HeavyKey {
                key: text(&heavy.key),
                at_least: heavy.at_least,
                at_most: heavy.at_most,
            };
            Heavy {
                resource: resource.to_owned(),
                start: zero.plus(since_zero(*at)).into(),
                length,
                at: *at,
                total: bucket.total(),
                others_at_most: others_at_most.max(bucket.max_error()),
                keys: all.into_iter().map(key).collect(),
            }
        };
        (closed.iter().map(heavy).collect(), is_overdue)
    }
}

/// Returns the beginning of a key's text, of bounded length.
fn text(key: &impl Display) -> String {
    let mut text = key.to_string();
    if text.len() > MAX_TEXT_BYTES {
        let end = (0..=MAX_TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
    }
    text
}
