//! The words of comments, documentation and pages: summaries, banned phrases, the glossary, and
//! the width of comments.
//!
//! The rules read words, not grammar. Names in `code` are free, unless the glossary bans them.

mod finding;
mod glossary;
mod others;
mod prose;
mod rules;
mod summaries;
mod tables;

use std::collections::BTreeMap;

use crate::sources;
use crate::steps::{Failed, Steps};
use finding::{Finding, Rule};
use glossary::Glossary;
pub(crate) use glossary::without_bans;
use prose::Source;

/// The page that has one word for each thing.
pub(crate) const GLOSSARY: &str = "docs/glossary.md";

/// The kinds of files that have comments, or are pages; and files without a kind.
const KINDS: [&str; 9] =
    [".html", ".java", ".md", ".pml", ".rs", ".toml", ".yml", ".ci/run", "docs/promela/run"];

/// Pages that are pictures as text.
const PICTURES: &str = "pictures.md";

/// Prints each finding in the paths that begin with `begin`, and refuses any.
pub(crate) fn run(steps: &mut Steps, begin: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("words", "comments and pages of the workspace", || {
        let glossary = Glossary::parse(&sources::read(&root.join(GLOSSARY))?);
        let mut findings = Vec::new();
        for path in sources::all(&root)?.into_iter().filter(|path| is_text(path)) {
            let text = sources::read(&root.join(&path))?;
            let text = if path == GLOSSARY { without_bans(&text) } else { text };
            findings.extend(rules::findings(&Source::new(&path, &text), &glossary));
        }
        findings.retain(|finding| finding.path.starts_with(begin));
        report(&findings)
    })
}

/// Returns whether a file is one of the project's own texts.
fn is_text(path: &str) -> bool {
    KINDS.iter().any(|end| path.ends_with(end)) && !path.ends_with(PICTURES)
}

fn report(findings: &[Finding]) -> Result<(), String> {
    let mut counts: BTreeMap<Rule, usize> = Rule::ALL.iter().map(|rule| (*rule, 0)).collect();
    for finding in findings {
        println!("    {}:{}: {}: {}", finding.path, finding.line, finding.rule, finding.what);
        *counts.entry(finding.rule).or_default() += 1;
    }
    println!("\n    | rule | findings |\n    |---|---|");
    for (rule, count) in counts {
        println!("    | {rule} | {count} |");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("{count} findings")),
    }
}

#[cfg(test)]
mod tests;
