//! Errors of deserialized snapshots of heavy keys. No snapshot has such keys or numbers.

use std::fmt::{self, Display, Formatter};

use crate::heavy::key::{Key, MAX_TEXT_BYTES};
use crate::heavy::snapshot::Known;
use crate::heavy::table::Table;

/// The greatest number of keys that are written or read.
pub(super) const MOST_KEYS: usize = 1 << 20;

/// An error, with the value and the rule that it breaks. Keys are named by their numbers in the
/// list.
pub(super) enum Flaw {
    TooMany,
    TooLong { number: usize },
    Twice { number: usize },
    Order { number: usize, at_least: u64, at_most: u64 },
    Apart { number: usize, apart: u64, max_error: u64 },
    Low { number: usize, at_most: u64, max_error: u64 },
    High { number: usize, at_most: u64, total: u64 },
    Sum { sum: u128, total: u64 },
    Error { max_error: u64, total: u64 },
}

impl Display for Flaw {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Flaw::TooMany => {
                write!(f, "there are more than {MOST_KEYS} keys; a snapshot can be truncated")
            }
            Flaw::TooLong { number } => {
                write!(f, "key {number} is a text of more than {MAX_TEXT_BYTES} bytes")
            }
            Flaw::Twice { number } => {
                write!(f, "key {number} occurs a second time; each must occur once")
            }
            Flaw::Order { number, at_least, at_most } => write!(
                f,
                "the lower bound {at_least} of key {number} is above its upper bound {at_most}"
            ),
            Flaw::Apart { number, apart, max_error } => write!(
                f,
                "the bounds of key {number} are {apart} apart; the greatest error is {max_error}"
            ),
            Flaw::Low { number, at_most, max_error } => write!(
                f,
                "the upper bound {at_most} of key {number} is below the greatest error {max_error}"
            ),
            Flaw::High { number, at_most, total } => {
                write!(f, "the upper bound {at_most} of key {number} is above the total {total}")
            }
            Flaw::Sum { sum, total } => {
                write!(f, "the lower bounds add up to {sum}; the total is {total}")
            }
            Flaw::Error { max_error, total } => {
                write!(f, "the greatest error {max_error} is above the total {total}")
            }
        }
    }
}

/// Checks the keys, which have their upper bounds in `above`.
pub(super) fn check<K: Key + ?Sized>(
    total: u64,
    max_error: u64,
    known: &Table<K, Known>,
) -> Result<(), Flaw> {
    if max_error > total {
        return Err(Flaw::Error { max_error, total });
    }
    let mut sum = 0;
    for (number, Known { at_least, above: at_most }) in known.values().enumerate() {
        let Some(apart) = at_most.checked_sub(at_least) else {
            return Err(Flaw::Order { number, at_least, at_most });
        };
        if at_most < max_error {
            return Err(Flaw::Low { number, at_most, max_error });
        }
        if at_most > total {
            return Err(Flaw::High { number, at_most, total });
        }
        if apart > max_error {
            return Err(Flaw::Apart { number, apart, max_error });
        }
        sum += u128::from(at_least);
    }
    if sum > u128::from(total) && total < u64::MAX {
        return Err(Flaw::Sum { sum, total });
    }
    Ok(())
}
