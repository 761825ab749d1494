//! Each rule bites.

use super::finding::{self, Rule};
use super::glossary;
use super::prose::Source;
use super::rules::findings;
use std::path::Path;

use super::{GLOSSARY, sources};

/// The lines that a rule finds in a source.
fn found(rule: Rule, text: &str) -> Vec<usize> {
    found_in("src/a.rs", rule, text, "")
}

fn found_in(path: &str, rule: Rule, text: &str, glossary: &str) -> Vec<usize> {
    let banned = glossary::bans(&format!("| word | means | not |\n|---|---|---|\n{glossary}"));
    let findings = findings(&Source::new(path, text), &banned);
    findings.iter().filter(|(_, of, _)| *of == rule).map(|(line, ..)| *line).collect()
}

#[test]
fn a_bare_summary_is_found() {
    let text = "\
//! What stands here.
/// What a gate answers.
#[must_use]
pub enum Admission {
    /// As [`Yes`].
    No,
    /// The other.
    Yes,
}

impl Admission {
    /// The same, by fences.
    #[doc(hidden)]
    pub const fn same() {}

    /// How it is done: for ourselves.
    fn private() {}

    /// Where it is, for ourselves.
    pub(crate) fn ours() {}
}

/// Nothing.
#[macro_export]
macro_rules! none { () => {} }

pub trait Kind {
    /// So is this.
    fn kind(&self);
}
";
    assert_eq!(found(finding::BARE, text), [1, 2, 5, 12, 16, 19, 23, 28]);
}

#[test]
fn a_public_function_without_a_verb_is_found() {
    let text = "\
/// The sum.
pub fn sum() {}
/// Returns the sum.
pub unsafe fn good() {}
/// This returns the sum.
pub const fn this() {}
/// A counter.
pub struct Counter;
";
    assert_eq!(found(finding::VERB, text), [1, 5]);
}

#[test]
fn persons_are_found_in_comments_and_not_in_code() {
    let text = "\
//! Who comes late.
// `who` is a name.
let who = \"who // nobody\"; // nobody knows
let raw = r#\"a \" // who
   // somebody
\"#;
let sign = '\"'; // someone
// ```
// let who = 1; // whoever reads
// ```
";
    assert_eq!(found(finding::PHRASE, text), [1, 3, 7, 9]);
    assert_eq!(found_in("docs/a.md", finding::PHRASE, "Who?\n\n[who]: who\n[a](who)", ""), [1]);
}

#[test]
fn banned_phrases_are_found_across_lines() {
    let text = "\
/// Lets so
/// much through, in the bucket of now. Else it waits.
///
/// Something else, or so.
///
/// Much else. None. None of these.
/// What is: the answer is what is said.
/// # What is no sentence
/// What is this?
";
    assert_eq!(found(finding::PHRASE, text), [1, 2, 2, 6, 7]);
}

#[test]
fn words_that_the_glossary_replaces_are_found_in_their_area() {
    let glossary = "| `min` | the least | least, `least` in `src/a` `src/b`, lowest in `docs/` |";
    let text = "/// The least.\nfn least() {} // lowest\nfn least_of() {}\n";
    assert_eq!(found_in("src/a.rs", finding::GLOSSARY, text, glossary), [1, 1, 2]);
    assert_eq!(found_in("src/c.rs", finding::GLOSSARY, text, glossary), [1]);
}

#[test]
fn comments_are_not_longer_than_code() {
    let long = "x ".repeat(49) + "x";
    let text = format!("// {long}\n// {}\n// | {long} |\nlet a = {long};\nf({long}); // a", "y");
    assert_eq!(found(finding::WIDTH, &text), [1, 5]);
}

#[test]
fn lines_of_pages_are_not_longer_than_code() {
    let long = "word ".repeat(21);
    let text = format!("{long}\n| {long} |\n[a]: {long}\n```text\n{long}\n```\n- {long}\n");
    assert_eq!(found_in("docs/a.md", finding::WIDTH, &text, ""), [1, 7]);
}

#[test]
fn a_row_that_was_wrapped_is_found() {
    let text = "\
/// | kind | keeps |
/// |---|---|
/// | `Count` | its sum | | `Value`
/// | the sum |
/// | a \\| b | c |
/// | a | `b`
/// c
///
/// | of | another |
/// |---|---|
// no comment of the table
/// ```text
/// | a | b | c |
/// |---|
/// ```
";
    assert_eq!(found(finding::TABLE, text), [3, 4, 6, 7]);
    assert_eq!(found_in("docs/a.md", finding::TABLE, "| a |\n|---|\nb\n\n| c |\n", ""), [3]);
}

#[test]
fn a_cell_is_a_phrase() {
    let (phrase, names) = ("word ".repeat(17), "name, ".repeat(20) + "name");
    let text = format!(
        "| a | b |\n|---|---|\n| {phrase} | {names} |\n| {phrase} word | It is. So. |\n| 1.5 | a. b |\n"
    );
    assert_eq!(found_in("docs/a.md", finding::TABLE, &text, ""), [4, 4]);
}

#[test]
fn a_table_has_few_columns() {
    let text = "| 1 | 2 | 3 | 4 | 5 |\n\n| 1 | 2 | 3 | 4 | 5 | 6 |\n|---|---|---|---|---|---|\n";
    assert_eq!(found_in("docs/a.md", finding::TABLE, text, ""), [3]);
}

#[test]
fn the_glossary_of_this_project_has_rows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = sources::read(&root.join(GLOSSARY)).unwrap();
    let banned = glossary::bans(&page);
    assert!(!banned.is_empty() && banned.iter().all(|banned| !banned.words.is_empty()));
}

#[test]
fn each_phrase_is_found() {
    let text = "// As many threads wait as may. How often they do, so do others.\n\
                // Some do, so has one; how far, how many? As much as that.\n";
    assert_eq!(found(finding::PHRASE, text), [1, 1, 1, 2, 2, 2, 2]);
}
