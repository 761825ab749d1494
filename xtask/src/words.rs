//! The words of comments, documentation and pages: summaries, banned phrases, the glossary, and
//! the width of comments.
//!
//! The rules read words, not grammar. Names in `code` are free, unless the glossary bans them.

mod exceptions;
mod glossary;
mod others;
mod prose;
mod rules;
mod summaries;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::sources;
use crate::steps::{Failed, Steps};
use exceptions::EXCEPTIONS;
use glossary::Glossary;
pub(crate) use glossary::without_bans;
use prose::Source;
use rules::Rule;

/// The page that has one word for each thing.
pub(crate) const GLOSSARY: &str = "docs/glossary.md";

/// Not the project's own text: build outputs.
const LEFT_OUT: [&str; 1] = ["fuzz/target/"];

/// The kinds of files that have comments, or are pages.
const KINDS: [&str; 7] = ["html", "java", "md", "pml", "rs", "toml", "yml"];

/// Files with comments and without a kind.
const SCRIPTS: [&str; 2] = [".ci/run", "docs/promela/run"];

/// Folders that are read although they are hidden.
const HIDDEN: [&str; 3] = [".cargo", ".ci", ".github"];

/// Pages that are pictures as text.
const PICTURES: &str = "pictures.md";

/// Something to correct.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    rule: Rule,
    /// The words at fault, and what to do if that is not plain.
    what: String,
}

/// Prints each finding in the paths that begin with `begin`, and refuses any.
pub(crate) fn run(steps: &mut Steps, begin: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("words", "comments and pages of the workspace", || {
        let glossary = Glossary::parse(&read(&root, GLOSSARY)?);
        let (mut findings, mut used) = (Vec::new(), BTreeSet::new());
        for path in paths(&root)? {
            let text = read(&root, &path)?;
            let text = if path == GLOSSARY { without_bans(&text) } else { text };
            let lines: Vec<&str> = text.lines().collect();
            let found = rules::findings(&Source::new(&path, &text), &glossary);
            findings.extend(found.into_iter().filter(|finding| {
                let line = lines.get(finding.line - 1).copied().unwrap_or_default();
                let excuse = exceptions::excuse(&path, line);
                used.extend(excuse);
                excuse.is_none()
            }));
        }
        findings.extend(unused(&used));
        findings.retain(|finding| finding.path.starts_with(begin));
        report(&findings)
    })
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}

/// Returns each text of the workspace.
fn paths(root: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(root).map_err(|error| format!("cannot read the root: {error}"))?;
    let mut paths: Vec<String> = SCRIPTS.iter().map(|script| (*script).to_owned()).collect();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_hidden = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
        if is_hidden || name == "target" {
            continue;
        }
        if !entry.path().is_dir() {
            paths.push(name);
            continue;
        }
        for kind in KINDS {
            let files = sources::with_extension(&entry.path(), kind)?;
            paths.extend(files.into_iter().map(|file| format!("{name}/{file}")));
        }
    }
    paths.retain(|path| {
        let is_text = path.rsplit('.').next().is_some_and(|kind| KINDS.contains(&kind));
        let is_left_out = LEFT_OUT.iter().any(|begin| path.starts_with(begin));
        let is_script = SCRIPTS.contains(&path.as_str());
        (is_text || is_script) && !is_left_out && !path.ends_with(PICTURES)
    });
    paths.sort();
    Ok(paths)
}

/// Exceptions that nothing needs any more.
fn unused(used: &BTreeSet<usize>) -> Vec<Finding> {
    let unused = EXCEPTIONS.iter().enumerate().filter(|(at, _)| !used.contains(at));
    let finding = |(_, (path, text, _)): (usize, &(&str, &str, &str))| Finding {
        path: "xtask/src/words/exceptions.rs".to_owned(),
        line: 1,
        rule: Rule::Exception,
        what: format!("\"{text}\" in {path} needs no exception"),
    };
    unused.map(finding).collect()
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
        count => {
            Err(format!("{count} findings; a just one goes into xtask/src/words/exceptions.rs"))
        }
    }
}

#[cfg(test)]
mod tests;
