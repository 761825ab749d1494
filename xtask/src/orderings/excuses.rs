//! The orders that no model can judge, each with the reason and another witness: those of
//! `loom-tests/excuses.txt`.
//!
//! A paragraph there is a reason, with a line for each order that stands for it.

use std::sync::LazyLock;

use crate::paragraphs::{Paragraph, paragraphs};

const LIST: &str = include_str!("../../../loom-tests/excuses.txt");

/// An order that no model misses, and why it stands.
pub(super) struct Excuse {
    /// The site, by name.
    pub(super) site: &'static str,
    /// The weaker orders that no model notices.
    pub(super) orders: Vec<&'static str>,
    /// The number of the reason.
    number: usize,
    /// A file or folder of this workspace that vouches for it instead.
    pub(super) witness: &'static str,
}

/// All of them.
pub(super) static EXCUSES: LazyLock<Vec<Excuse>> = LazyLock::new(|| {
    let reasons = reasons().enumerate();
    reasons
        .flat_map(|(at, (_, entry))| entry.all("- ").map(move |line| excuse(at + 1, line)))
        .collect()
});

impl Excuse {
    /// Returns the text for the table: the reason's number in the list below it.
    pub(super) fn text(&self) -> String {
        format!("reason {}", self.number)
    }
}

/// Returns each reason, in the order of its number, and the lines behind it.
fn reasons() -> impl Iterator<Item = (String, Paragraph<'static>)> {
    paragraphs(LIST).map(|entry| {
        let reason = entry.lines().take_while(|line| !line.starts_with("- "));
        (reason.collect::<Vec<_>>().join(" "), entry)
    })
}

fn excuse(number: usize, line: &'static str) -> Excuse {
    let mut cells = line.split(" | ");
    let mut cell = || cells.next().unwrap_or_default();
    Excuse { number, site: cell(), orders: cell().split(", ").collect(), witness: cell() }
}

/// Returns the reasons with their witnesses, for the list below the table.
pub(super) fn list() -> Vec<String> {
    let item = |(at, (why, _)): (usize, (String, _))| {
        let mut witnesses: Vec<String> = Vec::new();
        for excuse in EXCUSES.iter().filter(|excuse| excuse.number == at + 1) {
            let witness = format!("`{}`", excuse.witness);
            if !witnesses.contains(&witness) {
                witnesses.push(witness);
            }
        }
        format!("{why} See {}.", witnesses.join(", "))
    };
    reasons().enumerate().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_list_is_an_excuse() {
        let lines = LIST.lines().filter(|line| line.starts_with("- ")).count();
        assert_eq!(EXCUSES.len(), lines);
        for Excuse { site, orders, witness, .. } in EXCUSES.iter() {
            assert!(site.contains(": ") && witness.contains('/') && orders[0].len() > 1, "{site}");
        }
        assert!(reasons().all(|(why, _)| why.ends_with('.')));
    }
}
