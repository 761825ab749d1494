//! Virtual machines with kernels of Debian's, in which restartable sequences and barriers are real.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::apt::{self, Suite};
use super::disk::{self, ENDED, MOVED};
use super::machines::{Architecture, Machine};
use super::programs::{Built, Program, tests_passed};
use crate::copy;
use crate::sources;

/// The time without a word after which a machine is taken for dead. An emulated processor is some
/// thirty times slower, and what others run here slows it further.
const SILENCE: Duration = Duration::from_mins(15);

/// The number of processors that an emulated machine can start.
const MOST_ONLINE: u32 = 16;

/// The words of a machine.
pub(super) struct Report {
    said: String,
}

/// Runs the machine's programs. Returns the number of tests that have passed, and what it told.
pub(super) fn run(
    machine: &Machine,
    root: &Path,
    folder: &Path,
) -> Result<(usize, String), String> {
    prepare(machine, folder)?;
    let built = machine.target.build(root, folder, &folder.join("built"), machine.programs)?;
    let mut report = boot(machine, folder, &built)?;
    if !report.has_ended() {
        // A kernel dies under emulation at times, whatever runs in it. A program that ends it does
        // so again.
        println!("    {} went off too early, and boots once more", machine.name);
        report = boot(machine, folder, &built)?;
    }
    let passed = report.judge(machine)?;
    Ok((passed, report.told()))
}

/// Installs what the machine and its target need.
pub(super) fn prepare(machine: &Machine, folder: &Path) -> Result<(), String> {
    apt::install(&[machine.architecture.emulator, ["/usr/bin/cpio", "cpio"]])?;
    machine.target.prepare(folder)
}

/// Boots the machine with programs that are built, and returns what it says until it goes off.
pub(super) fn boot(machine: &Machine, folder: &Path, built: &Built) -> Result<Report, String> {
    let disk = disk::make(machine, folder, built)?;
    let kernel = unpacked_kernel(machine, folder)?;
    let log = disk.with_file_name("log");
    println!("    booting {}: see {}", machine.name, log.display());
    let child = copy::logged(&mut emulator(machine, &kernel, &disk), &log)?;
    let (mut length, mut heard) = (0, Instant::now());
    let is_silent = || {
        let now = fs::metadata(&log).map_or(length, |log| log.len());
        if now != length {
            (length, heard) = (now, Instant::now());
        }
        heard.elapsed() > SILENCE
    };
    let end = copy::ended(child, is_silent)?;
    let said = copy::read(&log)?.replace('\r', "");
    let silent = || format!("{} said nothing for {SILENCE:?} after\n{said}", machine.name);
    end.ok_or_else(silent)?;
    Ok(Report { said })
}

impl Report {
    /// Returns whether all programs have ended, in whatever way.
    fn has_ended(&self) -> bool {
        self.said.lines().any(|line| line.starts_with(ENDED))
    }

    /// Demands that each run has ended, with success and with tests, and that processors have come
    /// and gone if they were to. Returns the number of tests that have passed.
    fn judge(&self, machine: &Machine) -> Result<usize, String> {
        let wrong = |what: &str| Err(format!("{}: {what}\n{}", machine.name, self.said));
        let success = |program: &Program| program.name() + "=0";
        let ends: Vec<String> = machine.programs.iter().map(success).collect();
        match self.said.lines().rev().find_map(|line| line.strip_prefix(ENDED)) {
            None => return wrong("the machine went off before its programs had ended"),
            Some(codes) if codes.trim() != ends.join(" ") => {
                return wrong(&format!("exit codes{codes}"));
            }
            Some(_) => {}
        }
        if !self.said.contains(&format!("Linux {}.", machine.kernel.version)) {
            return wrong("another kernel has booted");
        }
        let mut passed = 0;
        for program in machine.programs {
            let count = tests_passed(self.of(&program.name()));
            if count == 0 {
                return wrong(&format!("{}: no test has passed", program.name()));
            }
            passed += count;
        }
        let moved = self.said.lines().find_map(|line| line.strip_prefix(MOVED)?.parse().ok());
        if machine.hotplug && moved.unwrap_or(0) < 10 {
            return wrong("too few processors were taken off and put back");
        }
        Ok(passed)
    }

    /// Returns what a run has said.
    pub(super) fn of(&self, name: &str) -> &str {
        let begin = self.said.split_once(&format!("--- {name}\n")).map_or("", |(_, rest)| rest);
        begin.split_once(&format!("\nexit {name} ")).map_or("", |(said, _)| said)
    }

    /// Returns the exit code of a run that has ended.
    pub(super) fn code(&self, name: &str) -> Option<u8> {
        let begins = format!("exit {name} ");
        self.said.lines().find_map(|line| line.strip_prefix(&begins)?.parse().ok())
    }

