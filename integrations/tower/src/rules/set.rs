//! A set of rules: the rates of keys and the weights of requests.

use std::borrow::Cow;

use windrow::{
    Clock, Gate,
    labels::{LabelNames, LabelValue, Labels, RuntimeLabels},
};

use crate::rules::error::{RulesError, RulesPart};
use crate::rules::pattern::Pattern;
use crate::rules::rate::Rate;

/// A validated set of rules for a [`Limits`](crate::Limits): rates by key, and weights of requests.
///
/// A rule names labels of the key, and gives each a pattern: the exact text, or a prefix that is
/// followed by `*`, as in `free-*`. (A `*` elsewhere stands for itself.) Labels that are not texts
/// are compared as exporters show them. A rule matches a key if all its patterns match. **The first
/// rule that matches gives the rate**; a key without a matching rule has the default rate. A rule
/// that can never be reached, because an earlier one matches all of its keys, is an error.
///
/// [`Limits::replace`](crate::Limits::replace) puts a set into force.
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
/// let limit = |client| rules.rate::<Client>(Some(Client { client })).limit;
/// assert_eq!([limit("free-trial"), limit("free-42"), limit("alice")], [1, 5, 10]);
/// assert_eq!([rules.weight("/report/2026"), rules.weight("/")], [20, 1]);
/// # Ok::<(), windrow_tower::RulesError>(())
/// ```
///
/// # JSON
///
/// With the feature `json`, `Rules::from_json` reads such a text:
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
/// Only `default` and its `limit` are required. `default` is a [`Rate`] with the defaults of
/// [`Rate::new`]; `overflow` and each rule are rates with the defaults of `default`. Unknown fields
/// are errors. A text that is cut off is never valid, so a file that is read while it is being
/// written cannot take effect in part.
///
/// With the feature `serde`, `Rules` implements `Deserialize`, in the same shape, for every format
/// with named fields, and as a field of your own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    default: Rate,
    overflow: Rate,
    by_key: Vec<Rule>,
    weights: Vec<(Pattern, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// The patterns of each label, by its name.
    labels: Vec<(Box<str>, Pattern)>,
    rate: Rate,
}

/// A builder of [`Rules`], from [`Rules::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RulesBuilder {
    default: Rate,
    overflow: Option<Rate>,
    rules: Vec<(Vec<(String, String)>, Rate)>,
    weights: Vec<(String, u64)>,
}

impl Rules {
    /// The greatest length of a text of rules: 1 MiB.
    pub const MAX_BYTES: usize = 1 << 20;

    /// The greatest number of rules, and of weights: 1000.
    pub const MAX_RULES: usize = 1_000;

    /// The greatest number of labels in a rule: 16.
    pub const MAX_LABELS: usize = 16;

    /// The greatest length of a pattern: 1024 bytes, as of a key's texts.
    pub const MAX_TEXT: usize = 1_024;

    /// Returns a builder of rules with a default rate: the rate of each key that no rule matches.
    pub fn builder(default: Rate) -> RulesBuilder {
        RulesBuilder { default, overflow: None, rules: Vec::new(), weights: Vec::new() }
    }

    /// Returns the rate of a key; for `None`, the overflow rate.
    ///
    /// It compares the key with each rule up to the first that matches.
    pub fn rate<L: Labels<Names = ()>>(&self, key: Option<L::Borrowed<'_>>) -> Rate {
        self.rate_of::<L>(L::names(&()), key)
    }

