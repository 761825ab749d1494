//! The bounds of the terms that a user may set.

use std::time::Duration;

use windrow::AtMost;

use crate::error::SharedError;
use crate::machine::{DRIFT, LENGTHS, MAX_BUCKETS, MAX_LIMIT, Terms};

/// Returns the limit, if a ledger can count it.
pub(crate) fn checked(limit: AtMost) -> Result<u64, SharedError> {
    if limit.0 > MAX_LIMIT {
        return Err(SharedError::LimitTooLarge { limit: limit.0, max: MAX_LIMIT });
    }
    Ok(limit.0)
}

/// Returns the terms of a limit that was not changed yet.
pub(crate) fn terms(
    limit: AtMost,
    interval: Duration,
    buckets: usize,
) -> Result<Terms, SharedError> {
    let limit = checked(limit)?;
    let wrong = |reason| SharedError::Geometry { interval, buckets, reason };
    let number = buckets as u64;
    if !(1..=MAX_BUCKETS).contains(&number) {
        return Err(wrong("there must be 1 to 100 of them"));
    }
    let (nanos, each) = (interval.as_nanos(), 1_000 * u128::from(number));
    if !nanos.is_multiple_of(each) {
        return Err(wrong("a bucket must have whole microseconds"));
    }
    match u64::try_from(nanos / each).ok().filter(|length| LENGTHS.contains(length)) {
        Some(length) => Ok(Terms { limit, version: 1, length, buckets: number, drift: DRIFT }),
        None => Err(wrong("a bucket must last a millisecond to an hour")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_have_bounds() {
        let of = |millis, buckets| terms(AtMost(5), Duration::from_millis(millis), buckets);
        let right = of(1_000, 10).map(|terms| (terms.limit, terms.length, terms.buckets));
        assert_eq!(right, Ok((5, 100_000, 10)));
        for (millis, buckets) in [(0, 1), (1_000, 0), (1_000, 101), (5, 10), (1_000, 7)] {
            let wrong = of(millis, buckets).map(|_| ());
            assert!(matches!(wrong, Err(SharedError::Geometry { .. })), "{millis} {buckets}");
        }
        assert!(terms(AtMost(5), Duration::from_secs(3_601), 1).is_err());
        assert_eq!(checked(AtMost(MAX_LIMIT)), Ok(MAX_LIMIT));
        let too_large = SharedError::LimitTooLarge { limit: MAX_LIMIT + 1, max: MAX_LIMIT };
        assert_eq!(checked(AtMost(MAX_LIMIT + 1)), Err(too_large));
    }
}
