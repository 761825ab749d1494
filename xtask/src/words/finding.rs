//! The rules in words, and what breaks them.

/// The rule that a finding breaks, in words.
pub(super) type Rule = &'static str;

pub(super) const BARE: Rule = "summary without a subject";
pub(super) const VERB: Rule = "public function without a verb in the third person";
pub(super) const PHRASE: Rule = "banned phrase";
pub(super) const GLOSSARY: Rule = "not the glossary's word";
pub(super) const WIDTH: Rule = "line longer than 100 columns";
pub(super) const TABLE: Rule = "a table that its head does not describe";

/// Something to correct: its line, the rule, the words at fault, and what to do if that is not
/// plain.
pub(super) type Finding = (usize, Rule, String);
