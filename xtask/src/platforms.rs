//! Other processors and systems, from Debian's packages alone: compiles the library, its tests and
//! the packages beside it for each, and runs tests where there is a way to. Those of Linux run in
//! virtual machines too, because only a kernel has restartable sequences and barriers.
//!
//! A compiler of Debian's (`rustc-web`) compiles. Its std for other processors comes from the suite
//! `trixie`, which is unpacked in `target/elsewhere`: nothing but the tools is installed. A tool
//! that is absent and cannot be installed is a failure that names it.

mod apt;
mod builds;
mod control;
mod disk;
mod libraries;
mod machine;
mod machines;
mod programs;
mod targets;

use std::path::Path;
use std::time::Instant;

use crate::assembly::arm64;
use crate::steps::{Failed, Steps, seconds};
use machines::{ARM64, MACHINES, Machine};
use programs::EVERYWHERE;
use targets::{TARGETS, Target, Tested};

/// The folder of everything of other systems.
const FOLDER: &str = "target/elsewhere";

/// A row of the table that is printed: what was done; what came of it; the time.
type Row = [String; 3];

/// Does all that is for each target and each machine whose name contains `name`, and prints a table
/// of it.
pub(crate) fn run(steps: &mut Steps, name: &str) -> Result<(), Failed> {
    let (targets, machines) = chosen(name);
    if targets.is_empty() && machines.is_empty() {
        let known = TARGETS.map(|target| target.triple).join(", ");
        let machines = MACHINES.map(|machine| machine.name).join(", ");
        let why = format!("none contains `{name}`; there are {known}; machines: {machines}");
        return Err(Failed::new("targets", why));
    }
    let (mut rows, mut outcomes) = (Vec::new(), Vec::new());
    for target in targets {
        outcomes.push(compile(steps, target, &mut rows));
        if target.triple == targets::ARM64.triple {
            outcomes.push(count(steps, &mut rows));
        }
        if target.emulator().is_some() || matches!(target.tested, Tested::Here | Tested::Wine) {
            outcomes.push(test(steps, target, &mut rows));
        }
    }
    for machine in &machines {
        outcomes.push(boot(steps, machine, &mut rows));
    }
    if machines.iter().any(|machine| machine.name == ARM64.name) {
        outcomes.push(lose(steps, &mut rows));
    }
    println!("\n| what | outcome | took |\n|---|---|---|");
    for [what, outcome, took] in rows {
        println!("| {what} | {outcome} | {took} |");
    }
    Failed::all(outcomes)
}

/// Returns the targets and the machines with this name, or, where none has it, those whose names
/// contain it. The machines of a target are chosen with it.
fn chosen(name: &str) -> (Vec<&'static Target>, Vec<&'static Machine>) {
    if let Some(machine) = MACHINES.iter().find(|machine| machine.name == name) {
        return (Vec::new(), vec![machine]);
    }
    let machines = MACHINES
        .iter()
        .filter(|machine| machine.name.contains(name) || machine.target.triple.contains(name));
    (TARGETS.iter().filter(|target| target.triple.contains(name)).collect(), machines.collect())
}

/// Runs what shows most in the shortest time: arm64 in its machine. Left out on a system without
/// Debian's packages; there a container can run it.
pub(crate) fn first(steps: &mut Steps) -> Result<(), Failed> {
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !cfg!(target_arch = "x86_64") || !system.lines().any(|line| line == "ID=debian") {
        steps.leave_out("machine arm64", "its parts are packages of Debian's, on x86-64");
        return Ok(());
    }
    boot(steps, &ARM64, &mut Vec::new())
}

/// Compiles everything for a target, as far as its types.
fn compile(steps: &mut Steps, target: &Target, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let shown = format!("cargo check --target {}: library, tests, integrations", target.triple);
    step(steps, rows, &format!("{}, compiled", target.triple), &shown, |root, folder| {
        target.prepare(folder)?;
        target.check(root, folder)?;
        let lacks = target.lacks();
        Ok(if lacks.is_empty() { "yes".to_owned() } else { format!("not {}", lacks.join(", ")) })
    })
}

/// Runs tests on this machine's kernel.
fn test(steps: &mut Steps, target: &Target, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let by = target.emulator().map_or("", |(emulator, _)| emulator);
    let by = if target.tested == Tested::Wine { "wine" } else { by };
    let shown = format!("{by} {}", programs::distinct(&EVERYWHERE).join(" "));
    step(steps, rows, &format!("{}, run", target.triple), shown.trim(), |root, folder| {
        let passed = programs::run(target, folder, root, &EVERYWHERE)?;
        Ok(format!("{passed} tests passed"))
    })
}

/// Counts the instructions of the hot paths on arm64.
fn count(steps: &mut Steps, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let shown = "rustc --emit asm xtask/hot_path.rs";
    step(steps, rows, "aarch64-unknown-linux-gnu, instructions", shown, |root, folder| {
        targets::ARM64.prepare(folder)?;
        arm64::read(&targets::ARM64.assembly(root, folder)?)
    })
}

/// Runs tests in a machine.
fn boot(steps: &mut Steps, machine: &Machine, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let shown = format!("a machine of {} processors", machine.processors);
    step(steps, rows, &format!("machine {}", machine.name), &shown, |root, folder| {
        let (passed, system) = machine::run(machine, root, folder)?;
        Ok(format!("{passed} tests passed; {system}"))
    })
}

/// Runs the control, which must lose counts.
fn lose(steps: &mut Steps, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let shown = "the same without arming sequences, which must lose counts";
    step(steps, rows, "machine arm64, control", shown, |root, folder| {
        let lost = control::run(root, folder)?;
        Ok(format!("{lost} counts lost, as they must be"))
    })
}

/// Does a step, and adds its row.
fn step(
    steps: &mut Steps,
    rows: &mut Vec<Row>,
    name: &str,
    shown: &str,
    body: impl FnOnce(&Path, &Path) -> Result<String, String>,
) -> Result<(), Failed> {
    let (begin, root) = (Instant::now(), steps.root().to_owned());
    let mut told = "FAILED".to_owned();
    let outcome = steps.step(name, shown, || {
        told = body(&root, &root.join(FOLDER))?;
        println!("    {told}");
        Ok(())
    });
    rows.push([name.to_owned(), told, seconds(begin.elapsed())]);
    outcome
}

#[cfg(test)]
mod tests;
