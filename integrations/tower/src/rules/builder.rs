//! Validates rules.

use crate::rules::error::{RulesError, RulesPart};
use crate::rules::pattern::Pattern;
use crate::rules::rate::Rate;
use crate::rules::set::{LimitRules, Rule, Rules};
use crate::rules::setting::Setting;

/// A builder of [`Rules`], from [`Rules::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RulesBuilder<T> {
    pub(super) default: T,
    pub(super) overflow: Option<T>,
    pub(super) rules: Vec<(Vec<(String, String)>, T)>,
    pub(super) weights: Vec<(String, u64)>,
}

impl<T: Setting> Rules<T> {
    /// Returns a builder of rules with a default setting: that of each key that no rule matches.
    pub fn builder(default: T) -> RulesBuilder<T> {
        RulesBuilder { default, overflow: None, rules: Vec::new(), weights: Vec::new() }
    }
}

impl<T: Setting> RulesBuilder<T> {
    /// Sets the setting of the overflow gate, room or series, which all keys without one of their
    /// own [share](crate::Limits#when-there-are-too-many-keys). By default it is the default
    /// setting.
    ///
    /// ```
    /// use windrow::labels;
    /// use windrow_tower::{Rate, Rules};
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// let rules = Rules::builder(Rate::new(10)).overflow(Rate::new(100)).build()?;
    /// assert_eq!(rules.setting::<Client>(None).limit, 100);
    /// # Ok::<(), windrow_tower::RulesError>(())
    /// ```
    pub fn overflow(self, setting: T) -> RulesBuilder<T> {
        RulesBuilder { overflow: Some(setting), ..self }
    }

    /// Adds a rule for the keys whose labels match these patterns, by the labels' names. Rules that
    /// were added earlier come first.
    pub fn rule<'t>(
        mut self,
        labels: impl IntoIterator<Item = (&'t str, &'t str)>,
        setting: T,
    ) -> RulesBuilder<T> {
        let owned = |(label, pattern): (&str, &str)| (label.to_owned(), pattern.to_owned());
        self.rules.push((labels.into_iter().map(owned).collect(), setting));
        self
    }

    /// Validates the rules and returns them.
    ///
    /// Labels and clocks are not checked here, but when the rules are put into force: see
    /// [`Limits::replace`](crate::Limits::replace).
    ///
    /// # Errors
    ///
    /// [`RulesError`] if no gate can have a rate, or no window a geometry; if a rule or a weight
    /// can never be reached; or if a bound of `Rules` is exceeded.
    ///
    /// ```
    /// use windrow_tower::{Rate, Rules, RulesError};
    ///
    /// let rules = Rules::builder(Rate::new(10))
    ///     .rule([("client", "free-*")], Rate::new(5))
    ///     .rule([("client", "free-trial")], Rate::new(1));
    /// assert!(matches!(rules.build(), Err(RulesError::Unreachable { .. })));
    /// ```
    pub fn build(self) -> Result<Rules<T>, RulesError> {
        let overflow = self.overflow.unwrap_or(self.default);
        self.default.check(RulesPart::Default)?;
        overflow.check(RulesPart::Overflow)?;
        at_most(LimitRules::MAX_RULES, self.rules.len(), || "rules".into())?;
        at_most(LimitRules::MAX_RULES, self.weights.len(), || "weights".into())?;
        let mut by_key = Vec::with_capacity(self.rules.len());
        for (index, (labels, setting)) in self.rules.into_iter().enumerate() {
            let part = RulesPart::Rule(index);
            setting.check(part)?;
            let rule = Rule { labels: patterns(part, labels)?, setting };
            if let Some(by) = by_key.iter().position(|earlier: &Rule<T>| earlier.covers(&rule)) {
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

impl RulesBuilder<Rate> {
    /// Adds a weight for the requests that match a pattern. A request of weight 0 is not limited.
    pub fn weight(mut self, request: &str, weight: u64) -> RulesBuilder<Rate> {
        self.weights.push((request.to_owned(), weight));
        self
    }
}

impl<T> Rule<T> {
    /// Returns whether it matches each key that `other` matches.
    fn covers(&self, other: &Rule<T>) -> bool {
        self.labels.iter().all(|(label, pattern)| {
            let theirs = other.labels.iter().find(|(theirs, _)| theirs == label);
            theirs.map_or(pattern.matches_all(), |(_, theirs)| pattern.covers(theirs))
        })
    }
}

fn patterns(
    part: RulesPart,
    labels: Vec<(String, String)>,
) -> Result<Vec<(Box<str>, Pattern)>, RulesError> {
    at_most(LimitRules::MAX_LABELS, labels.len(), || format!("{part}.match"))?;
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
    let (bytes, max) = (text.len(), LimitRules::MAX_TEXT);
    if bytes > max { Err(RulesError::TextTooLong { part, bytes, max }) } else { Ok(()) }
}

fn at_most(max: usize, count: usize, list: impl FnOnce() -> String) -> Result<(), RulesError> {
    if count > max { Err(RulesError::TooMany { list: list(), max }) } else { Ok(()) }
}
