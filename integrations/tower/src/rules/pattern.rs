//! Patterns of texts.

/// An exact text, or a prefix, which is written with a `*` after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Exact(Box<str>),
    Prefix(Box<str>),
}

impl Pattern {
    /// Reads a pattern. A `*` anywhere but at the end stands for itself.
    pub(super) fn new(text: &str) -> Pattern {
        match text.strip_suffix('*') {
            Some(prefix) => Pattern::Prefix(prefix.into()),
            None => Pattern::Exact(text.into()),
        }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Exact(exact) => **exact == *text,
            Pattern::Prefix(prefix) => text.starts_with(&**prefix),
        }
    }

    /// Returns whether it matches each text that `other` matches.
    pub(super) fn covers(&self, other: &Pattern) -> bool {
        match (self, other) {
            (Pattern::Exact(_), _) => self == other,
            (Pattern::Prefix(_), Pattern::Exact(text) | Pattern::Prefix(text)) => {
                self.matches(text)
            }
        }
    }

    /// Returns whether it matches every text.
    pub(super) fn matches_all(&self) -> bool {
        matches!(self, Pattern::Prefix(prefix) if prefix.is_empty())
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