    /// Returns the lines in which the machine told its kernel and its processors, and the first in
    /// which a torture told what has interrupted its sequences.
    fn told(&self) -> String {
        let first = |begin: &str| self.said.lines().find(|line| line.starts_with(begin));
        let lines = [first("Linux "), first(MOVED), first("PerCore: ")];
        lines.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// Unpacks the kernel; returns its file.
fn unpacked_kernel(machine: &Machine, folder: &Path) -> Result<PathBuf, String> {
    let suite = machine.kernel.suite;
    let debian = machine.architecture.debian;
    let package = format!("linux-image-cloud-{debian}");
    let boot = folder.join(format!("kernel-{suite}-{debian}")).join("boot");
    let found = || {
        let all = sources::all(&boot).unwrap_or_default();
        let kernel = all.into_iter().rfind(|file| file.starts_with("vmlinuz-"));
        kernel.map(|file| boot.join(file))
    };
    if found().is_none() {
        let unpacked = boot.parent().ok_or("a folder is in a folder")?;
        Suite::open(folder, suite, debian)?.unpack(&package, unpacked)?;
        // Its modules are not needed.
        let _ = fs::remove_dir_all(unpacked.join("lib/modules"));
        let _ = fs::remove_dir_all(unpacked.join("usr/lib/modules"));
    }
    found().ok_or(format!("{package} of {suite} has no kernel"))
}

/// Returns the command that boots it.
fn emulator(machine: &Machine, kernel: &Path, disk: &Path) -> Command {
    let Architecture { emulator: [program, _], board: [board, processor], words, .. } =
        machine.architecture;
    let mut command = Command::new(program);
    command.args(["-M", board, "-cpu", processor, "-accel", "tcg,thread=multi", "-m", "3G"]);
    command.args(["-smp", &machine.processors.to_string()]);
    command.arg("-kernel").arg(kernel).arg("-initrd").arg(disk);
    // A kernel that finds itself slow has nothing to say.
    let quiet = "panic=-1 quiet loglevel=1 nowatchdog rcupdate.rcu_cpu_stall_suppress=1";
    // More do not start under emulation: the kernel dies while it patches its own code. The others
    // are present, and the library counts them.
    let online = machine.processors.min(MOST_ONLINE);
    command.args(["-append", &format!("{words} {quiet} maxcpus={online}")]);
    command.args(["-nographic", "-no-reboot", "-nic", "none"]);
    command
}

#[cfg(test)]
mod tests {
    use super::super::machines::{HOTPLUG, TORTURED};
    use super::super::programs::all;
    use super::*;

    const TWO: Machine = Machine { programs: &[TORTURED, all("contract")], ..HOTPLUG };

    const SAID: &str = "Linux 6.12.1, 4 processors\n--- torture\ntest result: ok. 3 passed; 0\n\n\
                        exit torture 0\n--- contract\ntest result: ok. 2 passed; 0\n\nexit contract 0\n\
                        processors off and on: 70\nended: torture=0 contract=0\n";

    fn judged(from: &str, to: &str) -> Result<usize, String> {
        assert!(SAID.contains(from));
        Report { said: SAID.replace(from, to) }.judge(&TWO)
    }

    #[test]
    fn a_machine_whose_programs_all_pass_passes() {
        assert_eq!(judged("", ""), Ok(5));
        let report =
            Report { said: format!("BIOS\n{SAID}PerCore: 9 added, 3 sequences aborted\n") };
        let told = "Linux 6.12.1, 4 processors; processors off and on: 70; PerCore: 9 added, 3 \
                    sequences aborted";
        assert_eq!(report.told(), told);
    }

    #[test]
    fn a_machine_that_went_off_too_early_has_not_ended() {
        let report = |said: &str| Report { said: said.to_owned() };
        assert!(report(SAID).has_ended());
        assert!(!report(SAID.split("ended:").next().unwrap_or_default()).has_ended());
    }

    #[test]
    fn each_run_must_end_with_success_and_with_tests() {
        for (from, to) in [
            ("contract=0", "contract=101"),
            ("ended: torture=0 contract=0\n", ""),
            ("ended: torture=0 ", "ended: "),
            ("ok. 2 passed", "ok. 0 passed"),
            ("ok. 3 passed", "FAILED. 3 passed"),
            ("exit torture 0", "exit"),
            ("6.12.1", "6.1.2"),
            (": 70", ": 7"),
            ("processors off and on", "processors"),
        ] {
            assert!(judged(from, to).is_err(), "{from} -> {to}");
        }
    }
}
