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
use crate::rules::readable::Fields;
use crate::rules::set::{MAX_LABELS, MAX_RULES, Rules};
use crate::rules::setting::Setting;

/// The names of the fields of a set.
const NAMES: &[&str] = &["default", "overflow", "rules", "weights"];

/// A whole set as read; nothing is validated yet.
pub(super) struct RulesRead<T: Setting> {
    default: T,
    overflow: Option<T::Fields>,
    rules: Vec<Object<T::Fields, true>>,
    weights: Vec<WeightRead>,
}

impl<T: Setting> RulesRead<T> {
    /// Returns a builder of the rules read.
    pub(super) fn builder(self) -> RulesBuilder<T> {
        // With a default, no field is required.
        let setting = |fields| T::of_fields(fields, Some(self.default)).unwrap_or(self.default);
        let mut rules = Rules::builder(self.default);
        if let Some(overflow) = self.overflow {
            rules = rules.overflow(setting(overflow));
        }
        for Object { labels, fields } in self.rules {
            let labels = labels.0.iter().map(|(label, text)| (&**label, &**text));
            rules = rules.rule(labels, setting(fields));
        }
        rules.weights(
            self.weights.into_iter().map(|WeightRead(request, weight)| (request, weight)).collect(),
        )
    }
}

impl<'de, T: Setting> Deserialize<'de> for RulesRead<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RulesRead<T>, D::Error> {
        struct Set<T>(PhantomData<T>);

        impl<'de, T: Setting> Visitor<'de> for Set<T> {
            type Value = RulesRead<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object of rules")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RulesRead<T>, A::Error> {
                let names = &NAMES[..if T::HAS_WEIGHTS { 4 } else { 3 }];
                let (mut default, mut overflow, mut rules, mut weights) = (None, None, None, None);
                while let Some(name) = map.next_key_seed(Name(names))? {
                    let is_new = match name {
                        "default" => default.replace(map.next_value::<Default<T>>()?).is_none(),
                        "overflow" => overflow
                            .replace(map.next_value::<Object<T::Fields, false>>()?)
                            .is_none(),
                        "rules" => rules.replace(map.next_value::<List<_>>()?).is_none(),
                        _ => weights.replace(map.next_value::<List<_>>()?).is_none(),
                    };
                    if !is_new {
                        return Err(A::Error::duplicate_field(name));
                    }
                }
                Ok(RulesRead {
                    default: default.ok_or_else(|| A::Error::missing_field("default"))?.0,
                    overflow: overflow.map(|overflow| overflow.fields),
                    rules: rules.map_or_else(Vec::new, |list| list.0),
                    weights: weights.map_or_else(Vec::new, |list| list.0),
                })
            }
        }

        deserializer.deserialize_map(Set(PhantomData))
    }
}

/// The default setting.
struct Default<T>(T);

impl<'de, T: Setting> Deserialize<'de> for Default<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Default<T>, D::Error> {
        let Object::<T::Fields, false> { fields, .. } = Object::deserialize(deserializer)?;
        T::of_fields(fields, None).map(Default).map_err(D::Error::missing_field)
    }
}

/// The fields of a setting, and the labels of a rule, if it is one.
struct Object<F, const IS_RULE: bool> {
    labels: Pairs,
    fields: F,
}

impl<'de, F: Fields, const IS_RULE: bool> Deserialize<'de> for Object<F, IS_RULE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Of<F, const IS_RULE: bool>(PhantomData<F>);

        impl<'de, F: Fields, const IS_RULE: bool> Visitor<'de> for Of<F, IS_RULE> {
            type Value = Object<F, IS_RULE>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str(if IS_RULE { "an object of a rule" } else { F::WHAT })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let names = if IS_RULE { F::NAMES_OF_RULE } else { F::NAMES };
                let (mut labels, mut fields) = (None, F::default());
                while let Some(name) = map.next_key_seed(Name(names))? {
                    if name != "match" {
                        fields.read(name, &mut map)?;
                    } else if labels.replace(map.next_value()?).is_some() {
                        return Err(A::Error::duplicate_field(name));
                    }
                }
                match labels {
                    None if IS_RULE => Err(A::Error::missing_field("match")),
                    labels => Ok(Object { labels: labels.unwrap_or(Pairs(Vec::new())), fields }),
                }
            }
        }

        deserializer.deserialize_map(Of(PhantomData))
    }
}

/// A pattern of requests and their weight.
struct WeightRead(String, u64);

impl<'de> Deserialize<'de> for WeightRead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WeightRead, D::Error> {
        struct Weight;

        impl<'de> Visitor<'de> for Weight {
            type Value = WeightRead;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object of a weight")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WeightRead, A::Error> {
                let (mut request, mut weight) = (None, None);
                while let Some(name) = map.next_key_seed(Name(&["request", "weight"]))? {
                    let is_new = match name {
                        "request" => request.replace(map.next_value()?).is_none(),
                        _ => weight.replace(map.next_value()?).is_none(),
                    };
                    if !is_new {
                        return Err(A::Error::duplicate_field(name));
                    }
                }
                Ok(WeightRead(
                    request.ok_or_else(|| A::Error::missing_field("request"))?,
                    weight.ok_or_else(|| A::Error::missing_field("weight"))?,
                ))
            }
        }

        deserializer.deserialize_map(Weight)
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
struct List<T>(Vec<T>);

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
                while list.len() <= MAX_RULES {
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
struct Pairs(Vec<(String, String)>);

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
                while pairs.len() <= MAX_LABELS {
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
impl<'de, T: Setting> Deserialize<'de> for Rules<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rules<T>, D::Error> {
        RulesRead::deserialize(deserializer)?.builder().build().map_err(D::Error::custom)
    }
}
