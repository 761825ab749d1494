//! A program of the benches with an earlier windrow and with today's, in turns: what a change has
//! brought, on one machine and in one run.
//!
//! Both are today's program: the earlier one is built from the sources of a commit, with today's
//! `benches` among them. So both measure the same, beside the same rivals. The rivals'
//! ratios are the machine's own change meanwhile.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::before;
use crate::sources::read;
use crate::steps::{Failed, Steps, cargo, target_directory};
use crate::tools::{said, succeeds};

/// The turns of each.
const TURNS: usize = 3;

/// The figures of one cell, one of each turn.
type Figures = Vec<f64>;

/// Cells of tables, in the order in which they came: table, row and column; and figures.
type Cells = Vec<((String, String, String), Figures)>;

/// Measures.
pub(crate) fn run(
    steps: &mut Steps,
    commit: &str,
    program: &str,
    arguments: &[OsString],
) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let target = target_directory().map_err(|why| Failed::new("where to build", why))?;
    let manifest = read(&root.join("benches/Cargo.toml"));
    let manifest = manifest.map_err(|why| Failed::new("the benches", why))?;
    let features = features(&manifest, program);
    let sources = target.join("before").join("sources");
    steps.step("an earlier windrow", &format!("git archive {commit}"), || {
        before::take(&root, &target.join("before"), &sources, commit)?;
        before::replace(&root, &sources, "benches")?;
        before::replace(&root, &sources, "Cargo.lock")
    })?;
    let earlier = build(steps, "the earlier program", &sources, &target, program, &features)?;
    let today = build(steps, "today's program", &root, &target, program, &features)?;
    let mut cells: [Cells; 2] = [Vec::new(), Vec::new()];
    steps.step("both in turns", program, || {
        for turn in 1..=TURNS {
            for (cells, (program, which)) in
                cells.iter_mut().zip([(&earlier, "earlier"), (&today, "today's")])
            {
                eprintln!("turn {turn} of {TURNS}, {which}");
                let mut run = Command::new(program);
                gather(cells, &said(run.args(arguments).current_dir(&root))?);
            }
        }
        Ok(())
    })?;
    print!("{}", shown(&cells[0], &cells[1]));
    Ok(())
}

/// Builds a program of the benches from `sources`, in a directory of its own; the program.
fn build(
    steps: &mut Steps,
    name: &str,
    sources: &Path,
    target: &Path,
    program: &str,
    features: &str,
) -> Result<PathBuf, Failed> {
    let own = target.join("before").join(name.replace([' ', '\''], "-"));
    let mut command = cargo(sources);
    command.args(["build", "--release", "--package", "windrow-benches", "--bin", program]);
    if !features.is_empty() {
        command.args(["--features", features]);
    }
    command.env("CARGO_TARGET_DIR", &own);
    steps
        .step(name, &format!("{program}, from {}", sources.display()), || succeeds(&mut command))?;
    Ok(own.join("release").join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the features that a program needs: those of its part of the manifest.
fn features(manifest: &str, program: &str) -> String {
    let name = format!("name = \"{program}\"");
    let part = manifest.split("\n[[").find(|part| part.lines().any(|line| line == name));
    let line = part.and_then(|part| part.lines().find_map(|line| line.strip_prefix("required-")));
    let list = line.and_then(|line| line.strip_prefix("features = ["));
    list.map_or_else(String::new, |list| list.replace(['"', ']', ' '], ""))
}

/// Adds the figures of the tables in `text`. A row is named after the table's heading, too, if it
/// has one: a row of each table of the lab is windrow.
fn gather(cells: &mut Cells, text: &str) {
    let mut headers: Vec<String> = Vec::new();
    let mut heading = "";
    for line in text.lines() {
        let Some(row) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
            heading = line.strip_prefix("## ").unwrap_or(heading);
            headers.clear();
            continue;
        };
        let row: Vec<String> = row.split(" | ").map(|cell| cell.trim().to_owned()).collect();
        if headers.is_empty() {
            headers = row;
            continue;
        }
        for (header, cell) in headers.iter().zip(&row).skip(1) {
            let Some(figure) = figure(cell).filter(|_| header != "range") else { continue };
            let separator = if heading.is_empty() { "" } else { ": " };
            let name = format!("{heading}{separator}{}", row[0]);
            let key = (headers[0].clone(), name, header.clone());
            match cells.iter_mut().find(|(known, _)| *known == key) {
                Some((_, figures)) => figures.push(figure),
                None => cells.push((key, vec![figure])),
            }
        }
    }
}

/// Returns the number that a cell begins with.
fn figure(cell: &str) -> Option<f64> {
    let word = cell.trim_start_matches('~').split_whitespace().next()?;
    word.parse().ok()
}

/// Returns a table: medians before and after, and their ratio.
fn shown(before: &Cells, after: &Cells) -> String {
    let after: BTreeMap<_, _> = after.iter().map(|(key, figures)| (key, figures)).collect();
    let mut lines = vec![
        "| | | before | after | ratio |".to_owned(),
        "| - | - | ------ | ----- | ----- |".to_owned(),
    ];
    for (key, figures) in before {
        let Some(after) = after.get(key) else { continue };
        let (before, after) = (median(figures), median(after));
        let ratio = if before > 0.0 { format!("{:.2}", after / before) } else { "-".to_owned() };
        lines.push(format!("| {} | {} | {before} | {after} | {ratio} |", key.1, key.2));
    }
    lines.join("\n") + "\n"
}

/// Returns the middle one of figures: of an even number, the lower of two.
fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_its_median_before_and_after() {
        let text = |figure: &str| format!("| c | ns |\n| - | -- |\n| a | ~{figure} (1 to 9) |\n\n");
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for figure in ["4.0", "9.0", "5.0"] {
            gather(&mut before, &text(figure));
        }
        gather(&mut after, &text("2.5"));
        assert!(shown(&before, &after).ends_with("\n| a | ns | 5 | 2.5 | 0.50 |\n"));
    }

    #[test]
    fn rows_of_two_tables_are_two() {
        let table = "| c | ns |\n| - | -- |\n| a | 1 |\n";
        let mut cells = Vec::new();
        gather(&mut cells, &format!("## One\n\n{table}\n## Two\n\n{table}"));
        let names: Vec<&str> = cells.iter().map(|((_, name, _), _)| name.as_str()).collect();
        assert_eq!(names, ["One: a", "Two: a"]);
    }

    #[test]
    fn features_are_those_of_the_program() {
        let manifest = "[[bin]]\nname = \"a\"\n\n[[bin]]\nname = \"b\"\n\
                        required-features = [\"x\", \"y\"]\n";
        assert_eq!(features(manifest, "a"), "");
        assert_eq!(features(manifest, "b"), "x,y");
    }
}
