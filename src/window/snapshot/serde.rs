//! Serialization of snapshots.

use std::time::Duration;

use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, SerializeStruct, Serializer};

use super::{BucketSnapshot, Snapshot};
use crate::deserialization::{self, List};
use crate::event::Events;
use crate::event::serde::{Cells, ReadCells};
use crate::timestamp::{Timestamp, saturating_nanos};

mod flaw;

const BUCKET: &[&str; 4] = &["start", "end", "is_closed", "events"];
const SNAPSHOT: &[&str; 4] = &["at", "interval", "length", "buckets"];

/// Serialized as a struct of the same shape in all formats: `start` and `end` in nanoseconds,
/// `is_closed`, and `events`, a map of all events by their names. Needs the feature `serde`.
///
/// An event is an enum, by its [`Kind`](crate::Kind): `Count` with its sum; `Signed` with its sum,
/// which may be negative; `Value` with its [`Stats`](crate::Stats); `Maximum` and `Minimum` with
/// that value, or with none; `Histogram` with its
/// [`Distribution`](crate::histogram::Distribution#impl-Serialize-for-Distribution), whose scale
/// must be the reader's. See [`Snapshot`](Snapshot#impl-Serialize-for-Snapshot<E>) for an example.
impl<E: Events> Serialize for BucketSnapshot<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("BucketSnapshot", BUCKET.len())?;
        fields.serialize_field(BUCKET[0], &self.start)?;
        fields.serialize_field(BUCKET[1], &self.end)?;
        fields.serialize_field(BUCKET[2], &self.is_closed)?;
        fields.serialize_field(BUCKET[3], &Cells::<E>(&self.numbers))?;
        fields.end()
    }
}

/// Deserialized to a snapshot equal to the one serialized. Needs the feature `serde`.
///
/// The following are errors, which name the value and the rule:
///
/// * an event that the set does not have, that is of another kind, twice there or missing;
/// * numbers of an event that no bucket has: a minimum above the maximum, extremes of no records,
///   or records without extremes;
/// * a start that is not a multiple of the bucket's length, or an end that is not after the start.
///   (The end may be 2^64 - 1, the end of time; or both may be 0, for a bucket before time zero.)
impl<'de, E: Events> Deserialize<'de> for BucketSnapshot<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BucketSnapshot<E>, D::Error> {
        let (start, end, is_closed, ReadCells::<E>(numbers)) =
            deserialization::read(deserializer, "BucketSnapshot", BUCKET)?;
        let bucket = BucketSnapshot { start, end, is_closed, numbers };
        flaw::of_bucket(&bucket).map_err(D::Error::custom)?;
        Ok(bucket)
    }
}

/// Serialized as a struct of the same shape in all formats: `at`, `interval` and `length` (of a
/// bucket) in nanoseconds, and `buckets`, oldest first. Needs the feature `serde`.
///
/// Costs a pass over all buckets. Each bucket has its events by name, so an event takes its name's
/// length in each bucket, in compact formats too.
///
/// ```
/// use windrow::{SlidingWindow, Timestamp, clock::Manual, events, snapshot::Snapshot};
///
/// events! { enum Http { Pass: Count, Rt: Value } }
///
/// let window = SlidingWindow::<Http>::builder().clock(Manual::default()).buckets(1).build()?;
/// window.clock().set(Timestamp::from_secs(60));
/// window.add(Http::Pass, 2);
/// window.record(Http::Rt, 30);
/// let snapshot = window.snapshot();
/// let text = serde_json::to_string(&snapshot)?;
/// assert_eq!(
///     text,
///     concat!(
///         r#"{"at":60000000000,"interval":1000000000,"length":1000000000,"buckets":["#,
///         r#"{"start":60000000000,"end":61000000000,"is_closed":false,"events":{"#,
///         r#""Pass":{"Count":2},"#,
///         r#""Rt":{"Value":{"count":1,"sum":30,"min":30,"max":30}}}}]}"#,
///     )
/// );
/// assert_eq!(serde_json::from_str::<Snapshot<Http>>(&text)?, snapshot);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// All numbers are integers of up to 64 bits. (A reader that parses them as floating-point numbers,
/// as JavaScript does, is exact up to 2^53: 104 days of nanoseconds.)
///
/// An event's name is the one in [`Events::EVENTS`], so the names in a set written by hand must
/// differ. To rename an event is to change the shape. The order of the events does not matter.
impl<E: Events> Serialize for Snapshot<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Snapshot", SNAPSHOT.len())?;
        fields.serialize_field(SNAPSHOT[0], &self.at)?;
        fields.serialize_field(SNAPSHOT[1], &saturating_nanos(self.interval))?;
        fields.serialize_field(SNAPSHOT[2], &saturating_nanos(self.length))?;
        fields.serialize_field(SNAPSHOT[3], &self.buckets)?;
        fields.end()
    }
}

/// Deserialized to a snapshot equal to the one serialized, which can be [merged](Snapshot::merge)
/// with others. Needs the feature `serde`.
///
/// Beside the errors of a [`BucketSnapshot`], the following are errors:
///
/// * a length that is 0, or of which the interval is not a multiple;
/// * more or fewer buckets than the interval has at the time `at`, where buckets that would begin
///   before time zero are left out;
/// * buckets that are not adjacent, oldest first, each of that length, up to the one that contains
///   `at`.
///
/// Reading takes memory in proportion to the input, at most a few dozen bytes for each byte,
/// whatever length a list claims to have. (If a set of events written by hand has cells `[u64; N]`,
/// each bucket takes all of these.)
impl<'de, E: Events> Deserialize<'de> for Snapshot<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Snapshot<E>, D::Error> {
        let (at, interval, length, List(buckets)): (Timestamp, u64, u64, List<BucketSnapshot<E>>) =
            deserialization::read(deserializer, "Snapshot", SNAPSHOT)?;
        flaw::of_snapshot(at.as_nanos(), interval, length, &buckets).map_err(D::Error::custom)?;
        let (interval, length) = (Duration::from_nanos(interval), Duration::from_nanos(length));
        Ok(Snapshot { at, interval, length, buckets })
    }
}
