//! The rules, each over one file.

use std::collections::HashMap;

use super::finding::{self, Finding};
use super::glossary::Banned;
use super::prose::{self, Source, Word};
use super::summaries::{self, Summary};
use super::tables;

/// Words with which no summary begins.
const BARE: [&str; 15] = [
    "what", "how", "whether", "where", "who", "when", "why", "as", "so", "none", "nothing", "of",
    "the same", "which", "whose",
];

/// Words that end in "s" and are no verbs.
const NO_VERBS: [&str; 5] = ["as", "its", "this", "is", "has"];

/// Phrases, and what to write. `^` stands for the beginning of a sentence that is no question.
const PHRASES: &str = include_str!("../../phrases.txt");

/// The columns of a comment's line.
const WIDTH: usize = 100;

/// Returns the findings in a file.
pub(super) fn findings(source: &Source<'_>, banned: &[Banned]) -> Vec<Finding> {
    let paragraphs = source.paragraphs();
    let mut found: Vec<_> = summaries::of(source).iter().filter_map(summary).collect();
    found.retain(|(_, rule, _)| *rule != finding::VERB || is_published(source.path));
    let index = Index::new(&paragraphs);
    found.extend(phrases(&index));
    let banned = banned.iter().filter(|banned| banned.holds_in(source.path));
    found.extend(banned.flat_map(|banned| replaced(source, &index, banned)));
    found.extend(wide(source));
    let broken = tables::broken(source).into_iter();
    found.extend(broken.map(|(line, what)| (line, finding::TABLE, what)));
    found.sort();
    found
}

/// A summary that begins with no subject, or that of a function with no verb.
fn summary(summary: &Summary) -> Option<Finding> {
    let first = summary.words.first()?;
    let two = format!("{first} {}", summary.words.get(1).map_or("", String::as_str));
    let is_bare = BARE.contains(&first.as_str()) || BARE.contains(&two.as_str());
    let is_verb = first.ends_with('s') && !NO_VERBS.contains(&first.as_str());
    let lacks_verb = summary.is_public && summary.is_function && !is_verb;
    let rule = if is_bare { finding::BARE } else { finding::VERB };
    (is_bare || lacks_verb).then_some((summary.line, rule, two))
}

/// Returns whether a source is of a package that others use.
fn is_published(path: &str) -> bool {
    path.starts_with("src/") || path.starts_with("integrations/") && path.contains("/src/")
}

/// A file's words by their text: paragraph and index of each.
struct Index<'p> {
    paragraphs: &'p [Vec<Word>],
    by_text: HashMap<&'p str, Vec<(usize, usize)>>,
}

impl<'p> Index<'p> {
    fn new(paragraphs: &'p [Vec<Word>]) -> Index<'p> {
        let mut by_text: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (paragraph, words) in paragraphs.iter().enumerate() {
            for (at, word) in words.iter().enumerate() {
                by_text.entry(&word.text).or_default().push((paragraph, at));
            }
        }
        Index { paragraphs, by_text }
    }

    /// Each place of a word, with the words that follow it.
    fn places(&self, word: &str) -> impl Iterator<Item = &'p [Word]> {
        let places = self.by_text.get(word).into_iter().flatten();
        places.map(|(paragraph, at)| &self.paragraphs[*paragraph][*at..])
    }

    /// The lines on which a phrase begins.
    fn lines(&self, phrase: &[String], is_first: bool) -> Vec<usize> {
        let is_end = |word: &&Word| [".", ":", "?", "!", "|"].contains(&word.text.as_str());
        let is_question =
            |rest: &[Word]| rest.iter().find(is_end).is_some_and(|end| end.text == "?");
        let found = |words: &&[Word]| {
            words.len() >= phrase.len()
                && words.iter().map(|word| &word.text).take(phrase.len()).eq(phrase)
                && (!is_first || words[0].is_first && !is_question(words))
        };
        self.places(&phrase[0]).filter(found).map(|words| words[0].line).collect()
    }
}

fn phrases(index: &Index<'_>) -> Vec<Finding> {
    let found = |(phrase, instead): (&str, &str)| {
        let is_first = phrase.starts_with('^');
        let words: Vec<String> =
            phrase.trim_start_matches('^').split_whitespace().map(str::to_owned).collect();
        let what = format!("\"{}\": {instead}", words.join(" "));
        let lines = index.lines(&words, is_first);
        lines.into_iter().map(move |line| (line, finding::PHRASE, what.clone())).collect::<Vec<_>>()
    };
    PHRASES.lines().filter_map(|line| line.split_once(" | ")).flat_map(found).collect()
}

/// Finds words for which the glossary has another.
fn replaced(source: &Source<'_>, index: &Index<'_>, banned: &Banned) -> Vec<Finding> {
    let what = format!("\"{}\": {}", banned.words.join(" "), banned.instead);
    let lines = if banned.is_name {
        let name = banned.words[0].as_str();
        let has = |text: &str| text.contains(name) && prose::names(text).any(|word| word == name);
        let lines = source.lines.iter().enumerate().filter(|(_, line)| has(line.text));
        lines.map(|(at, _)| at + 1).collect()
    } else {
        index.lines(&banned.words, false)
    };
    lines.into_iter().map(|line| (line, finding::GLOSSARY, what.clone())).collect()
}

/// Comments and lines of pages that are too long. What cannot be broken may be: a table's row, a
/// link's address, a program on a page.
fn wide(source: &Source<'_>) -> Vec<Finding> {
    let mut is_program = false;
    let mut found = Vec::new();
    for (at, line) in source.lines.iter().enumerate() {
        let Some(comment) = line.comment else { continue };
        let text = comment.text.trim_start();
        is_program ^= source.is_page && text.starts_with("```");
        let width = line.text.chars().count();
        let is_link = text.starts_with('[') && text.contains("]: ");
        let is_word = line.code.trim().is_empty() && !text.contains(' ');
        let is_whole = text.starts_with(['|', '!', '<']) || is_link || is_word;
        if width > WIDTH && !is_whole && !is_program {
            found.push((at + 1, finding::WIDTH, format!("{width} columns")));
        }
    }
    found
}
