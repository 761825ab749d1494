//! Trying weaker orders out, some at a time, with the progress.

use std::time::Instant;

use super::mutant::{Mutant, SURVIVED};
use super::table::Row;
use super::trial::{Bench, Bound};
use crate::steps::seconds;
use crate::workers;

/// Tries mutants, in models with these bounds of preemptions. Returns the text of the table for
/// each.
pub(super) fn try_all(
    bench: &Bench,
    bound: &[Bound],
    mutants: &[Mutant<'_>],
    last: &[Row],
) -> Result<Vec<String>, String> {
    let numbered: Vec<_> = (1..).zip(mutants).collect();
    workers::each(&numbered, |_, (number, mutant)| {
        let name = format!("{}, weakened to {}", mutant.site, mutant.order_in_words());
        let begin = Instant::now();
        let killer = bench.killer(mutant.number, mutant.order, bound, mutant.in_table(last));
        let killer = killer.map_err(|error| format!("{name}: {error}"))?;
        let time = seconds(begin.elapsed());
        let (found, verdict) = match (killer, mutant.reason(last)) {
            (Some((model, words)), _) => {
                let verdict = format!("killed by {model}: {words}");
                (model, verdict)
            }
            (None, reason) => {
                let reached =
                    if bench.reaches(mutant.number) { "" } else { "; no model reaches it" };
                let verdict = reason.unwrap_or("SURVIVED");
                (reason.unwrap_or(SURVIVED).to_owned(), format!("{verdict}{reached}"))
            }
        };
        let count = mutants.len();
        println!("    [{number}/{count}] {name}, in {time}\n        {verdict}");
        Ok(found)
    })
}
