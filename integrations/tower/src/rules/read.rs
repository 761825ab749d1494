//! Reads rules by serde, as a derived implementation with `deny_unknown_fields` would. (A derive
//! needs six more packages.)
//!
//! Memory is bounded by the input: a list that is too long is read to its end, but kept only up to
//! the first element that is too many, for which the builder refuses it.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;
use std::time::Duration;

use serde_core::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_core::{Deserialize, Deserializer};

use crate::rules::rate::Rate;
use crate::rules::set::{Rules, RulesBuilder};

/// Declares the required and the optional fields of an object: each may come once, in any order,
/// and no others.
macro_rules! object {
    (
        $(#[$doc:meta])* $object:ident, $what:literal
        { $( $needed:ident: $type_of_needed:ty = $name_of_needed:literal, )* }
        { $( $field:ident: $type:ty = $name:literal, )* }
    ) => {
        $(#[$doc])*
        pub(super) struct $object {
            $( $needed: $type_of_needed, )*
            $( $field: Option<$type>, )*
        }

        impl<'de> Deserialize<'de> for $object {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$object, D::Error> {
                const NAMES: &[&str] = &[$( $name_of_needed, )* $( $name, )*];

                struct Fields;

                impl<'de> Visitor<'de> for Fields {
                    type Value = $object;

                    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$object, A::Error> {
                        $( let mut $needed = None; )*
                        $( let mut $field = None; )*
                        while let Some(name) = map.next_key_seed(Name(NAMES))? {
                            let is_new = match name {
                                $( $name_of_needed => $needed.replace(map.next_value()?).is_none(), )*
                                $( $name => $field.replace(map.next_value()?).is_none(), )*
                                _ => true,
                            };
                            if !is_new {
                                return Err(A::Error::duplicate_field(name));
                            }
                        }
                        Ok($object {
                            $( $needed: $needed.ok_or_else(|| A::Error::missing_field($name_of_needed))?, )*
                            $( $field, )*
                        })
                    }
                }

                deserializer.deserialize_map(Fields)
            }
        }
    };
}

object! {
    /// The whole set.
    RulesRead, "an object of rules"
    {
        default: DefaultRead = "default",
    }
    {
        overflow: RateRead = "overflow",
        rules: List<RuleRead> = "rules",
        weights: List<WeightRead> = "weights",
    }
}

object! {
    DefaultRead, "an object of a rate"
    {
        limit: u64 = "limit",
    }
    {
        interval: u64 = "interval_ms",
        buckets: usize = "buckets",
        strict: bool = "strict",
        max_wait: u64 = "max_wait_ms",
    }
}

object! {
    RateRead, "an object of a rate"
    {}
    {
        limit: u64 = "limit",
        interval: u64 = "interval_ms",
        buckets: usize = "buckets",
        strict: bool = "strict",
        max_wait: u64 = "max_wait_ms",
    }
}

object! {
    RuleRead, "an object of a rule"
    {
        labels: Pairs = "match",
    }
    {
        limit: u64 = "limit",
        interval: u64 = "interval_ms",
        buckets: usize = "buckets",
        strict: bool = "strict",
        max_wait: u64 = "max_wait_ms",
    }
}

object! {
    WeightRead, "an object of a weight"
    {
        request: String = "request",
        weight: u64 = "weight",
    }
    {}
}

impl RulesRead {
    /// Returns a builder of the rules read; nothing is validated yet.
    pub(super) fn builder(self) -> RulesBuilder {
        let DefaultRead { limit, interval, buckets, strict, max_wait } = self.default;
        let default = RateRead { limit: Some(limit), interval, buckets, strict, max_wait };
        let default = default.over(Rate::new(limit));
        let mut rules = Rules::builder(default);
        if let Some(overflow) = self.overflow {
            rules = rules.overflow(overflow.over(default));
        }
        for rule in self.rules.map_or_else(Vec::new, |list| list.0) {
            let RuleRead { labels, limit, interval, buckets, strict, max_wait } = rule;
            let labels = labels.0.iter().map(|(label, text)| (&**label, &**text));
            let rate = RateRead { limit, interval, buckets, strict, max_wait };
            rules = rules.rule(labels, rate.over(default));
        }
        for WeightRead { request, weight } in self.weights.map_or_else(Vec::new, |list| list.0) {
            rules = rules.weight(&request, weight);
        }
        rules
    }
}

impl RateRead {
    /// Returns the rate, with the fields of another where its own are left out.
    fn over(self, other: Rate) -> Rate {
        let millis = |millis: Option<u64>, other| millis.map_or(other, Duration::from_millis);
        Rate {
            limit: self.limit.unwrap_or(other.limit),
            interval: millis(self.interval, other.interval),
            buckets: self.buckets.unwrap_or(other.buckets),
            strict: self.strict.unwrap_or(other.strict),
            max_wait: millis(self.max_wait, other.max_wait),
        }
    }
}

/// The name of a field, one of these.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = &'static str;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'static str, E> {
        let known = self.0.iter().find(|known| **known == name);
        known.copied().ok_or_else(|| E::unknown_field(name, self.0))
    }
}

/// A list, up to the first element that is too many.
pub(super) struct List<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        struct Elements<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while list.len() <= Rules::MAX_RULES {
                    let Some(element) = seq.next_element()? else { return Ok(List(list)) };
                    list.push(element);
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(List(list))
            }
        }

        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// The labels of a rule and their patterns, up to the first that is too many. Duplicates are kept.
pub(super) struct Pairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Pairs;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object of labels and texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while pairs.len() <= Rules::MAX_LABELS {
                    let Some(pair) = map.next_entry()? else { return Ok(Pairs(pairs)) };
                    pairs.push(pair);
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// Needs the feature `serde`. Bound the length of a text before you read it, as
/// `Rules::from_json` does.
impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rules, D::Error> {
        RulesRead::deserialize(deserializer)?.builder().build().map_err(D::Error::custom)
    }
}
