//! Serialization of stats and of sets of events.
//!
//! Each event is written with its name and its kind. So a reader with another kind for it, or with
//! another enum, notices that in every format.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde_core::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, VariantAccess,
    Visitor,
};
use serde_core::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::cells::EventCells;
use super::snapshot_numbers::Kept;
use super::{Events, Kind, Positions, Stats};
use crate::deserialization;
use crate::histogram::{Distribution, Scale};
use flaw::Flaw;

mod flaw;

const FIELDS: &[&str; 4] = &["count", "sum", "min", "max"];

/// Serialized as a struct of its four fields. Needs the feature `serde`.
impl Serialize for Stats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Stats", FIELDS.len())?;
        fields.serialize_field(FIELDS[0], &self.count)?;
        fields.serialize_field(FIELDS[1], &self.sum)?;
        fields.serialize_field(FIELDS[2], &self.min)?;
        fields.serialize_field(FIELDS[3], &self.max)?;
        fields.end()
    }
}

/// Deserialized from all four fields. A minimum above the maximum is an error, because no values
/// have such extremes. (Only the sum of the stats of a `Maximum` event and of a `Minimum` event,
/// which are not of the same values, could have them.) Needs the feature `serde`.
impl<'de> Deserialize<'de> for Stats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stats, D::Error> {
        let Unchecked(stats) = Unchecked::deserialize(deserializer)?;
        flaw::order(&stats).map_err(D::Error::custom)?;
        Ok(stats)
    }
}

struct Unchecked(Stats);

impl<'de> Deserialize<'de> for Unchecked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unchecked, D::Error> {
        let (count, sum, min, max) = deserialization::read(deserializer, "Stats", FIELDS)?;
        Ok(Unchecked(Stats { count, sum, min, max }))
    }
}

/// A kind's number and name.
const fn tag(kind: Kind) -> (u32, &'static str) {
    match kind {
        Kind::Count => (0, "Count"),
        Kind::Signed => (1, "Signed"),
        Kind::Value => (2, "Value"),
        Kind::Maximum => (3, "Maximum"),
        Kind::Minimum => (4, "Minimum"),
        Kind::Histogram(_) => (5, "Histogram"),
    }
}

/// Each kind once, in the order of their numbers.
const KINDS: [Kind; 6] = [
    Kind::Count,
    Kind::Signed,
    Kind::Value,
    Kind::Maximum,
    Kind::Minimum,
    Kind::Histogram(Scale::DEFAULT),
];
const TAGS: &[&str; KINDS.len()] = &{
    let mut tags = [""; KINDS.len()];
    let mut index = 0;
    while index < KINDS.len() {
        let (number, name) = tag(KINDS[index]);
        assert!(number as usize == index, "kinds are numbered from zero on");
        tags[index] = name;
        index += 1;
    }
    tags
};

/// The data of one event, as its kind keeps it.
enum OfKind {
    Stats(Kind, Stats),
    Distribution(Kind, Distribution),
}

impl Serialize for OfKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, stats) = match self {
            OfKind::Stats(kind, stats) => (kind, stats),
            OfKind::Distribution(kind, distribution) => {
                let (number, name) = tag(*kind);
                return serializer.serialize_newtype_variant("Kind", number, name, distribution);
            }
        };
        let (number, name) = tag(*kind);
        match kind {
            Kind::Count => serializer.serialize_newtype_variant("Kind", number, name, &stats.sum),
            Kind::Signed => {
                serializer.serialize_newtype_variant("Kind", number, name, &stats.sum.cast_signed())
            }
            Kind::Value | Kind::Histogram(_) => {
                serializer.serialize_newtype_variant("Kind", number, name, stats)
            }
            Kind::Maximum => serializer.serialize_newtype_variant("Kind", number, name, &stats.max),
            Kind::Minimum => serializer.serialize_newtype_variant("Kind", number, name, &stats.min),
        }
    }
}

