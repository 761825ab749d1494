//! Trying weaker orders out, some at a time, with the progress.

use std::time::Instant;

use super::mutant::{Mutant, REASON, SURVIVED};
use super::table::Table;
use super::trial::{Bench, Bound};
use crate::steps::seconds;
use crate::workers;

/// Tries mutants, in models with these bounds of preemptions. Returns the text of the table for
/// each.
pub(super) fn try_all(
    bench: &Bench,
    bound: &[Bound],
    mutants: &[Mutant<'_>],
    last: &Table,
) -> Result<Vec<String>, String> {
    let numbered: Vec<_> = (1..).zip(mutants).collect();
    workers::each(&numbered, |_, (number, mutant)| {
        let key = mutant.key();
        let name = format!("{}, weakened to {}", key.0, key.1);
        let begin = Instant::now();
        let last = last.get(&key).map(String::as_str);
        let killer = bench.killer(mutant.number, mutant.order, bound, last);
        let killer = killer.map_err(|error| format!("{name}: {error}"))?;
        let reason = last.filter(|last| last.starts_with(REASON)).unwrap_or(SURVIVED);
        let reached = if bench.reaches(mutant.number) { "" } else { "; no model reaches it" };
        let (found, verdict) = killer.map_or_else(
            || (reason.to_owned(), format!("{reason}{reached}")),
            |(model, words)| (model.clone(), format!("killed by {model}: {words}")),
        );
        let (count, time) = (mutants.len(), seconds(begin.elapsed()));
        println!("    [{number}/{count}] {name}, in {time}\n        {verdict}");
        Ok(found)
    })
}
