//! Every order in the library is needed: weaken any of them, and a model fails.
//!
//! [`run`] weakens them one by one and writes into `docs/orderings.md` which model has noticed. What no
//! model can notice must be [excused](excuses), by a reason and another witness. [`check`] weakens
//! nothing: it demands that the table there is about the sources as they are.

mod excuses;
mod sites;
mod table;
mod tokens;
mod trial;

use std::io::{IsTerminal, Write, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::steps::{Failed, Steps, seconds};
use excuses::{EXCUSES, Excuse};
use sites::Site;
use table::Row;
use trial::Bench;

/// How many models run at a time.
const AT_A_TIME: usize = 2;

/// An order that is weaker than the one that stands there.
#[derive(Clone, Copy)]
struct Mutant<'s> {
    number: usize,
    site: &'s Site,
    order: &'static str,
}

impl Mutant<'_> {
    /// Of a fence, Relaxed is none at all.
    fn order_in_words(&self) -> &'static str {
        if self.site.is_fence() && self.order == "Relaxed" { "no fence" } else { self.order }
    }

    fn excuse(&self) -> Option<&'static Excuse> {
        let site = self.site.to_string();
        let order = self.order_in_words();
        EXCUSES.iter().find(|excuse| excuse.site == site && excuse.orders.contains(&order))
    }

    fn is_in(&self, row: &Row) -> bool {
        row.site == self.site.to_string() && row.order == self.order_in_words()
    }
}

fn mutants(sites: &[Site]) -> Vec<Mutant<'_>> {
    let of = |(number, site): (usize, _)| {
        Site::weaker(site).iter().map(move |order| Mutant { number, site, order })
    };
    sites.iter().enumerate().flat_map(of).collect()
}

/// In the table, of what neither a model nor an excuse vouches for.
const SURVIVED: &str = "**nothing**";

/// Weakens the sites whose names contain `filter`, and writes what was found into the table.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("weakened orderings", "the models, with one order weaker than it stands", || {
        let sites = sites::all(&root)?;
        let all = mutants(&sites);
        let chosen: Vec<Mutant<'_>> =
            all.iter().copied().filter(|mutant| mutant.site.to_string().contains(filter)).collect();
        if chosen.is_empty() {
            return Err(format!("no site's name contains `{filter}`"));
        }
        let last = table::read(&root)?;
        let bench = Bench::set_up(&root, &sites)?;
        let found = try_all(&bench, &chosen, &last)?;
        let mut found = chosen.iter().zip(found).peekable();
        let rows = all.iter().map(|mutant| {
            let now = found.next_if(|(chosen, _)| {
                std::ptr::eq(chosen.site, mutant.site) && chosen.order == mutant.order
            });
            let before =
                || last.iter().find(|row| mutant.is_in(row)).map(|row| row.shown_by.clone());
            Row {
                site: mutant.site.to_string(),
                order: mutant.order_in_words().to_owned(),
                shown_by: now
                    .map(|(_, found)| found)
                    .or_else(before)
                    .unwrap_or(SURVIVED.to_owned()),
            }
        });
        let rows: Vec<Row> = rows.collect();
        table::write(&root, &rows)?;
        judge(&root, &all, &rows)
    })
}

/// Demands that the table is about the sources as they are, and that something vouches for every order.
pub(crate) fn check(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("table of orderings", "docs/orderings.md, against the sources", || {
        let sites = sites::all(&root)?;
        judge(&root, &mutants(&sites), &table::read(&root)?)
    })
}

