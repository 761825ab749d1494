//! Every order in the library is needed: weaken any of them, and a model fails.
//!
//! [`run`] weakens them one by one and writes into `docs/orderings.md` which model has noticed.
//! What no model can notice must be [excused](excuses), by a reason and another witness. [`check`]
//! weakens nothing: it demands that the table there agrees with the sources.

mod drops;
mod excuses;
mod mutant;
mod queue;
mod sites;
mod table;
mod tokens;
mod trial;

use std::path::Path;

use crate::models::{ANNOUNCED, CHECKER, EPOCH, PER_CORE};
use crate::steps::{Failed, Steps};
use excuses::EXCUSES;
use mutant::{Mutant, SURVIVED, mutants};
use sites::Site;
use table::Row;
use trial::{Bench, FEW, MORE};

/// Weakens the sites whose names contain one of the words in `filter`, between commas, and writes
/// the results into the table.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("weakened orderings", "the models, with one order weaker than it stands", || {
        let sites = sites::all(&root)?;
        let all = mutants(&sites);
        let is_chosen = |mutant: &Mutant<'_>| {
            let site = mutant.site.to_string();
            filter.split(',').any(|word| site.contains(word))
        };
        let chosen: Vec<Mutant<'_>> = all.iter().copied().filter(is_chosen).collect();
        if chosen.is_empty() {
            return Err(format!("no site's name contains `{filter}`"));
        }
        let last = table::read(&root)?;
        let found = find(&root, &sites, &chosen, &last)?;
        let rows: Vec<Row> = all.iter().map(|mutant| mutant.row(&chosen, &found, &last)).collect();
        table::write(&root, &rows, &excuses::list())?;
        judge(&root, &all, &rows)
    })
}

/// Returns what the table says of each mutant: first by few preemptions, over the checking
/// reclaimer, per core and portably; then, of survivors without an excuse, over `crossbeam-epoch`
/// too, and by more.
fn find(
    root: &Path,
    sites: &[Site],
    mutants: &[Mutant<'_>],
    last: &[Row],
) -> Result<Vec<String>, String> {
    let mut bench = Bench::set_up(root, sites)?;
    bench.add(&CHECKER)?;
    bench.add(&PER_CORE)?;
    bench.add(&ANNOUNCED)?;
    let mut found = queue::try_all(&bench, FEW, mutants, last)?;
    for (round, bound) in MORE.into_iter().enumerate() {
        let alive: Vec<usize> = (0..found.len()).filter(|at| found[*at] == SURVIVED).collect();
        if alive.is_empty() {
            break;
        }
        if round == 0 {
            bench.add(&EPOCH)?;
        }
        let again: Vec<Mutant<'_>> = alive.iter().map(|at| mutants[*at]).collect();
        for (at, now) in alive.into_iter().zip(queue::try_all(&bench, bound, &again, last)?) {
            found[at] = now;
        }
    }
    Ok(found)
}

/// Demands that the table agrees with the sources, and that every order has a model or an excuse.
pub(crate) fn check(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("table of orderings", "docs/orderings.md, against the sources", || {
        let sites = sites::all(&root)?;
        judge(&root, &mutants(&sites), &table::read(&root)?)
    })
}

/// Returns what [`check`] demands, of mutants and rows.
fn judge(root: &Path, mutants: &[Mutant<'_>], rows: &[Row]) -> Result<(), String> {
    let mut wrong = Vec::new();
    for mutant in mutants {
        let name = format!("`{}`, weakened to {}", mutant.site, mutant.order_in_words());
        match (mutant.in_table(rows), mutant.excuse()) {
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
    for excuse in EXCUSES.iter() {
        for order in &excuse.orders {
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
    if !table::has_reasons(root, &excuses::list())? {
        wrong.push("the list of reasons is not that of loom-tests/excuses.txt".to_owned());
    }
    wrong.extend(drops::check(root)?);
    if wrong.is_empty() {
        println!("    {} weaker orders, each with a model or an excuse", mutants.len());
        return Ok(());
    }
    Err(format!("{}\nafter a change of the sources, run `cargo xtask orderings`", wrong.join("\n")))
}
