//! Something to correct, and the rule that it breaks.

use std::fmt;

/// Something to correct.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) rule: Rule,
    /// The words at fault, and what to do if that is not plain.
    pub(super) what: String,
}

/// The rule that a finding breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    Bare,
    Verb,
    Phrase,
    Glossary,
    Width,
    Table,
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Rule::Bare => "summary without a subject",
            Rule::Verb => "public function without a verb in the third person",
            Rule::Phrase => "banned phrase",
            Rule::Glossary => "not the glossary's word",
            Rule::Width => "line longer than 100 columns",
            Rule::Table => "a table that its head does not describe",
        })
    }
}