/// What [`check`] demands, of mutants and rows.
fn judge(root: &Path, mutants: &[Mutant<'_>], rows: &[Row]) -> Result<(), String> {
    let mut wrong = Vec::new();
    for mutant in mutants {
        let name = format!("`{}`, weakened to {}", mutant.site, mutant.order_in_words());
        let row = rows.iter().find(|row| mutant.is_in(row));
        match (row.map(|row| row.shown_by.as_str()), mutant.excuse()) {
            (None, _) => wrong.push(format!("{name}, is not in the table")),
            (Some(SURVIVED), _) => wrong.push(format!("{name}: no model notices")),
            (Some(shown_by), Some(excuse)) if shown_by != excuse.text() => {
                wrong.push(format!("{name}, is excused, and the table says otherwise: {shown_by}"));
            }
            (Some(shown_by), None) if !shown_by.starts_with('`') => {
                wrong.push(format!("{name}, is excused in the table alone"));
            }
            _ => {}
        }
    }
    for row in rows.iter().filter(|row| !mutants.iter().any(|mutant| mutant.is_in(row))) {
        wrong.push(format!("`{}` is in the table, and not in the sources", row.site));
    }
    for excuse in EXCUSES {
        for order in excuse.orders {
            let is_it = |mutant: &Mutant<'_>| {
                mutant.order_in_words() == *order && mutant.site.to_string() == excuse.site
            };
            if !mutants.iter().any(is_it) {
                wrong.push(format!("`{}` to {order} is excused, and not there", excuse.site));
            }
        }
        if !root.join(excuse.witness).exists() {
            wrong.push(format!("the witness {} is not there", excuse.witness));
        }
    }
    if wrong.is_empty() {
        println!("    {} weaker orders, each with a model or an excuse", mutants.len());
        return Ok(());
    }
    Err(format!("{}\nafter a change of the sources, run `cargo xtask orderings`", wrong.join("\n")))
}

/// Tries mutants out, some at a time, and returns for each what the table shall say.
fn try_all(bench: &Bench, mutants: &[Mutant<'_>], last: &[Row]) -> Result<Vec<String>, String> {
    let next = AtomicUsize::new(0);
    let (done, all_done) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            let (next, done) = (&next, done.clone());
            scope.spawn(move || {
                while let Some((index, mutant)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    mutants.get(index).map(|mutant| (index, mutant))
                } {
                    let begin = Instant::now();
                    let before = last.iter().find(|row| mutant.is_in(row));
                    let before = before.map(|row| row.shown_by.as_str());
                    let killer = bench.killer(mutant.number, mutant.order, before);
                    let killer =
                        killer.map(|killer| killer.map(|(model, words)| (model.title(), words)));
                    let sent = done.send((index, killer, begin.elapsed()));
                    if sent.is_err() {
                        return; // somebody has met with an error
                    }
                }
            });
        }
        drop(done);
        let begin = Instant::now();
        let mut found = vec![String::new(); mutants.len()];
        let mut count = 0;
        while count < mutants.len() {
            let (index, killer, time) = match all_done.recv_timeout(Duration::from_millis(200)) {
                Ok(done) => done,
                Err(RecvTimeoutError::Timeout) => {
                    show_progress(count, mutants.len(), begin.elapsed());
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Err("a trial has ended early".into()),
            };
            count += 1;
            let mutant = mutants[index];
            let name = format!("{} -> {}", mutant.site, mutant.order_in_words());
            clear_progress();
            let line = match killer.map_err(|error| format!("{name}: {error}"))? {
                Some((title, words)) => {
                    let line = format!("killed   {name}, by {title}: {words}");
                    found[index] = title;
                    line
                }
                None => {
                    let excuse = mutant.excuse();
                    found[index] = excuse.map_or(SURVIVED.to_owned(), Excuse::text);
                    let reached = if bench.reaches(mutant.number) { "" } else { ", never reached" };
                    let verdict = if excuse.is_some() { "excused " } else { "SURVIVED" };
                    format!("{verdict} {name}{reached}")
                }
            };
            println!("    [{count}/{}] {line} ({})", mutants.len(), seconds(time));
        }
        Ok(found)
    })
}

fn show_progress(count: usize, all: usize, time: Duration) {
    if stdout().is_terminal() {
        print!("\r    {count} of {all} weaker orders tried, {}", seconds(time));
        let _ = stdout().flush();
    }
}

fn clear_progress() {
    if stdout().is_terminal() {
        print!("\r\x1b[K");
    }
}
