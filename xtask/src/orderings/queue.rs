//! Trying weaker orders out, some at a time, with the progress.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::excuses::Excuse;
use super::mutant::{Mutant, SURVIVED};
use super::table::Row;
use super::trial::{Bench, Bound};
use crate::steps::seconds;

/// The number of models that run at a time.
const AT_A_TIME: usize = 2;

/// A mutant by its index, the model that has noticed with its words, and the time that it took.
type Tried = (usize, Result<Option<(String, String)>, String>, Duration);

/// Tries mutants, in models with these bounds of preemptions. Returns the text of the table for
/// each.
pub(super) fn try_all(
    bench: &Bench,
    bound: &[Bound],
    mutants: &[Mutant<'_>],
    last: &[Row],
) -> Result<Vec<String>, String> {
    let next = AtomicUsize::new(0);
    let (tried, all_tried) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            let (next, tried) = (&next, tried.clone());
            scope.spawn(move || work(bench, bound, mutants, last, next, &tried));
        }
        drop(tried);
        // After an error the receiver is gone, and the others stop at their next.
        collect(bench, mutants, &all_tried)
    })
}

/// Tries one mutant after another, until there are none left, or the receiver is gone.
fn work(
    bench: &Bench,
    bound: &[Bound],
    mutants: &[Mutant<'_>],
    last: &[Row],
    next: &AtomicUsize,
    tried: &Sender<Tried>,
) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(mutant) = mutants.get(index) else { return };
        let begin = Instant::now();
        let killer = bench.killer(mutant.number, mutant.order, bound, mutant.in_table(last));
        if tried.send((index, killer, begin.elapsed())).is_err() {
            return;
        }
    }
}

/// Takes in what the workers find, and prints it.
fn collect(
    bench: &Bench,
    mutants: &[Mutant<'_>],
    all_tried: &Receiver<Tried>,
) -> Result<Vec<String>, String> {
    let mut found = vec![String::new(); mutants.len()];
    let mut count = 0;
    for (index, killer, time) in all_tried {
        count += 1;
        let mutant = &mutants[index];
        let name = format!("{}, weakened to {}", mutant.site, mutant.order_in_words());
        let killer = killer.map_err(|error| format!("{name}: {error}"))?;
        println!("    [{count}/{}] {name}, in {}", mutants.len(), seconds(time));
        found[index] = match (killer, mutant.excuse()) {
            (Some((model, words)), _) => {
                println!("        killed by {model}: {words}");
                model
            }
            (None, excuse) => {
                let reached =
                    if bench.reaches(mutant.number) { "" } else { "; no model reaches it" };
                let verdict = if excuse.is_some() { "excused" } else { "SURVIVED" };
                println!("        {verdict}{reached}");
                excuse.map_or(SURVIVED.to_owned(), Excuse::text)
            }
        };
    }
    Ok(found)
}