    /// Returns the rate of a key whose labels' names are known only at run time; for `None`, and
    /// for a key with another number of values than names, the overflow rate.
    ///
    /// ```
    /// use windrow::labels::LabelNames;
    /// use windrow_tower::{Rate, Rules};
    ///
    /// let rules = Rules::builder(Rate::new(10)).rule([("tenant", "free-*")], Rate::new(5));
    /// let names = LabelNames::new(["tenant", "region"])?;
    /// let rate = rules.build()?.rate_with_names(&names, Some(&["free-42", "eu"]));
    /// assert_eq!(rate.limit, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rate_with_names(&self, names: &LabelNames, key: Option<&[&str]>) -> Rate {
        let names = names.as_slice();
        self.rate_of::<RuntimeLabels>(names, key.filter(|key| key.len() == names.len()))
    }

    /// Returns the rate of a key that has one label for each of these names.
    pub(crate) fn rate_of<L: Labels>(&self, names: &[&str], key: Option<L::Borrowed<'_>>) -> Rate {
        let Some(key) = key else { return self.overflow };
        let texts: Vec<_> = (0..names.len()).map(|index| text(L::value(key, index))).collect();
        let matches = |(label, pattern): &(Box<str>, Pattern)| {
            let index = names.iter().position(|name| **name == **label);
            index.is_some_and(|index| pattern.matches(&texts[index]))
        };
        let rule = self.by_key.iter().find(|rule| rule.labels.iter().all(matches));
        rule.map_or(self.default, |rule| rule.rate)
    }

    /// Returns the weight of a request: the units of its key's limit that it takes. 1 if no pattern
    /// matches.
    ///
    /// `request` is the text by which requests are weighed: a path, or a matched route. It is
    /// compared with each pattern up to the first that matches.
    pub fn weight(&self, request: &str) -> u64 {
        let found = self.weights.iter().find(|(pattern, _)| pattern.matches(request));
        found.map_or(1, |(_, weight)| *weight)
    }

    /// Refuses a text of rules that is too long.
    pub(super) fn check_length(bytes: u64) -> Result<(), RulesError> {
        let max = Rules::MAX_BYTES;
        if bytes > max as u64 { Err(RulesError::TooLong { bytes, max }) } else { Ok(()) }
    }

    /// Refuses rules for labels that keys do not have.
    pub(crate) fn check_labels(&self, known: &[&str]) -> Result<(), RulesError> {
        for (index, rule) in self.by_key.iter().enumerate() {
            if let Some((label, _)) = rule.labels.iter().find(|(it, _)| !known.contains(&&**it)) {
                let (part, label) = (RulesPart::Rule(index), label.to_string());
                let known = known.iter().map(|&name| name.to_owned()).collect();
                return Err(RulesError::UnknownLabel { part, label, known });
            }
        }
        Ok(())
    }

    /// Refuses rates that a gate like this one, on its clock, does not take. Changes the gate.
    pub(crate) fn check_rates<C: Clock>(&self, gate: &Gate<C>) -> Result<(), RulesError> {
        let rules = self.by_key.iter().enumerate();
        let rules = rules.map(|(index, rule)| (RulesPart::Rule(index), rule.rate));
        let others = [(RulesPart::Default, self.default), (RulesPart::Overflow, self.overflow)];
        for (part, rate) in others.into_iter().chain(rules) {
            rate.apply(gate).map_err(|error| RulesError::Rate { part, error })?;
        }
        Ok(())
    }
}

