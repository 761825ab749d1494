//! Every order in the library is needed: weaken any of them, and a model fails.
//!
//! [`run`] weakens them one by one and writes into `docs/orderings.md` which model has noticed.
//! What no model can notice must have a reason in the list below the table there, with another
//! witness. [`check`] weakens nothing: it demands that the table agrees with the sources.

mod drops;
mod mutant;
mod queue;
mod sites;
mod table;
mod tokens;
mod trial;

use std::collections::BTreeSet;
use std::path::Path;

use crate::models::{ANNOUNCED, CHECKER, EPOCH, PER_CORE};
use crate::steps::{Failed, Steps};
use mutant::{Mutant, REASON, SURVIVED, mutants};
use sites::Site;
use table::{Key, Table};
use trial::{Bench, FEW, MORE};

/// Weakens the sites whose names contain one of the words in `filter`, between commas, and writes
/// the results into the table.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("weakened orderings", "the models, with one order weaker than it stands", || {
        let sites = sites::all(&root)?;
        let all = mutants(&sites);
        let is_named = |name: &str| filter.split(',').any(|word| name.contains(word));
        let is_chosen = |mutant: &&Mutant<'_>| is_named(&mutant.site.to_string());
        let chosen: Vec<Mutant<'_>> = all.iter().filter(is_chosen).copied().collect();
        if chosen.is_empty() {
            return Err(format!("no site's name contains `{filter}`"));
        }
        let mut table = table::read(&root)?;
        let found = find(&root, &sites, &chosen, &table)?;
        table.extend(chosen.iter().map(Mutant::key).zip(found));
        let row = |key: Key| {
            let by = table.get(&key).map_or(SURVIVED, String::as_str).to_owned();
            (key, by)
        };
        let rows: Vec<_> = all.iter().map(Mutant::key).map(row).collect();
        table::write(&root, &rows)?;
        judge(&root, &all, &rows.into_iter().collect())
    })
}

/// Returns what the table says of each mutant: first by few preemptions, over the checking
/// reclaimer, per core and portably; then, of survivors without a reason, over `crossbeam-epoch`
/// too, and by more.
fn find(
    root: &Path,
    sites: &[Site],
    mutants: &[Mutant<'_>],
    last: &Table,
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

/// Demands that the table agrees with the sources, and that every order has a model or a reason.
pub(crate) fn check(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("table of orderings", "docs/orderings.md, against the sources", || {
        let sites = sites::all(&root)?;
        judge(&root, &mutants(&sites), &table::read(&root)?)
    })
}

/// Returns what [`check`] demands, of mutants and rows.
fn judge(root: &Path, mutants: &[Mutant<'_>], table: &Table) -> Result<(), String> {
    let reasons: Vec<String> =
        (1..=table::reasons(root)?).map(|number| format!("{REASON}{number}")).collect();
    let mut wrong = Vec::new();
    let keys: BTreeSet<Key> = mutants.iter().map(Mutant::key).collect();
    for key in &keys {
        let name = format!("`{}`, weakened to {}", key.0, key.1);
        match table.get(key) {
            None => wrong.push(format!("{name}, is not in the table")),
            Some(by) if by == SURVIVED => wrong.push(format!("{name}: no model notices")),
            Some(by) if by.starts_with('`') || reasons.contains(by) => {}
            Some(by) => wrong.push(format!("{name}: {by} is not in the list")),
        }
    }
    let gone = table.keys().filter(|key| !keys.contains(*key));
    wrong.extend(gone.map(|(site, _)| format!("`{site}` is in the table, and not in the sources")));
    let unused = reasons.iter().filter(|reason| !table.values().any(|by| by == *reason));
    wrong.extend(unused.map(|reason| format!("{reason} is in the list, and no row has it")));
    wrong.extend(drops::check(root)?);
    if wrong.is_empty() {
        println!("    {} weaker orders, each with a model or a reason", mutants.len());
        return Ok(());
    }
    Err(format!("{}\nafter a change of the sources, run `cargo xtask orderings`", wrong.join("\n")))
}
