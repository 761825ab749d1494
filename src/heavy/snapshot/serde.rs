//! Serialization of snapshots of heavy keys.
//!
//! # Why a snapshot that was read is sound
//!
//! A reader cannot know the weights that the sender counted: whether `at_least <= true weight <=
//! at_most` is the sender's word. It checks what each snapshot has, however it came about, because
//! merges and reads build on it ([`flaw`]). All of it holds for a summary, and each of these sums
//! and maxima keeps it when snapshots are merged or truncated. Numbers that have stopped at
//! `u64::MAX` have a total that has stopped there, too.

use std::borrow::Borrow;
use std::fmt::{self, Formatter};
use std::hash::BuildHasher;
use std::marker::PhantomData;

use foldhash::quality::RandomState;
use serde_core::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_core::ser::{Error as _, Serialize, SerializeStruct, Serializer};

use super::{HeavySnapshot, Known};
use crate::deserialization;
use crate::heavy::key::Key;
use crate::heavy::table::Table;

mod flaw;

use flaw::{Flaw, MOST_KEYS};

const SNAPSHOT: &[&str; 3] = &["total", "max_error", "keys"];

/// Serialized as a struct of the same shape in all formats: `total`, `max_error`, and `keys`, the
/// heaviest first: each key with its bounds. Needs the feature `serde`.
///
/// ```
/// use windrow::HeavyKeys;
/// use windrow::heavy::HeavySnapshot;
///
/// let clients = HeavyKeys::<str>::builder(100).build()?;
/// clients.add("acme", 40);
/// clients.add("initech", 2);
/// let text = serde_json::to_string(&clients.snapshot())?;
/// assert_eq!(text, r#"{"total":42,"max_error":0,"keys":[["acme",40,40],["initech",2,2]]}"#);
/// let mut there: HeavySnapshot<str> = serde_json::from_str(&text)?;
/// there.merge(&clients.snapshot());
/// assert_eq!(there.bounds("acme").at_least, 80);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// All numbers are integers of up to 64 bits. (A reader that parses them as floating-point numbers,
/// as JavaScript does, is exact up to 2^53.)
///
/// More than 1 048 576 keys are an error. [`HeavySnapshot::truncate`] bounds their number, and
/// keeps the bounds guaranteed.
impl<K: Key<Owned: Serialize> + ?Sized> Serialize for HeavySnapshot<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.known.len() > MOST_KEYS {
            return Err(S::Error::custom(Flaw::TooMany));
        }
        let all = self.top(usize::MAX);
        let keys: Vec<_> = all.iter().map(|it| (&it.key, it.at_least, it.at_most)).collect();
        let mut fields = serializer.serialize_struct("HeavySnapshot", SNAPSHOT.len())?;
        fields.serialize_field(SNAPSHOT[0], &self.total)?;
        fields.serialize_field(SNAPSHOT[1], &self.floors)?;
        fields.serialize_field(SNAPSHOT[2], &keys)?;
        fields.end()
    }
}

/// Deserialized to a snapshot with the same keys and bounds, which can be
/// [merged](HeavySnapshot::merge) with others. Needs the feature `serde`.
///
/// The bounds are guaranteed as far as the sender's are. The following are errors, which name the
/// value and the rule, since no snapshot has them:
///
/// * more than 1 048 576 keys, a key that occurs twice, or a text that is longer than
///   [`MAX_TEXT_BYTES`](crate::heavy::MAX_TEXT_BYTES);
/// * a lower bound above the upper one, or bounds that are further apart than `max_error`;
/// * an upper bound below `max_error`, or above the total; lower bounds that add up to more than
///   the total; a `max_error` above the total.
///
/// Reading takes memory in proportion to the input, at most a few dozen bytes for each byte.
impl<'de, K: Key<Owned: Deserialize<'de>> + ?Sized> Deserialize<'de> for HeavySnapshot<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HeavySnapshot<K>, D::Error> {
        let (total, floors, Keys { random, mut known }) =
            deserialization::read::<D, (u64, u64, Keys<K>)>(
                deserializer,
                "HeavySnapshot",
                SNAPSHOT,
            )?;
        flaw::check(total, floors, &known).map_err(D::Error::custom)?;
        // What was read as `above` is the upper bound, which is at least all floors together.
        known.values_mut().for_each(|known| known.above -= floors);
        Ok(HeavySnapshot { random, known, floors, total })
    }
}

/// Keys as they were read: with their upper bounds in place of what they have above all floors.
struct Keys<K: Key + ?Sized> {
    random: RandomState,
    known: Table<K, Known>,
}

impl<'de, K: Key<Owned: Deserialize<'de>> + ?Sized> Deserialize<'de> for Keys<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keys<K>, D::Error> {
        deserializer.deserialize_seq(List(PhantomData))
    }
}

struct List<K: ?Sized>(PhantomData<K>);

impl<'de, K: Key<Owned: Deserialize<'de>> + ?Sized> Visitor<'de> for List<K> {
    type Value = Keys<K>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a list of keys with their bounds")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Keys<K>, A::Error> {
        // A seed of this process: the sender cannot choose keys whose hashes collide here.
        let (random, mut known) = (RandomState::default(), Table::growing());
        while let Some((owned, at_least, above)) = seq.next_element::<(K::Owned, u64, u64)>()? {
            let (key, number): (&K, usize) = (owned.borrow(), known.len());
            let hash = random.hash_one(key);
            if number == MOST_KEYS {
                return Err(A::Error::custom(Flaw::TooMany));
            }
            if key.kept() != key {
                return Err(A::Error::custom(Flaw::TooLong { number }));
            }
            if known.find(hash, key).is_some() {
                return Err(A::Error::custom(Flaw::Twice { number }));
            }
            known.push(hash, key, Known { at_least, above });
        }
        Ok(Keys { random, known })
    }
}
