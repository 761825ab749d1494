//! Deserializes a struct of three or four fields, as strictly as a derived implementation; and
//! lists, without relying on the length that the input claims.
//!
//! Formats that write the fields' names may have them in any order, each once. A missing, repeated
//! or unknown field is an error. Other formats have the values in the order of the names.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde_core::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_core::{Deserialize, Deserializer};

type Names = &'static [&'static str];

/// The struct's fields, in the order of `names`: a tuple with a field for each name.
pub(crate) fn read<'de, D, F>(
    deserializer: D,
    name: &'static str,
    names: Names,
) -> Result<F, D::Error>
where
    D: Deserializer<'de>,
    Fields<F>: Visitor<'de, Value = F>,
{
    deserializer.deserialize_struct(name, names, Fields { name, names, types: PhantomData })
}

pub(crate) struct Fields<T> {
    name: &'static str,
    names: Names,
    types: PhantomData<T>,
}

macro_rules! fields {
    ($($position:tt $type:ident $found:ident),*) => {
        impl<'de, $($type: Deserialize<'de>),*> Visitor<'de> for Fields<($($type,)*)> {
            type Value = ($($type,)*);

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "the struct {} of {} fields", self.name, self.names.len())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let short = |length| A::Error::invalid_length(length, &self);
                Ok(($(seq.next_element()?.ok_or_else(|| short($position))?,)*))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                $(let mut $found = None;)*
                while let Some(position) = map.next_key_seed(Position(self.names))? {
                    let is_new = match position {
                        $($position => $found.replace(map.next_value()?).is_none(),)*
                        _ => unreachable!("there is a field for each name"),
                    };
                    if !is_new {
                        return Err(A::Error::duplicate_field(self.names[position]));
                    }
                }
                let missing = |position: usize| A::Error::missing_field(self.names[position]);
                Ok(($($found.ok_or_else(|| missing($position))?,)*))
            }
        }
    };
}

fields!(0 Q first, 1 R second, 2 S third);
fields!(0 Q first, 1 R second, 2 S third, 3 T fourth);

/// Maps a field's name or number to its position.
struct Position(Names);

impl<'de> DeserializeSeed<'de> for Position {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Position {
    type Value = usize;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let position = self.0.iter().position(|field| *field == name);
        position.ok_or_else(|| E::unknown_field(name, self.0))
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<usize, E> {
        self.visit_str(&String::from_utf8_lossy(name))
    }

    fn visit_u64<E: Error>(self, position: u64) -> Result<usize, E> {
        let there = usize::try_from(position).ok().filter(|position| *position < self.0.len());
        there.ok_or_else(|| E::unknown_field(&position.to_string(), self.0))
    }
}

/// A list. It takes memory for elements as they are read, not for the length that the input claims.
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<List<T>, D::Error> {
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

struct Elements<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = seq.next_element()? {
            list.push(element);
        }
        list.shrink_to_fit();
        Ok(List(list))
    }
}
