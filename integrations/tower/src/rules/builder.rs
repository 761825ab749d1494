//! Validates rules.

use crate::rules::error::{Problem, RulesError, RulesPart};
use crate::rules::set::{LimitRules, Pattern, Rule, Rules};
use crate::rules::setting::{Rate, Setting};

/// A builder of [`Rules`], from [`Rules::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RulesBuilder<T> {
    pub(super) default: T,
    pub(super) overflow: Option<T>,
    pub(super) rules: Vec<(T, Vec<(String, String)>)>,
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
        self.rules.push((setting, labels.into_iter().map(owned).collect()));
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
    /// use windrow_tower::{Rate, Rules};
    ///
    /// let rules = Rules::builder(Rate::new(10))
    ///     .rule([("client", "free-*")], Rate::new(5))
    ///     .rule([("client", "free-trial")], Rate::new(1));
    /// assert_eq!(
    ///     rules.build().unwrap_err().to_string(),
    ///     "rules[1]: rules[0] comes first, and matches everything that it matches"
    /// );
    /// ```
    pub fn build(self) -> Result<Rules<T>, RulesError> {
        let overflow = self.overflow.unwrap_or(self.default);
        self.default.check().map_err(|problem| RulesPart::Default.error(problem))?;
        overflow.check().map_err(|problem| RulesPart::Overflow.error(problem))?;
        at_most(LimitRules::MAX_RULES, self.rules.len(), RulesPart::Rules)?;
        at_most(LimitRules::MAX_RULES, self.weights.len(), RulesPart::Weights)?;
        let mut by_key = Vec::with_capacity(self.rules.len());
        for (index, (setting, labels)) in self.rules.into_iter().enumerate() {
            let part = RulesPart::Rule(index);
            at_most(LimitRules::MAX_LABELS, labels.len(), RulesPart::Match(index))?;
            let labels = setting.check().and_then(|()| patterns(labels));
            let labels = labels.map_err(|problem| part.error(problem))?;
            let rule = Rule { labels, setting };
            if let Some(by) = by_key.iter().position(|earlier: &Rule<T>| earlier.covers(&rule)) {
                return Err(unreachable(part, RulesPart::Rule(by)));
            }
            by_key.push(rule);
        }
        let mut weights = Vec::with_capacity(self.weights.len());
        for (index, (request, weight)) in self.weights.into_iter().enumerate() {
            let part = RulesPart::Weight(index);
            let request = pattern(&request).map_err(|problem| part.error(problem))?;
            let covers = |(earlier, _): &(Pattern, u64)| earlier.covers(&request);
            if let Some(by) = weights.iter().position(covers) {
                return Err(unreachable(part, RulesPart::Weight(by)));
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

fn unreachable(part: RulesPart, by: RulesPart) -> RulesError {
    part.error(format!("{by} comes first, and matches everything that it matches"))
}

fn patterns(labels: Vec<(String, String)>) -> Result<Vec<(Box<str>, Pattern)>, Problem> {
    if labels.is_empty() {
        return Err("it names no label, and every key matches it; use `default` for that".into());
    }
    let mut read: Vec<(Box<str>, Pattern)> = Vec::with_capacity(labels.len());
    for (label, text) in labels {
        check_text(&label)?;
        if read.iter().any(|(earlier, _)| **earlier == *label) {
            return Err(format!("the label {label:?} is named twice").into());
        }
        read.push((label.into(), pattern(&text)?));
    }
    Ok(read)
}

fn pattern(text: &str) -> Result<Pattern, Problem> {
    check_text(text)?;
    Ok(Pattern::new(text))
}

fn check_text(text: &str) -> Result<(), Problem> {
    let (bytes, max) = (text.len(), LimitRules::MAX_TEXT);
    if bytes > max {
        return Err(format!("a text has {bytes} bytes; it must have {max} or less").into());
    }
    Ok(())
}

fn at_most(max: usize, count: usize, list: RulesPart) -> Result<(), RulesError> {
    let problem = || list.error(format!("there are too many; there must be {max} or fewer"));
    if count > max { Err(problem()) } else { Ok(()) }
}
