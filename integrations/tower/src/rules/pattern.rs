//! Patterns of texts.

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
