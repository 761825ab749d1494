//! The glossary's third column: words that are banned everywhere, or in some files.

use super::prose;

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

/// Reads the tables: `| word | means | phrase, phrase in `path`, `name` in `path` |`.
pub(super) fn bans(page: &str) -> Vec<Banned> {
    let is_head = |line: &str| line.starts_with("| word |") || line.starts_with("|---");
    let mut banned = Vec::new();
    for row in page.lines().filter(|line| line.starts_with('|') && !is_head(line)) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, word, _, not, _] = columns[..] {
            let entries = not.split(',').map(str::trim).filter(|entry| !entry.is_empty());
            banned.extend(entries.map(|entry| Banned::parse(word, entry)));
        }
    }
    banned
}

impl Banned {
    fn parse(word: &str, entry: &str) -> Banned {
        let (phrase, areas) = entry.split_once(" in `").unwrap_or((entry, ""));
        let name = phrase.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
        let words = match name {
            Some(name) => vec![name.to_owned()],
            None => prose::words(phrase),
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
