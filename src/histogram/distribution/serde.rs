//! Serialization of distributions.

use std::fmt::{self, Display, Formatter};

use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, SerializeStruct, Serializer};

use super::Distribution;
use crate::deserialization::{self, List};
use crate::error::ScaleError;
use crate::histogram::scale::Scale;

const DISTRIBUTION: &[&str; 4] = &["scale", "sum", "extremes", "cells"];

/// Serialized as a struct of the same shape in all formats: `scale` (schema, minimum and maximum of
/// the range), `sum`, `extremes` (minimum, maximum, and whether they are exact; or none), and
/// `cells`, those that were used, in ascending order: the greatest value of each, and its count.
/// Needs the feature `serde`.
///
/// ```
/// use windrow::{Histogram, histogram::Distribution};
///
/// let latency = Histogram::new();
/// [600, 1_000, 1_024].iter().for_each(|nanos| latency.record(*nanos));
/// let now = latency.distribution();
/// let text = serde_json::to_string(&now)?;
/// let (numbers, cells) = text.split_once(r#","cells":"#).unwrap();
/// assert_eq!(numbers, r#"{"scale":[3,513,68719476736],"sum":2624,"extremes":[600,1024,true]"#);
/// assert_eq!(cells, "[[608,1],[1024,2]]}");
/// assert_eq!(serde_json::from_str::<Distribution>(&text)?, now);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// All numbers are integers of up to 64 bits. (A reader that parses them as floating-point numbers,
/// as JavaScript does, is exact up to 2^53.)
impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scale = (self.scale.schema(), self.scale.min(), self.scale.max());
        let cells: Vec<_> = self.cells().map(|(values, count)| (*values.end(), count)).collect();
        let (min, max) = self.extremes;
        let extremes = (!self.is_empty()).then_some((min, max, self.exact));
        let mut fields = serializer.serialize_struct("Distribution", DISTRIBUTION.len())?;
        fields.serialize_field(DISTRIBUTION[0], &scale)?;
        fields.serialize_field(DISTRIBUTION[1], &self.sum)?;
        fields.serialize_field(DISTRIBUTION[2], &extremes)?;
        fields.serialize_field(DISTRIBUTION[3], &cells)?;
        fields.end()
    }
}

/// Deserialized to a distribution equal to the one serialized, which can be
/// [merged](Distribution::merge) with others. Needs the feature `serde`.
///
/// The following are errors, which name the value and the rule:
///
/// * an invalid scale, or one whose range does not begin and end at powers of two;
/// * a cell that the scale does not have, that is empty, or that does not come after the one
///   before;
/// * extremes that are not in the first and the last cell, or a minimum above the maximum; extremes
///   without values, or values without extremes.
impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distribution, D::Error> {
        let (scale, sum, extremes, List(cells)) =
            deserialization::read(deserializer, "Distribution", DISTRIBUTION)?;
        from_parts(scale, sum, extremes, cells).map_err(D::Error::custom)
    }
}

/// An error, with the value and the rule that it breaks.
enum Flaw {
    Scale(ScaleError),
    Range { min: u64, max: u64 },
    Cell { end: u64 },
    Empty { end: u64 },
    Order { end: u64 },
    Extremes(Option<(u64, u64, bool)>),
}

impl Display for Flaw {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Scale(error) => Display::fmt(error, f),
            Flaw::Range { min, max } => write!(
                f,
                "the range from {min} to {max} does not begin just after a power of two and end at one"
            ),
            Flaw::Cell { end } => write!(f, "no cell of the scale ends at {end}"),
            Flaw::Empty { end } => write!(f, "the cell that ends at {end} has no values"),
            Flaw::Order { end } => {
                write!(f, "the cell that ends at {end} does not come after the one before")
            }
            Flaw::Extremes(None) => write!(f, "there are values, but no extremes"),
            Flaw::Extremes(Some((min, max, _))) => write!(
                f,
                "the extremes {min} and {max} are not those of values in the first cell and the last"
            ),
        }
    }
}

fn from_parts(
    (schema, min, max): (u8, u64, u64),
    sum: u64,
    extremes: Option<(u64, u64, bool)>,
    cells: Vec<(u64, u64)>,
) -> Result<Distribution, Flaw> {
    let scale = Scale::new(schema, min, max).map_err(Flaw::Scale)?;
    if (scale.min(), scale.max()) != (min, max) {
        return Err(Flaw::Range { min, max });
    }
    let mut used: Vec<(u16, u64)> = Vec::new();
    for (end, count) in cells {
        let place = scale.place(end);
        if scale.bounds(place).1 != end {
            return Err(Flaw::Cell { end });
        }
        if count == 0 {
            return Err(Flaw::Empty { end });
        }
        if used.last().is_some_and(|last| usize::from(last.0) >= place) {
            return Err(Flaw::Order { end });
        }
        used.push((place as u16, count));
    }
    let ends = used.first().zip(used.last()).map(|(first, last)| (first.0, last.0));
    let of = |(min, max, _)| (scale.place(min) as u16, scale.place(max) as u16);
    if extremes.map(of) != ends || extremes.is_some_and(|(min, max, _)| min > max) {
        return Err(Flaw::Extremes(extremes));
    }
    let (min, max, exact) = extremes.unwrap_or_default();
    Ok(Distribution::of_used(scale, used, sum, (min, max), exact))
}