/// Reads an event as [`OfKind`] writes it.
struct OfEvent(&'static str, Kind);

impl<'de> DeserializeSeed<'de> for OfEvent {
    type Value = OfKind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<OfKind, D::Error> {
        deserializer.deserialize_enum("Kind", TAGS, self)
    }
}

impl<'de> Visitor<'de> for OfEvent {
    type Value = OfKind;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the event `{}` as a {}", self.0, tag(self.1).1)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<OfKind, A::Error> {
        let OfEvent(name, expected) = self;
        let (kind, access) = access.variant_seed(KindSeed)?;
        if tag(kind) != tag(expected) {
            let (kind, expected) = (tag(kind).1, tag(expected).1);
            return Err(A::Error::custom(Flaw::Kind { name, kind, expected }));
        }
        let added = |sum| Stats { count: sum, sum, ..Stats::default() };
        let stats = match kind {
            Kind::Count => added(access.newtype_variant()?),
            Kind::Signed => added(access.newtype_variant::<i64>()?.cast_unsigned()),
            Kind::Value => {
                let Unchecked(stats) = access.newtype_variant()?;
                flaw::of_values(name, &stats).map_err(A::Error::custom)?;
                stats
            }
            Kind::Maximum => Stats { max: access.newtype_variant()?, ..Stats::default() },
            Kind::Minimum => Stats { min: access.newtype_variant()?, ..Stats::default() },
            Kind::Histogram(_) => {
                let of: Distribution = access.newtype_variant()?;
                flaw::of_bucket(name, &of, expected).map_err(A::Error::custom)?;
                return Ok(OfKind::Distribution(expected, of));
            }
        };
        Ok(OfKind::Stats(kind, stats))
    }
}

/// Maps a kind's name or number to the kind.
struct KindSeed;

impl<'de> DeserializeSeed<'de> for KindSeed {
    type Value = Kind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KindSeed {
    type Value = Kind;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a kind of event")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Kind, E> {
        let kind = KINDS.into_iter().find(|kind| tag(*kind).1 == name);
        kind.ok_or_else(|| E::unknown_variant(name, TAGS))
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<Kind, E> {
        self.visit_str(&String::from_utf8_lossy(name))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Kind, E> {
        let kind = KINDS.into_iter().find(|kind| u64::from(tag(*kind).0) == number);
        kind.ok_or_else(|| E::unknown_variant(&number.to_string(), TAGS))
    }
}

/// A bucket's cells, serialized as a map of all events by their names.
pub(crate) struct Cells<'a, E: Events>(pub(crate) &'a Kept<E>);

impl<E: Events> Serialize for Cells<'_, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(E::EVENTS.len()))?;
        for ((name, kind), cells) in E::EVENTS.iter().zip(<E::Cells as Positions<E>>::CELLS) {
            let known = match cells.places() {
                Some(places) => {
                    let memory = Distribution::default();
                    OfKind::Distribution(*kind, self.0.distribution(places, memory))
                }
                None => OfKind::Stats(*kind, self.0.stats(*cells)),
            };
            map.serialize_entry(name, &known)?;
        }
        map.end()
    }
}

/// A bucket's cells, deserialized: every event exactly once.
pub(crate) struct ReadCells<E: Events>(pub(crate) Kept<E>);

impl<'de, E: Events> Deserialize<'de> for ReadCells<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ReadCells<E>, D::Error> {
        deserializer.deserialize_map(AllEvents::<E>(PhantomData)).map(ReadCells)
    }
}

struct AllEvents<E>(PhantomData<E>);

impl<'de, E: Events> Visitor<'de> for AllEvents<E> {
    type Value = Kept<E>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a map of {} events by their names", E::EVENTS.len())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kept<E>, A::Error> {
        let all: &[EventCells] = <E::Cells as Positions<E>>::CELLS;
        let (mut numbers, mut is_there) = (Kept::ZERO, vec![false; all.len()]);
        let mut next = 0;
        while let Some(index) = map.next_key_seed(Name { events: E::EVENTS, next })? {
            let (name, kind) = E::EVENTS[index];
            if is_there[index] {
                return Err(A::Error::custom(Flaw::Twice { name }));
            }
            (is_there[index], next) = (true, index + 1);
            match (map.next_value_seed(OfEvent(name, kind))?, all[index].places()) {
                (OfKind::Distribution(_, of), Some(places)) => {
                    numbers.write_distribution(places, &of);
                }
                (OfKind::Distribution(..), None) => {}
                (OfKind::Stats(_, stats), _) => numbers.write(all[index], stats),
            }
        }
        match is_there.iter().position(|is_there| !is_there) {
            None => Ok(numbers),
            Some(index) => Err(A::Error::custom(Flaw::Missing { name: E::EVENTS[index].0 })),
        }
    }
}

/// Maps an event's name to its index. Usually it is the next one.
struct Name {
    events: &'static [(&'static str, Kind)],
    next: usize,
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = usize;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an event")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let is_it = |event: &(&str, Kind)| event.0 == name;
        if self.events.get(self.next).is_some_and(is_it) {
            return Ok(self.next);
        }
        let found = self.events.iter().position(is_it);
        found.ok_or_else(|| E::custom(Flaw::Unknown { name, events: self.events }))
    }
}
