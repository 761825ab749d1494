//! Heavy keys under a name, whatever their type.
//!
//! Keys come from strangers. At most [`SHOWN`] of a span are shown, and of each [the
//! beginning](cut).

use std::fmt::Display;
use std::ops::Deref;
use std::time::Duration;

use windrow::Clock;
use windrow::heavy::{HeavyKeys, Key};

/// The greatest number of keys of a span.
const SHOWN: usize = 10;

/// The greatest number of characters of a text that [`cut`] returns.
const LONGEST: usize = 120;

const MINUTE: Duration = Duration::from_secs(60);

const HOUR: Duration = Duration::from_secs(3_600);

/// The longest bucket of which some make a minute. The current one has only begun.
const FINE: Duration = Duration::from_secs(15);

/// Heavy keys under a name.
pub(crate) struct Heavy {
    pub(crate) name: String,
    pub(crate) help: String,
    /// Reads the heaviest keys of each span.
    pub(crate) tops: Box<dyn Fn() -> Vec<Top> + Send + Sync>,
}

impl Heavy {
    pub(crate) fn new<H, K, C>(name: &str, help: &str, keys: H) -> Heavy
    where
        H: Deref<Target = HeavyKeys<K, C>> + Send + Sync + 'static,
        K: Key<Owned: Display> + ?Sized + 'static,
        C: Clock + 'static,
    {
        let tops = Box::new(move || {
            let top = |span| {
                let snapshot = keys.snapshot_over(span).ok()?;
                let keys = snapshot.top(SHOWN).into_iter().map(|heavy| {
                    let (at_least, at_most) = (heavy.at_least, heavy.at_most);
                    Weight { key: cut(&heavy.key), at_least, at_most }
                });
                Some(Top { span, total: snapshot.total(), keys: keys.collect() })
            };
            let bucket = keys.interval() / u32::try_from(keys.buckets()).unwrap_or(u32::MAX);
            spans(bucket, keys.interval(), keys.longest_span()).filter_map(top).collect()
        });
        Heavy { name: name.to_owned(), help: help.to_owned(), tops }
    }
}

/// Returns the last minute, if the buckets are fine enough, the interval, the last hour and the
/// longest span, as far as tiers reach.
fn spans(
    bucket: Duration,
    interval: Duration,
    longest: Duration,
) -> impl Iterator<Item = Duration> {
    let minute = (interval > MINUTE && bucket <= FINE).then_some(MINUTE);
    let hour = (interval < HOUR && longest > HOUR).then_some(HOUR);
    let longest = (longest > interval).then_some(longest);
    minute.into_iter().chain([interval]).chain(hour).chain(longest)
}

/// The heaviest keys of a span.
pub(crate) struct Top {
    pub(crate) span: Duration,
    pub(crate) total: u64,
    pub(crate) keys: Vec<Weight>,
}

/// A key, and the bounds of its weight.
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

/// Returns the beginning of a text that may be long, with a mark if there is more of it.
fn cut(text: &(impl Display + ?Sized)) -> String {
    let mut text = text.to_string();
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('\u{2026}');
    }
    text
}
