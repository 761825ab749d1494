//! A set of rules: the settings of keys, and the weights of requests.

use windrow::labels::{Labels, RuntimeLabels};

use crate::rules::error::{RulesError, RulesPart};
use crate::rules::setting::{Geometry, Places, Rate, Setting};

/// A validated set of rules, which gives each key a setting: [`LimitRules`] give a rate limit,
/// [`RoomRules`] a concurrency limit, [`WindowRules`] the geometry of a window.
///
/// A rule names labels of the key, and gives each a pattern: the exact text, or a prefix that is
/// followed by `*`, as in `free-*`. (A `*` elsewhere stands for itself.) Labels that are not texts
/// are compared as exporters show them. A rule matches a key if all its patterns match. **The first
/// rule that matches gives the setting**; a key without a matching rule has the default setting. A
/// rule that can never be reached, because an earlier one matches all of its keys, is an error.
///
/// [`Limits::replace`](crate::Limits::replace), [`Rooms::replace`](crate::Rooms::replace) and
/// [`Routes::replace`](crate::Routes::replace) put a set into force.
///
/// ```
/// use windrow::labels;
/// use windrow_tower::{Rate, Rules};
///
/// labels! { pub struct Client { client: str } }
///
/// let rules = Rules::builder(Rate::new(10))
///     .rule([("client", "free-trial")], Rate::new(1))
///     .rule([("client", "free-*")], Rate::new(5))
///     .weight("/report*", 20)
///     .build()?;
/// let limit = |client| rules.setting::<Client>(Some(Client { client })).limit;
/// assert_eq!([limit("free-trial"), limit("free-42"), limit("alice")], [1, 5, 10]);
/// assert_eq!([rules.weight("/report/2026"), rules.weight("/")], [20, 1]);
/// # Ok::<(), windrow_tower::RulesError>(())
/// ```
///
/// # JSON
///
/// With the feature `json`, `Rules::from_json` reads such a text, here of [`LimitRules`]:
///
/// ```text
/// {
///   "default": { "limit": 10, "interval_ms": 1000, "buckets": 10, "strict": true },
///   "overflow": { "limit": 100 },
///   "rules": [
///     { "match": { "client": "batch" }, "limit": 1000, "max_wait_ms": 500 },
///     { "match": { "client": "free-*" }, "limit": 5 }
///   ],
///   "weights": [ { "request": "/report*", "weight": 20 } ]
/// }
/// ```
///
/// | rules | fields of a setting | those of `default` that are required |
/// |---|---|---|
/// | [`LimitRules`] | `limit`, `interval_ms`, `max_wait_ms`; of gates `buckets`, `strict`; of paces `burst` | `limit`; the others are as of [`Rate::new`] |
/// | [`RoomRules`] | `places` | `places` |
/// | [`WindowRules`] | `interval_ms`, `buckets` | `interval_ms` and `buckets` |
///
/// Only `default` is required. `overflow` and each rule have the fields of `default` where they
/// leave out their own. Only limits have `weights`. Unknown fields are errors. A text that is cut
/// off is never valid, so a file that is read while it is being written cannot take effect in part.
///
/// With the feature `serde`, `Rules` implements `Deserialize`, in the same shape, for every format
/// with named fields, and as a field of your own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules<T> {
    pub(super) default: T,
    pub(super) overflow: T,
    pub(super) by_key: Vec<Rule<T>>,
    pub(super) weights: Vec<(Pattern, u64)>,
}

/// Rules of a [`Limits`](crate::Limits): rates by key, and weights of requests.
///
/// ```
/// use windrow_tower::{LimitRules, Rate, Rules};
///
/// let rules: LimitRules = Rules::builder(Rate::new(10)).weight("/report*", 20).build()?;
/// assert_eq!(rules.weight("/report/2026"), 20);
/// # Ok::<(), windrow_tower::RulesError>(())
/// ```
pub type LimitRules = Rules<Rate>;

/// Rules of [`Rooms`](crate::Rooms): the numbers of places by key.
///
/// ```
/// use windrow_tower::{Places, RoomRules, Rules};
///
/// let rules = Rules::builder(Places::new(50)).rule([("route", "/report")], Places::new(2));
/// let rules: RoomRules = rules.build()?;
/// # Ok::<(), windrow_tower::RulesError>(())
/// ```
pub type RoomRules = Rules<Places>;

/// Rules of [`Routes`](crate::Routes): the geometries of windows by method and route.
///
/// ```
/// use std::time::Duration;
/// use windrow_tower::{Geometry, Rules, WindowRules};
///
/// let (minute, second) = (Duration::from_secs(60), Duration::from_secs(1));
/// let rules = Rules::builder(Geometry::new(minute, 60))
///     .rule([("method", "GET"), ("route", "/carts/*")], Geometry::new(second, 10));
/// let rules: WindowRules = rules.build()?;
/// # Ok::<(), windrow_tower::RulesError>(())
/// ```
pub type WindowRules = Rules<Geometry>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule<T> {
    /// The patterns of each label, by its name.
    pub(super) labels: Vec<(Box<str>, Pattern)>,
    pub(super) setting: T,
}

impl<T> Rules<T> {
    /// The maximum length of a text of rules: 1 MiB.
    pub const MAX_BYTES: usize = 1 << 20;

    /// The maximum number of rules, and of weights: 1000.
    pub const MAX_RULES: usize = 1_000;

    /// The maximum number of labels in a rule: 16.
    pub const MAX_LABELS: usize = 16;

