//! A set of rules: which key has which rate, and which request has which weight.

use std::borrow::Cow;

use windrow::{
    Clock, Gate,
    labels::{LabelValue, Labels},
};

use crate::rules::error::{RulesError, RulesPart};
use crate::rules::pattern::Pattern;
use crate::rules::rate::Rate;

/// Rates by key, and weights of requests: what a [`Limits`](crate::Limits) goes by once it is
/// [told](crate::Limits::replace).
///
/// A rule names labels of the key, and says of each its text, or how it begins: `free-*`. (A `*`
/// that is not at the end is a star.) A label that is no text is matched as exporters show it. A
/// rule matches a key if all labels that it names do. **The first rule that matches gives the
/// rate**; a key that matches none has the default. A rule behind one that takes all its keys is
/// refused.
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
/// # As text
///
/// With the feature `json`, `Rules::from_json` reads this; a rate's field that a rule leaves out
/// is that of the default, and a field of the default that of [`Rate::new`]:
///
/// ```text
/// {
///   "default": { "limit": 10, "interval_ms": 1000, "buckets": 10, "strict": true, "max_wait_ms": 0 },
///   "overflow": { "limit": 100 },
///   "rules": [
///     { "match": { "client": "batch" }, "limit": 1000, "max_wait_ms": 500 },
///     { "match": { "client": "free-*" }, "limit": 5 }
///   ],
///   "weights": [ { "request": "/report*", "weight": 20 } ]
/// }
/// ```
///
/// All but `default` and its `limit` may be left out. A field that is not one of these is refused.
/// A text that is cut off anywhere is no JSON: a file that is read while it is written changes
/// nothing. With the feature `serde`, `Rules` is `Deserialize`: of the same shape, from any format
/// that names its fields, and as a part of your own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    default: Rate,
    overflow: Rate,
    ordered: Vec<Rule>,
    weights: Vec<(Pattern, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// By label: of each one, and by their names.
    labels: Vec<(Box<str>, Pattern)>,
    rate: Rate,
}

/// Makes [`Rules`]: from [`Rules::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RulesBuilder {
    default: Rate,
    overflow: Option<Rate>,
    rules: Vec<(Vec<(String, String)>, Rate)>,
    weights: Vec<(String, u64)>,
}

impl Rules {
    /// The most bytes that a text of rules may have: 1 MiB.
    pub const MAX_BYTES: usize = 1 << 20;

    /// The most rules, and the most weights: 1000 each.
    pub const MAX_RULES: usize = 1_000;

    /// The most labels that a rule may name: 16.
    pub const MAX_LABELS: usize = 16;

    /// The most bytes of a pattern: 1024, which is the most that a family keeps of a key.
    pub const MAX_TEXT: usize = 1_024;

    /// Returns a builder for rules; a key that matches none has this rate.
    pub fn builder(default: Rate) -> RulesBuilder {
        RulesBuilder { default, overflow: None, rules: Vec::new(), weights: Vec::new() }
    }

    /// Returns the rate of a key; or, of `None`, that of all keys together that find no room.
    ///
    /// It compares the key with one rule after the other.
    pub fn rate<L: Labels<Names = ()>>(&self, key: Option<L::Borrowed<'_>>) -> Rate {
        self.rate_of::<L>(L::names(&()), key)
    }

    /// Returns the rate of a key whose labels have these names.
    pub(crate) fn rate_of<L: Labels>(&self, names: &[&str], key: Option<L::Borrowed<'_>>) -> Rate {
        let Some(key) = key else { return self.overflow };
        let texts: Vec<_> = (0..names.len()).map(|index| text(L::value(key, index))).collect();
        let matches = |(label, pattern): &(Box<str>, Pattern)| {
            let index = names.iter().position(|name| **name == **label);
            index.is_some_and(|index| pattern.matches(&texts[index]))
        };
        let rule = self.ordered.iter().find(|rule| rule.labels.iter().all(matches));
        rule.map_or(self.default, |rule| rule.rate)
    }

