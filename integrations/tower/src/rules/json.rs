//! Rules as JSON.

use crate::rules::error::RulesError;
use crate::rules::read::RulesRead;
use crate::rules::set::Rules;

impl Rules {
    /// Reads rules from [JSON](Self#as-text). Needs the feature `json`.
    ///
    /// It takes memory in proportion to the text, of which there is [1 MiB](Self::MAX_BYTES) at
    /// most.
    ///
    /// # Errors
    ///
    /// [`RulesError`], with the line where the text is no JSON of rules, and with the rule
    /// otherwise.
    ///
    /// ```
    /// use windrow_tower::Rules;
    ///
    /// let rules = Rules::from_json(br#"{
    ///     "default": { "limit": 10 },
    ///     "rules": [ { "match": { "client": "free-*" }, "limt": 5 } ]
    /// }"#);
    /// assert_eq!(
    ///     rules.unwrap_err().to_string(),
    ///     "line 3, column 61: unknown field `limt`, expected one of `match`, `limit`, \
    ///      `interval_ms`, `buckets`, `strict`, `max_wait_ms`"
    /// );
    /// ```
    pub fn from_json(text: &[u8]) -> Result<Rules, RulesError> {
        Rules::check_length(text.len() as u64)?;
        let text = str::from_utf8(text)
            .map_err(|error| RulesError::NotUtf8 { valid_up_to: error.valid_up_to() })?;
        let read: RulesRead = serde_json::from_str(text).map_err(|error| problem(&error))?;
        read.builder().build()
    }
}

/// The most characters of a problem that are told: it may name a field of any length.
const MAX_SHOWN: usize = 300;

fn problem(error: &serde_json::Error) -> RulesError {
    let (line, column) = (error.line(), error.column());
    let all = error.to_string();
    let problem = all.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&all);
    // Behind what terminals and logs take for a command, there is no telling what they show.
    let shown = |char: char| if char.is_control() { char::REPLACEMENT_CHARACTER } else { char };
    let problem = problem.chars().take(MAX_SHOWN).map(shown).collect();
    RulesError::Json { line, column, problem }
}
