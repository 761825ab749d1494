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

use crate::assembly::arm64;
use crate::steps::{Failed, Steps};
use machines::{ARM64, MACHINES, Machine};
use programs::EVERYWHERE;
use targets::{TARGETS, Target, Tested};

/// The folder of everything of other systems.
const FOLDER: &str = "target/elsewhere";

/// Does all that is for each target and each machine whose name contains `name`.
pub(crate) fn run(steps: &mut Steps, name: &str) -> Result<(), Failed> {
    let (targets, machines) = chosen(name);
    if targets.is_empty() && machines.is_empty() {
        let known = TARGETS.map(|target| target.triple).join(", ");
        let machines = MACHINES.map(|machine| machine.name).join(", ");
        let why = format!("none contains `{name}`; there are {known}; machines: {machines}");
        return Err(Failed::new("targets", why));
    }
    let mut outcomes = Vec::new();
    for target in targets {
        outcomes.push(compile(steps, target));
        if target.triple == targets::ARM64.triple {
            outcomes.push(count(steps));
        }
        if target.emulator().is_some() || matches!(target.tested, Tested::Here | Tested::Wine) {
            outcomes.push(test(steps, target));
        }
    }
    outcomes.extend(machines.iter().map(|machine| boot(steps, machine)));
    if machines.iter().any(|machine| machine.name == ARM64.name) {
        outcomes.push(lose(steps));
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
    boot(steps, &ARM64)
}

/// Compiles everything for a target, as far as its types.
fn compile(steps: &mut Steps, target: &Target) -> Result<(), Failed> {
    let shown = format!("cargo check --target {}: library, tests, integrations", target.triple);
    step(steps, &format!("{}, compiled", target.triple), &shown, |root, folder| {
        target.prepare(folder)?;
        target.check(root, folder)?;
        let lacks = target.lacks();
        Ok(if lacks.is_empty() { "all".to_owned() } else { format!("not {}", lacks.join(", ")) })
    })
}

/// Runs tests on this machine's kernel.
fn test(steps: &mut Steps, target: &Target) -> Result<(), Failed> {
    let shown = EVERYWHERE.map(|program| program.test).join(" ");
    step(steps, &format!("{}, run", target.triple), &shown, |root, folder| {
        let passed = programs::run(target, folder, root, &EVERYWHERE)?;
        Ok(format!("{passed} tests passed"))
    })
}

/// Counts the instructions of the hot paths on arm64.
fn count(steps: &mut Steps) -> Result<(), Failed> {
    let shown = "rustc --emit asm xtask/hot_path.rs";
    step(steps, "aarch64-unknown-linux-gnu, instructions", shown, |root, folder| {
        targets::ARM64.prepare(folder)?;
        arm64::read(&targets::ARM64.assembly(root, folder)?)
    })
}

/// Runs tests in a machine.
fn boot(steps: &mut Steps, machine: &Machine) -> Result<(), Failed> {
    let shown = format!("a machine of {} processors", machine.processors);
    step(steps, &format!("machine {}", machine.name), &shown, |root, folder| {
        let (passed, system) = machine::run(machine, root, folder)?;
        Ok(format!("{passed} tests passed; {system}"))
    })
}

/// Runs the control, which must lose counts.
fn lose(steps: &mut Steps) -> Result<(), Failed> {
    let shown = "the same without arming sequences, which must lose counts";
    step(steps, "machine arm64, control", shown, |root, folder| {
        let lost = control::run(root, folder)?;
        Ok(format!("{lost} counts lost, as they must be"))
    })
}

/// Does a step, and prints what came of it.
fn step(
    steps: &mut Steps,
    name: &str,
    shown: &str,
    body: impl FnOnce(&Path, &Path) -> Result<String, String>,
) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step(name, shown, || {
        println!("    {}", body(&root, &root.join(FOLDER))?);
        Ok(())
    })
}

#[cfg(test)]
mod tests;