    /// Returns what a request takes of its key's limit; 1, if no weight matches.
    ///
    /// The text is whatever you weigh requests by: a path, a matched route. It is compared with one
    /// pattern after the other, the first that matches is taken.
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
        for (index, rule) in self.ordered.iter().enumerate() {
            if let Some((label, _)) = rule.labels.iter().find(|(it, _)| !known.contains(&&**it)) {
                let (part, label) = (RulesPart::Rule(index), label.to_string());
                let known = known.iter().map(|&name| name.to_owned()).collect();
                return Err(RulesError::UnknownLabel { part, label, known });
            }
        }
        Ok(())
    }

    /// Refuses rates that a gate like this one does not take: on its clock. The gate is changed by
    /// it.
    pub(crate) fn check_rates<C: Clock>(&self, gate: &Gate<C>) -> Result<(), RulesError> {
        let rules = self.ordered.iter().enumerate();
        let rules = rules.map(|(index, rule)| (RulesPart::Rule(index), rule.rate));
        let others = [(RulesPart::Default, self.default), (RulesPart::Overflow, self.overflow)];
        for (part, rate) in others.into_iter().chain(rules) {
            rate.apply(gate).map_err(|error| RulesError::Rate { part, error })?;
        }
        Ok(())
    }
}

/// A label as exporters show it.
fn text(value: LabelValue<'_>) -> Cow<'_, str> {
    match value {
        LabelValue::Text(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

impl RulesBuilder {
    /// Sets the rate of all keys together that find no [room](crate::Limits#when-there-are-too-many-keys);
    /// otherwise it is the default.
    pub fn overflow(self, rate: Rate) -> RulesBuilder {
        RulesBuilder { overflow: Some(rate), ..self }
    }

    /// Adds a rule: for keys of which each label that it names has this text, or, where a `*` is
    /// behind it, begins like this. No earlier rule takes these keys.
    pub fn rule<'t>(
        mut self,
        labels: impl IntoIterator<Item = (&'t str, &'t str)>,
        rate: Rate,
    ) -> RulesBuilder {
        let owned = |(label, pattern): (&str, &str)| (label.to_owned(), pattern.to_owned());
        self.rules.push((labels.into_iter().map(owned).collect(), rate));
        self
    }

    /// Adds a weight: of requests whose text is this, or begins like this. Zero is not limited.
    pub fn weight(mut self, request: &str, weight: u64) -> RulesBuilder {
        self.weights.push((request.to_owned(), weight));
        self
    }

    /// Makes the rules.
    ///
    /// # Errors
    ///
    /// [`RulesError`] if no gate has such a rate, a rule or a weight is never reached, or anything
    /// is longer than it may be. Whether keys have the labels is seen where rules are put in force.
    pub fn build(self) -> Result<Rules, RulesError> {
        let overflow = self.overflow.unwrap_or(self.default);
        check_rate(RulesPart::Default, self.default)?;
        check_rate(RulesPart::Overflow, overflow)?;
        at_most(Rules::MAX_RULES, self.rules.len(), || "rules".into())?;
        at_most(Rules::MAX_RULES, self.weights.len(), || "weights".into())?;
        let mut rules = Vec::with_capacity(self.rules.len());
        for (index, (labels, rate)) in self.rules.into_iter().enumerate() {
            let part = RulesPart::Rule(index);
            check_rate(part, rate)?;
            let rule = Rule { labels: patterns(part, labels)?, rate };
            if let Some(by) = rules.iter().position(|earlier: &Rule| earlier.covers(&rule)) {
                return Err(RulesError::Unreachable { part, by: RulesPart::Rule(by) });
            }
            rules.push(rule);
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
        Ok(Rules { default: self.default, overflow, ordered: rules, weights })
    }
}

impl Rule {
    /// Whether it matches each key that `other` matches.
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