/// Returns a label as exporters show it.
fn text(value: LabelValue<'_>) -> Cow<'_, str> {
    match value {
        LabelValue::Text(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

impl RulesBuilder {
    /// Sets the rate of the overflow gate, which all keys without a gate of their own
    /// [share](crate::Limits#when-there-are-too-many-keys). By default it is the default rate.
    ///
    /// ```
    /// use windrow::labels;
    /// use windrow_tower::{Rate, Rules};
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// let rules = Rules::builder(Rate::new(10)).overflow(Rate::new(100)).build()?;
    /// assert_eq!(rules.rate::<Client>(None).limit, 100);
    /// # Ok::<(), windrow_tower::RulesError>(())
    /// ```
    pub fn overflow(self, rate: Rate) -> RulesBuilder {
        RulesBuilder { overflow: Some(rate), ..self }
    }

    /// Adds a rule for the keys whose labels match these patterns, by the labels' names. Rules that
    /// were added earlier come first.
    pub fn rule<'t>(
        mut self,
        labels: impl IntoIterator<Item = (&'t str, &'t str)>,
        rate: Rate,
    ) -> RulesBuilder {
        let owned = |(label, pattern): (&str, &str)| (label.to_owned(), pattern.to_owned());
        self.rules.push((labels.into_iter().map(owned).collect(), rate));
        self
    }

    /// Adds a weight for the requests that match a pattern. A request of weight 0 is not limited.
    pub fn weight(mut self, request: &str, weight: u64) -> RulesBuilder {
        self.weights.push((request.to_owned(), weight));
        self
    }

    /// Validates the rules and returns them.
    ///
    /// Label names are not checked here, but when a [`Limits`](crate::Limits::replace) takes the
    /// rules.
    ///
    /// # Errors
    ///
    /// [`RulesError`] if no gate can have a rate, if a rule or a weight can never be reached, or if
    /// a bound of `Rules` is exceeded.
    ///
    /// ```
    /// use windrow_tower::{Rate, Rules, RulesError};
    ///
    /// let rules = Rules::builder(Rate::new(10))
    ///     .rule([("client", "free-*")], Rate::new(5))
    ///     .rule([("client", "free-trial")], Rate::new(1));
    /// assert!(matches!(rules.build(), Err(RulesError::Unreachable { .. })));
    /// ```
    pub fn build(self) -> Result<Rules, RulesError> {
        let overflow = self.overflow.unwrap_or(self.default);
        check_rate(RulesPart::Default, self.default)?;
        check_rate(RulesPart::Overflow, overflow)?;
        at_most(Rules::MAX_RULES, self.rules.len(), || "rules".into())?;
        at_most(Rules::MAX_RULES, self.weights.len(), || "weights".into())?;
        let mut by_key = Vec::with_capacity(self.rules.len());
        for (index, (labels, rate)) in self.rules.into_iter().enumerate() {
            let part = RulesPart::Rule(index);
            check_rate(part, rate)?;
            let rule = Rule { labels: patterns(part, labels)?, rate };
            if let Some(by) = by_key.iter().position(|earlier: &Rule| earlier.covers(&rule)) {
                return Err(RulesError::Unreachable { part, by: RulesPart::Rule(by) });
            }
            by_key.push(rule);
        }
        let mut weights = Vec::with_capacity(self.weights.len());
        for (index, (request, weight)) in self.weights.into_iter().enumerate() {
            let part = RulesPart::Weight(index);
            let request = pattern(part, &request)?;
            let covers = |(earlier, _): &(Pattern, u64)| earlier.covers(&request);
            if let Some(by) = weights.iter().position(covers) {
                return Err(RulesError::Unreachable { part, by: RulesPart::Weight(by) });
            }
            weights.push((request, weight));
        }
        Ok(Rules { default: self.default, overflow, by_key, weights })
    }
}

impl Rule {
    /// Returns whether it matches each key that `other` matches.
    fn covers(&self, other: &Rule) -> bool {
        self.labels.iter().all(|(label, pattern)| {
            let theirs = other.labels.iter().find(|(theirs, _)| theirs == label);
            theirs.map_or(pattern.matches_all(), |(_, theirs)| pattern.covers(theirs))
        })
    }
}

fn check_rate(part: RulesPart, rate: Rate) -> Result<(), RulesError> {
    let (buckets, max) = (rate.buckets, Rate::MAX_BUCKETS);
    if buckets > max {
        return Err(RulesError::TooManyBuckets { part, buckets, max });
    }
    rate.check().map_err(|error| RulesError::Rate { part, error })
}

fn patterns(
    part: RulesPart,
    labels: Vec<(String, String)>,
) -> Result<Vec<(Box<str>, Pattern)>, RulesError> {
    at_most(Rules::MAX_LABELS, labels.len(), || format!("{part}.match"))?;
    if labels.is_empty() {
        return Err(RulesError::NoLabel { part });
    }
    let mut read: Vec<(Box<str>, Pattern)> = Vec::with_capacity(labels.len());
    for (label, text) in labels {
        check_text(part, &label)?;
        if read.iter().any(|(earlier, _)| **earlier == *label) {
            return Err(RulesError::LabelTwice { part, label });
        }
        read.push((label.into(), pattern(part, &text)?));
    }
    Ok(read)
}

fn pattern(part: RulesPart, text: &str) -> Result<Pattern, RulesError> {
    check_text(part, text)?;
    Ok(Pattern::new(text))
}

fn check_text(part: RulesPart, text: &str) -> Result<(), RulesError> {
    let (bytes, max) = (text.len(), Rules::MAX_TEXT);
    if bytes > max { Err(RulesError::TextTooLong { part, bytes, max }) } else { Ok(()) }
}

fn at_most(max: usize, count: usize, list: impl FnOnce() -> String) -> Result<(), RulesError> {
    if count > max { Err(RulesError::TooMany { list: list(), max }) } else { Ok(()) }
}
