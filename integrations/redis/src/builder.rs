//! The builder of shared limits, of one or of one for each key, and the bounds of their terms.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use windrow::AtMost;

use crate::absence::Absence;
use crate::engine::Engine;
use crate::error::SharedError;
use crate::limit::{Limit, gate};
use crate::machine::{DRIFT, LENGTHS, MAX_BUCKETS, MAX_LIMIT, Terms};
use crate::names::Tag;

/// A builder of a [`SharedGate`](crate::SharedGate), or of
/// [`SharedGates`](crate::SharedGates).
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct SharedBuilder<G> {
    limit: AtMost,
    interval: Duration,
    buckets: usize,
    name: String,
    absence: Absence,
    /// The number of keys, of limits by key.
    pub(crate) max_keys: usize,
    of: PhantomData<fn() -> G>,
}

/// A limit that a builder builds.
pub trait Built: Sized {
    /// The end of the name in the hash tag.
    const SUFFIX: &'static str;

    /// Builds it on an engine, and waits for that.
    fn on(engine: &Engine, checked: Checked, max_keys: usize) -> Result<Self, SharedError>;
}

/// The checked settings, which all keys of a limit have in common.
#[derive(Debug)]
pub struct Checked {
    pub(crate) terms: Terms,
    name: Arc<str>,
    tag: Tag,
    absence: Absence,
}

impl<G> SharedBuilder<G> {
    pub(crate) fn new(limit: AtMost) -> SharedBuilder<G> {
        SharedBuilder {
            limit,
            interval: Duration::from_secs(1),
            buckets: 10,
            name: "windrow".into(),
            absence: Absence::default(),
            max_keys: 10_000,
            of: PhantomData,
        }
    }

    /// Sets the interval in which the limit holds: a second unless it is set, and at most a week.
    pub fn interval(self, interval: Duration) -> SharedBuilder<G> {
        SharedBuilder { interval, ..self }
    }

    /// Sets the number of buckets in the interval, 1 to 100: 10 unless it is set.
    ///
    /// More buckets leave less of the limit unused, and make more calls of the engine: with `n` of
    /// them, at a steady load `n / (n + 1)` of the limit is admitted, by 1 to 2 calls a bucket and
    /// process. A bucket has at least a millisecond. It should last much longer than an answer
    /// takes.
    pub fn buckets(self, buckets: usize) -> SharedBuilder<G> {
        SharedBuilder { buckets, ..self }
    }

    /// Sets the limit's name: `windrow` unless it is set. Processes that name the same one share
    /// it. At most 64 letters, digits, `_`, `-` and `.` of ASCII.
    ///
    /// They must build it with the same interval and number of buckets.
    pub fn name(self, name: impl Into<String>) -> SharedBuilder<G> {
        SharedBuilder { name: name.into(), ..self }
    }

    /// Sets what is admitted while the engine is away: nothing unless it is set.
    pub fn on_absence(self, absence: Absence) -> SharedBuilder<G> {
        SharedBuilder { absence, ..self }
    }
}

impl<G: Built> SharedBuilder<G> {
    /// Builds the limit on an engine of its own, connected to by a URL: see [`Engine::connect`].
    ///
    /// # Errors
    ///
    /// Those of [`Engine::connect`] and of [`build`](Self::build).
    pub fn connect(&self, url: &str) -> Result<G, SharedError> {
        self.check()?;
        self.build(&Engine::connect(url)?)
    }

    /// Builds the limit on an engine, and waits for its first answer; not on one that is
    /// [connected to later](Engine::connect_lazy).
    ///
    /// # Errors
    ///
    /// [`SharedError::Name`], [`SharedError::Geometry`], [`SharedError::LimitTooLarge`] and
    /// [`SharedError::Absence`] for settings that no limit can have; [`SharedError::Foreign`] and
    /// [`SharedError::OtherGeometry`] for what the limit's keys hold, which is not overwritten;
    /// those of [`Engine::connect`] if the engine does not answer.
    pub fn build(&self, engine: &Engine) -> Result<G, SharedError> {
        G::on(engine, self.check()?, self.max_keys)
    }

    fn check(&self) -> Result<Checked, SharedError> {
        let terms = terms(self.limit, self.interval, self.buckets)?;
        if let Absence::Share(share) = self.absence {
            let made = gate(share.0, terms.length, terms.buckets);
            made.map_err(|error| SharedError::Absence { reason: error.to_string() })?;
        }
        let tag = Tag::of(&self.name, G::SUFFIX)?;
        Ok(Checked { terms, name: self.name.as_str().into(), tag, absence: self.absence })
    }
}

impl Checked {
    /// Returns this process's part of the limit of a key, on these terms.
    pub(crate) fn limit(&self, engine: &Engine, key: &[u8], terms: Terms) -> Arc<Limit> {
        let client = engine.hub().identities.next();
        let keys = self.tag.keys(key);
        Arc::new(Limit::new(self.name.clone(), terms, client, keys, self.absence))
    }
}

/// Returns the limit, if a ledger can count it.
pub(crate) fn checked(limit: AtMost) -> Result<u64, SharedError> {
    if limit.0 > MAX_LIMIT {
        return Err(SharedError::LimitTooLarge { limit: limit.0, max: MAX_LIMIT });
    }
    Ok(limit.0)
}

/// Returns the terms of a limit that was not changed yet.
fn terms(limit: AtMost, interval: Duration, buckets: usize) -> Result<Terms, SharedError> {
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
