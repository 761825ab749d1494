//! Reads rules by serde, as a derived implementation with `deny_unknown_fields` would. (A derive
//! needs six more packages.)
//!
//! Memory is bounded by the input: a list that is too long is read to its end, but kept only up to
//! the first element that is too many, for which the builder refuses it.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde_core::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_core::{Deserialize, Deserializer};

use crate::rules::builder::RulesBuilder;
use crate::rules::set::{LimitRules, Rules};
use crate::rules::setting::{Fields, Setting};

/// A whole set of rules, which is not validated yet.
pub(super) struct Set<T>(pub(super) PhantomData<T>);

impl<'de, T: Setting> Visitor<'de> for Set<T> {
    type Value = RulesBuilder<T>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("an object of rules")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RulesBuilder<T>, A::Error> {
        let names =
            &["default", "overflow", "rules", "weights"][..if T::HAS_WEIGHTS { 4 } else { 3 }];
        let setting = &T::NAMES[1..];
        let default = Object { what: T::WHAT, names: setting, required: T::REQUIRED };
        let overflow = Object { required: &[], ..default };
        let rule = Object { what: "an object of a rule", names: T::NAMES, required: &["match"] };
        let of_weight = &["request", "weight"];
        let weight =
            Object { what: "an object of a weight", names: of_weight, required: of_weight };
        let mut seen = Vec::new();
        let (mut of_default, mut of_overflow) = (None, None);
        let (mut rules, mut weights) = (Vec::new(), Vec::new());
        while let Some(name) = next_name(&mut map, names, &mut seen)? {
            match name {
                "default" => of_default = Some(map.next_value_seed(Seen(default))?),
                "overflow" => of_overflow = Some(map.next_value_seed(Seen(overflow))?),
                "rules" => rules = map.next_value_seed(Seen(List(rule)))?,
                _ => weights = map.next_value_seed(Seen(List(weight)))?,
            }
        }
        let default = of_default.ok_or_else(|| A::Error::missing_field("default"))?;
        let default = T::BLANK.with(&default);
        Ok(RulesBuilder {
            default,
            overflow: of_overflow.map(|fields| default.with(&fields)),
            rules: rules.into_iter().map(|it| (default.with(&it), it.labels)).collect(),
            weights: weights.into_iter().map(|fields| (fields.request, fields.weight)).collect(),
        })
    }
}

/// Reads the next name of an object, which is one of these, and comes once.
fn next_name<'de, A: MapAccess<'de>>(
    map: &mut A,
    names: &'static [&'static str],
    seen: &mut Vec<&'static str>,
) -> Result<Option<&'static str>, A::Error> {
    let Some(name) = map.next_key::<String>()? else { return Ok(None) };
    let known = names.iter().find(|known| **known == name);
    let name = *known.ok_or_else(|| A::Error::unknown_field(&name, names))?;
    if seen.contains(&name) {
        return Err(A::Error::duplicate_field(name));
    }
    seen.push(name);
    Ok(Some(name))
}

/// An object with some of these fields, and all that are required.
#[derive(Clone, Copy)]
struct Object {
    what: &'static str,
    names: &'static [&'static str],
    required: &'static [&'static str],
}

impl<'de> Visitor<'de> for Object {
    type Value = Fields;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let (mut seen, mut fields) = (Vec::new(), Fields::default());
        while let Some(name) = next_name(&mut map, self.names, &mut seen)? {
            match name {
                "match" => fields.labels = map.next_value_seed(Seen(Pairs))?,
                "request" => fields.request = map.next_value()?,
                "weight" => fields.weight = map.next_value()?,
                "limit" => fields.limit = Some(map.next_value()?),
                "interval_ms" => fields.interval_ms = Some(map.next_value()?),
                "buckets" => fields.buckets = Some(map.next_value()?),
                "strict" => fields.strict = Some(map.next_value()?),
                "max_wait_ms" => fields.max_wait_ms = Some(map.next_value()?),
                "burst" => fields.burst = Some(map.next_value()?),
                _ => fields.places = Some(map.next_value()?),
            }
        }
        match self.required.iter().find(|name| !seen.contains(name)) {
            Some(missing) => Err(A::Error::missing_field(missing)),
            None => Ok(fields),
        }
    }
}

/// A list of objects, up to the first that is too many.
struct List(Object);

impl<'de> Visitor<'de> for List {
    type Value = Vec<Fields>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Fields>, A::Error> {
        let mut list = Vec::new();
        while list.len() <= LimitRules::MAX_RULES {
            let Some(element) = seq.next_element_seed(Seen(self.0))? else { return Ok(list) };
            list.push(element);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(list)
    }
}

/// The labels of a rule and their patterns, up to the first that is too many. Duplicates are kept.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, String)>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("an object of labels and texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while pairs.len() <= LimitRules::MAX_LABELS {
            let Some(pair) = map.next_entry()? else { return Ok(pairs) };
            pairs.push(pair);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(pairs)
    }
}

/// The value that a visitor makes of the next one.
struct Seen<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Seen<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_any(self.0)
    }
}

/// Needs the feature `serde`. Bound the length of a text before you read it, as
/// `Rules::from_json` does.
impl<'de, T: Setting> Deserialize<'de> for Rules<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rules<T>, D::Error> {
        deserializer.deserialize_map(Set(PhantomData))?.build().map_err(D::Error::custom)
    }
}