    /// The maximum length of a pattern: 1024 bytes, as of a key's texts.
    pub const MAX_TEXT: usize = 1_024;
}

impl<T: Setting> Rules<T> {
    /// Returns the setting of a key; for `None`, the overflow setting.
    ///
    /// The call compares the key with each rule up to the first that matches.
    pub fn setting<L: Labels<Names = ()>>(&self, key: Option<L::Borrowed<'_>>) -> T {
        self.setting_of::<L>(L::names(&()), key)
    }

    /// Returns the setting of a key whose labels' names are known only at run time; for `None`, and
    /// for a key with another number of values than names, the overflow setting.
    ///
    /// ```
    /// use windrow_tower::{Rate, Rules};
    ///
    /// let rules = Rules::builder(Rate::new(10)).rule([("tenant", "free-*")], Rate::new(5));
    /// let names = ["tenant", "region"];
    /// let rate = rules.build()?.setting_with_names(&names, Some(&["free-42", "eu"]));
    /// assert_eq!(rate.limit, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn setting_with_names(&self, names: &[&str], key: Option<&[&str]>) -> T {
        self.setting_of::<RuntimeLabels>(names, key.filter(|key| key.len() == names.len()))
    }

    /// Returns the setting of a key that has one label for each of these names.
    pub(crate) fn setting_of<L: Labels>(&self, names: &[&str], key: Option<L::Borrowed<'_>>) -> T {
        let Some(key) = key else { return self.overflow };
        // Labels as exporters show them.
        let texts: Vec<_> =
            (0..names.len()).map(|index| L::value(key, index).to_string()).collect();
        let matches = |(label, pattern): &(Box<str>, Pattern)| {
            let index = names.iter().position(|name| **name == **label);
            index.is_some_and(|index| pattern.matches(&texts[index]))
        };
        let rule = self.by_key.iter().find(|rule| rule.labels.iter().all(matches));
        rule.map_or(self.default, |rule| rule.setting)
    }

    /// Returns each setting, and its place.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (RulesPart, T)> {
        let rules = self.by_key.iter().enumerate();
        let rules = rules.map(|(index, rule)| (RulesPart::Rule(index), rule.setting));
        let others = [(RulesPart::Default, self.default), (RulesPart::Overflow, self.overflow)];
        others.into_iter().chain(rules)
    }

    /// Refuses rules for labels that keys do not have.
    pub(crate) fn check_labels(&self, known: &[&str]) -> Result<(), RulesError> {
        for (index, rule) in self.by_key.iter().enumerate() {
            if let Some((label, _)) = rule.labels.iter().find(|(it, _)| !known.contains(&&**it)) {
                let problem = format!("keys have no label {label:?}; they have {known:?}");
                return Err(RulesPart::Rule(index).error(problem));
            }
        }
        Ok(())
    }
}

impl Rules<Rate> {
    /// Returns the weight of a request: the units of its key's limit that it takes. 1 if no pattern
    /// matches.
    ///
    /// `request` is the text by which requests are weighed: a path, or a matched route. It is
    /// compared with each pattern up to the first that matches.
    pub fn weight(&self, request: &str) -> u64 {
        let found = self.weights.iter().find(|(pattern, _)| pattern.matches(request));
        found.map_or(1, |(_, weight)| *weight)
    }
}

/// Refuses a text of rules that is too long.
pub(super) fn check_length(bytes: u64) -> Result<(), RulesError> {
    let max = LimitRules::MAX_BYTES;
    if bytes > max as u64 { Err(RulesError::TooLong { bytes, max }) } else { Ok(()) }
}

/// An exact text, or a prefix, which is written with a `*` after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    text: Box<str>,
    is_prefix: bool,
}

impl Pattern {
    /// Reads a pattern. A `*` anywhere but at the end stands for itself.
    pub(super) fn new(text: &str) -> Pattern {
        let prefix = text.strip_suffix('*');
        Pattern { text: prefix.unwrap_or(text).into(), is_prefix: prefix.is_some() }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        if self.is_prefix { text.starts_with(&*self.text) } else { *self.text == *text }
    }

    /// Returns whether it matches each text that `other` matches.
    pub(super) fn covers(&self, other: &Pattern) -> bool {
        self.matches(&other.text) && (self.is_prefix || !other.is_prefix)
    }

    /// Returns whether it matches every text.
    pub(super) fn matches_all(&self) -> bool {
        self.is_prefix && self.text.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_at_the_end_makes_a_prefix_and_any_other_is_a_star() {
        let texts = ["", "a", "ab", "abc", "b", "a*", "a*b", "*"];
        let matched = |pattern: &str| {
            let pattern = Pattern::new(pattern);
            texts.into_iter().filter(|text| pattern.matches(text)).collect::<Vec<_>>()
        };
        assert_eq!(matched("ab"), ["ab"]);
        assert_eq!(matched("ab*"), ["ab", "abc"]);
        assert_eq!(matched("a*b"), ["a*b"]);
        assert_eq!(matched("a**"), ["a*", "a*b"]);
        assert_eq!(matched("*"), texts);
        assert_eq!(matched(""), [""]);
    }

    #[test]
    fn a_pattern_covers_another_if_it_matches_all_of_its_texts() {
        let all = ["", "a", "ab", "b", "*", "a*", "ab*", "b*"].map(Pattern::new);
        let texts = ["", "a", "ab", "abc", "ac", "b", "bc", "c"];
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let is_within = |text: &&str| !other.matches(text) || one.matches(text);
            assert_eq!(one.covers(other), texts.iter().all(is_within), "{one:?} of {other:?}");
        }
    }
}
