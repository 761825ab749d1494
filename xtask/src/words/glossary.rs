//! The glossary's third column: words that are banned everywhere, or in some files.

use super::prose::{self, Word};

/// The bans of the glossary.
pub(super) struct Glossary {
    pub(super) banned: Vec<Banned>,
}

/// A phrase, or a name, that the glossary replaces by another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Banned {
    /// The word to use instead.
    pub(super) instead: String,
    /// The words of a phrase, or one name.
    pub(super) words: Vec<String>,
    /// True for a name in code, which stands in `code`; false for a phrase.
    pub(super) is_name: bool,
    /// The beginnings of paths where it is banned; none: everywhere.
    areas: Vec<String>,
}

impl Glossary {
    /// Reads the tables: `| word | means | phrase, phrase in `path`, `name` in `path` |`.
    pub(super) fn parse(page: &str) -> Glossary {
        let is_head = |line: &str| line.starts_with("| word |") || line.starts_with("|---");
        let rows = page.lines().filter(|line| line.starts_with('|') && !is_head(line));
        let mut banned = Vec::new();
        for row in rows {
            let columns: Vec<&str> = row.split('|').map(str::trim).collect();
            if let [_, word, _, not, _] = columns[..] {
                let entries = not.split(',').map(str::trim).filter(|entry| !entry.is_empty());
                banned.extend(entries.map(|entry| Banned::parse(word, entry)));
            }
        }
        Glossary { banned }
    }
}

impl Banned {
    fn parse(word: &str, entry: &str) -> Banned {
        let (phrase, areas) = entry.split_once(" in `").unwrap_or((entry, ""));
        let name = phrase.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
        let words = match name {
            Some(name) => vec![name.to_owned()],
            None => prose::words(phrase).into_iter().map(Word::into_text).collect(),
        };
        let areas = areas.split_whitespace().map(|area| area.trim_matches('`').to_owned());
        Banned {
            instead: word.replace('`', ""),
            words,
            is_name: name.is_some(),
            areas: areas.collect(),
        }
    }

    /// Returns whether the ban holds in a file.
    pub(super) fn holds_in(&self, path: &str) -> bool {
        self.areas.is_empty() || self.areas.iter().any(|area| path.starts_with(area.as_str()))
    }
}

/// Returns the page without its bans, which it may name.
pub(crate) fn without_bans(page: &str) -> String {
    let line = |line: &str| {
        let end = line.trim_end_matches('|').rfind('|').filter(|_| line.starts_with('|'));
        line[..end.map_or(line.len(), |end| end + 1)].to_owned() + "\n"
    };
    page.lines().map(line).collect()
}
