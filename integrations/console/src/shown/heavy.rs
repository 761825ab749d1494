//! Heavy keys under a name, whatever their type.
//!
//! Keys come from strangers. At most [`SHOWN`] of a span are shown, and of each [the
//! beginning](cut).

use std::fmt::{self, Display, Write};
use std::ops::Deref;
use std::time::Duration;

use windrow::Clock;
use windrow::heavy::{HeavyKeys, HeavySnapshot, Key};
use windrow::snapshot::OutOfRangeError;

/// The greatest number of keys of a span.
const SHOWN: usize = 10;

/// The greatest number of characters of a text that [`cut`] returns.
const LONGEST: usize = 120;

/// Heavy keys under a name.
pub(crate) struct Heavy {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) keys: Box<dyn AnyKeys>,
}

impl Heavy {
    pub(crate) fn new<H, K, C>(name: &str, help: &str, keys: H) -> Heavy
    where
        H: Deref<Target = HeavyKeys<K, C>> + Send + Sync + 'static,
        K: Key<Owned: Display> + ?Sized + 'static,
        C: Clock + 'static,
    {
        Heavy { name: name.to_owned(), help: help.to_owned(), keys: Box::new(keys) }
    }
}

/// Heavy keys of any type.
pub(crate) trait AnyKeys: Send + Sync {
    /// Returns the length of a bucket, the interval, and the longest span of a tier or of it.
    fn lengths(&self) -> [Duration; 3];

    /// Reads the keys with the most weight.
    fn top(&self, span: Duration) -> Result<Top, OutOfRangeError>;
}

/// The heaviest keys of a span.
#[derive(Debug, PartialEq)]
pub(crate) struct Top {
    pub(crate) span: Duration,
    pub(crate) total: u64,
    pub(crate) keys: Vec<Weight>,
}

impl Top {
    fn of<K>(span: Duration, snapshot: &HeavySnapshot<K>) -> Top
    where
        K: Key<Owned: Display> + ?Sized,
    {
        let keys = snapshot.top(SHOWN).into_iter().map(|heavy| Weight {
            key: cut(&heavy.key),
            at_least: heavy.at_least,
            at_most: heavy.at_most,
        });
        Top { span, total: snapshot.total(), keys: keys.collect() }
    }
}

/// A key, and the bounds of its weight.
#[derive(Debug, PartialEq)]
pub(crate) struct Weight {
    pub(crate) key: String,
    pub(crate) at_least: u64,
    pub(crate) at_most: u64,
}

impl Weight {
    /// Returns the bounds of the key's share of a total.
    pub(crate) fn shares(&self, total: u64) -> [f64; 2] {
        let part = |weight: u64| if total > 0 { weight as f64 / total as f64 } else { 0.0 };
        [part(self.at_least), part(self.at_most.min(total))]
    }
}

impl<H, K, C> AnyKeys for H
where
    H: Deref<Target = HeavyKeys<K, C>> + Send + Sync,
    K: Key<Owned: Display> + ?Sized + 'static,
    C: Clock + 'static,
{
    fn lengths(&self) -> [Duration; 3] {
        let buckets = u32::try_from(self.buckets()).unwrap_or(u32::MAX);
        [self.interval() / buckets, self.interval(), self.longest_span()]
    }

    fn top(&self, span: Duration) -> Result<Top, OutOfRangeError> {
        Ok(Top::of(span, &self.snapshot_over(span)?))
    }
}

/// Returns the beginning of a text that may be long, with a mark if there is more of it.
fn cut(text: &(impl Display + ?Sized)) -> String {
    let mut beginning = Beginning { text: String::new(), left: LONGEST };
    // The only error is that the text is long enough.
    if write!(beginning, "{text}").is_err() {
        beginning.text.push('\u{2026}');
    }
    beginning.text
}

/// The beginning of a text, however long that is.
struct Beginning {
    text: String,
    left: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}
