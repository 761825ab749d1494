//! The words of comments, documentation and pages: summaries, banned phrases, the glossary, and
//! the width of comments.
//!
//! The rules read words, not grammar. Names in `code` are free, unless the glossary bans them.

mod finding;
mod glossary;
mod prose;
mod rules;
mod summaries;
mod tables;

use crate::sources;
use crate::steps::{Failed, Steps};
pub(crate) use glossary::without_bans;
use prose::Source;

/// The page that has one word for each thing.
pub(crate) const GLOSSARY: &str = "docs/glossary.md";

/// The kinds of files that have comments, or are pages.
const KINDS: [&str; 2] = [".md", ".rs"];

/// Pages that are pictures as text.
const PICTURES: &str = "pictures.md";

/// Prints each finding in the paths that begin with `begin`, and refuses any.
pub(crate) fn run(steps: &mut Steps, begin: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("words", "comments and pages of the workspace", || {
        let banned = glossary::bans(&sources::read(&root.join(GLOSSARY))?);
        let mut count = 0;
        let is_asked = |path: &String| is_text(path) && path.starts_with(begin);
        for path in sources::all(&root)?.into_iter().filter(is_asked) {
            let text = sources::read(&root.join(&path))?;
            let text = if path == GLOSSARY { without_bans(&text) } else { text };
            for (line, rule, what) in rules::findings(&Source::new(&path, &text), &banned) {
                println!("    {path}:{line}: {rule}: {what}");
                count += 1;
            }
        }
        if count == 0 { Ok(()) } else { Err(format!("{count} findings")) }
    })
}

/// Returns whether a file is one of the project's own texts.
fn is_text(path: &str) -> bool {
    KINDS.iter().any(|end| path.ends_with(end)) && !path.ends_with(PICTURES)
}

#[cfg(test)]
mod tests;
