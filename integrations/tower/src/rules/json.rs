//! Rules as JSON.

use std::marker::PhantomData;

use serde_core::Deserializer;

use crate::rules::error::RulesError;
use crate::rules::read::Set;
use crate::rules::set::{Rules, check_length};
use crate::rules::setting::Setting;

impl<T: Setting> Rules<T> {
    /// Reads rules from a [JSON text](Self#json). Needs the feature `json`.
    ///
    /// It takes memory in proportion to the text, which has [1 MiB](Self::MAX_BYTES) at most.
    ///
    /// # Errors
    ///
    /// [`RulesError`]: with line and column if the text is not JSON of this shape, otherwise with
    /// the position of the rule.
    ///
    /// ```
    /// use windrow_tower::LimitRules;
    ///
    /// let rules = LimitRules::from_json(br#"{
    ///     "default": { "limit": 10 },
    ///     "rules": [ { "match": { "client": "free-*" }, "limt": 5 } ]
    /// }"#);
    /// let error = rules.unwrap_err().to_string();
    /// assert!(error.starts_with("line 3, column 56: unknown field `limt`, expected one of"));
    /// ```
    pub fn from_json(text: &[u8]) -> Result<Rules<T>, RulesError> {
        check_length(text.len() as u64)?;
        let mut json = serde_json::Deserializer::from_slice(text);
        let read = json.deserialize_map(Set(PhantomData)).map_err(|error| problem(&error))?;
        json.end().map_err(|error| problem(&error))?;
        read.build()
    }
}

/// The maximum length of a problem in characters: it may name a field of any length.
const MAX_SHOWN: usize = 300;

fn problem(error: &serde_json::Error) -> RulesError {
    let (line, column) = (error.line(), error.column());
    let all = error.to_string();
    let problem = all.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&all);
    // Terminals obey control characters.
    let shown = |char: char| if char.is_control() { char::REPLACEMENT_CHARACTER } else { char };
    let problem = problem.chars().take(MAX_SHOWN).map(shown).collect();
    // Column 0 is before the first byte of a line, where the text ends.
    RulesError::Json { line, column: column.max(1), problem }
}
