//! Errors of deserialized events. No window holds such numbers.

use std::fmt::{self, Display, Formatter};

use crate::event::{Kind, Stats};
use crate::histogram::{Distribution, Scale};

/// An error, with the value and the rule that it breaks.
pub(super) enum Flaw<'a> {
    Unknown { name: &'a str, events: &'static [(&'static str, Kind)] },
    Twice { name: &'a str },
    Missing { name: &'a str },
    Kind { name: &'a str, kind: &'a str, expected: &'a str },
    Order { min: u64, max: u64 },
    OrderOf { name: &'a str, min: u64, max: u64 },
    OfNothing { name: &'a str, min: Option<u64>, max: Option<u64> },
    Unbounded { name: &'a str, count: u64 },
    Scale { name: &'a str, scale: Scale, expected: Scale },
    Inexact { name: &'a str },
}

impl Display for Flaw<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Flaw::Unknown { name, events } => {
                write!(f, "there is no event `{name}`, only")?;
                let mut separator = " ";
                events.iter().try_for_each(|(event, _)| {
                    write!(f, "{separator}`{event}`")?;
                    separator = ", ";
                    Ok(())
                })
            }
            Flaw::Twice { name } => {
                write!(f, "the event `{name}` occurs twice; each must occur once")
            }
            Flaw::Missing { name } => {
                write!(f, "the event `{name}` is missing; each must occur once")
            }
            Flaw::Kind { name, kind, expected } => {
                write!(f, "the event `{name}` is a {kind}; it must be a {expected}")
            }
            Flaw::Order { min, max } => {
                write!(f, "the minimum {min} is above the maximum {max}")
            }
            Flaw::OrderOf { name, min, max } => {
                write!(f, "the minimum {min} of the event `{name}` is above its maximum {max}")
            }
            Flaw::OfNothing { name, min, max } => write!(
                f,
                "the event `{name}` has the count 0, with a minimum of {min:?} and a maximum of \
                 {max:?}; without records it must have neither"
            ),
            Flaw::Scale { name, scale, expected } => write!(
                f,
                "the distribution of the event `{name}` has a scale of {scale:?}; it must be {expected:?}"
            ),
            Flaw::Inexact { name } => write!(
                f,
                "the distribution of the event `{name}` has extremes that are not exact; those of a \
                 bucket must be"
            ),
            Flaw::Unbounded { name, count } => write!(
                f,
                "the event `{name}` has the count {count}, without a minimum and a maximum; with \
                 records it must have both"
            ),
        }
    }
}

/// Checks the extremes of any stats.
pub(super) fn order(stats: &Stats) -> Result<(), Flaw<'static>> {
    match (stats.min, stats.max) {
        (Some(min), Some(max)) if min > max => Err(Flaw::Order { min, max }),
        _ => Ok(()),
    }
}

/// Checks the distribution of an event of a kind.
pub(super) fn of_bucket<'a>(name: &'a str, of: &Distribution, kind: Kind) -> Result<(), Flaw<'a>> {
    match kind {
        Kind::Histogram(expected) if of.scale() != expected => {
            Err(Flaw::Scale { name, scale: of.scale(), expected })
        }
        _ if !of.has_exact_extremes() => Err(Flaw::Inexact { name }),
        _ => Ok(()),
    }
}

/// Checks the stats of a `Value` event.
pub(super) fn of_values<'a>(name: &'a str, stats: &Stats) -> Result<(), Flaw<'a>> {
    let Stats { count, sum: _, min, max } = *stats;
    match (count, min, max) {
        (0, None, None) => Ok(()),
        (0, ..) => Err(Flaw::OfNothing { name, min, max }),
        (_, Some(min), Some(max)) if min > max => Err(Flaw::OrderOf { name, min, max }),
        (_, Some(_), Some(_)) => Ok(()),
        _ => Err(Flaw::Unbounded { name, count }),
    }
}
