//! The page that says where the library is tested has the tables of what the command does; and a
//! name chooses targets and machines.

use std::fmt::Write;

use super::*;
use programs::Program;

const PAGE: &str = "docs/guide/where-it-runs.md";

const THERE: &str = include_str!("../../../docs/guide/where-it-runs.md");

fn names(name: &str) -> (Vec<&str>, Vec<&str>) {
    let (targets, machines) = chosen(name);
    let triples = targets.iter().map(|target| target.triple);
    (triples.collect(), machines.iter().map(|machine| machine.name).collect())
}

#[test]
fn a_name_chooses_what_contains_it_or_one_machine() {
    let (targets, machines) = names("aarch64-unknown-linux");
    assert_eq!(targets, ["aarch64-unknown-linux-gnu"]);
    assert!(machines.contains(&"arm64") && !machines.contains(&"x86-64 16"));
    assert_eq!(names("arm64"), (vec![], vec!["arm64"]));
    assert_eq!(names("s390x"), (vec!["s390x-unknown-linux-gnu"], vec![]));
    let (targets, machines) = names("");
    assert_eq!((targets.len(), machines.len()), (TARGETS.len(), MACHINES.len()));
}

/// The ground for the last column of the table of platforms.
enum By {
    /// The tests run on the machine on which the project is made.
    Native,
    /// They run in these machines.
    Machines(&'static [&'static str]),
    /// They run, or are compiled, as for this target.
    Target(&'static str),
    /// They run on Linux with the strategy forced.
    Simulated,
}

/// The platforms, as the page names them.
const PLATFORMS: [(&str, By); 14] = [
    ("Linux x86-64, glibc 2.35, kernel 6.3 or newer", By::Native),
    ("Linux x86-64, kernel 5.10 to 6.2", By::Machines(&["x86-64 5.10"])),
    ("Linux x86-64, kernel 4.14 to 5.9", By::Simulated),
    ("Linux arm64, glibc 2.35, kernel 6.3 or newer", By::Machines(&["arm64", "arm64 exact"])),
    ("Linux arm64, kernel 5.10 to 6.2", By::Machines(&["arm64 6.1"])),
    ("Linux x86-64, older glibc, or a sandbox that refuses sequences", By::Simulated),
    ("Linux x86-64, musl", By::Target("x86_64-unknown-linux-musl")),
    ("Linux arm64, older glibc or musl", By::Target("aarch64-unknown-linux-gnu")),
    ("Linux on any other processor", By::Target("s390x-unknown-linux-gnu")),
    ("Windows", By::Target("x86_64-pc-windows-gnu")),
    ("macOS x86-64", By::Simulated),
    ("macOS arm64", By::Target("aarch64-apple-darwin")),
    ("Linux x86-64 without `membarrier`, FreeBSD x86-64", By::Target("x86_64-unknown-freebsd")),
    ("every other platform with std", By::Simulated),
];

/// Returns the word for a platform in the table's last column.
fn word(by: &By) -> &'static str {
    let tested = |triple: &&str| TARGETS.iter().find(|target| target.triple == *triple);
    match by {
        By::Native => "yes",
        By::Simulated => "simulated on Linux",
        By::Machines(names) => {
            let there = |name: &&str| MACHINES.iter().any(|machine| machine.name == *name);
            if names.iter().all(there) { "in a virtual machine" } else { "no" }
        }
        By::Target(triple) => match tested(triple).map(|target| target.tested) {
            Some(Tested::Here) => "yes",
            Some(Tested::Machine | Tested::Emulated) => "emulated",
            Some(Tested::Wine) => "under wine",
            Some(Tested::No) => "simulated on Linux, compiled",
            None => "no",
        },
    }
}

/// Returns the tables of targets and of machines, as the page has them.
fn tables() -> String {
    let mut text = String::from("| target | compiled | tests run |\n|---|---|---|\n");
    for target in &TARGETS {
        let run = match target.tested {
            Tested::Machine if target.cross.is_none() => "in virtual machines",
            Tested::Machine => "emulated; in virtual machines",
            Tested::Emulated => "emulated",
            Tested::Here => "yes",
            Tested::Wine => "under wine",
            Tested::No => "-",
        };
        let without = match (target.lacks(), target.tests_compile()) {
            ([], _) => "all",
            (_, true) => "without `windrow-process`",
            (_, false) if target.tested == Tested::No => "without tests and servers",
            (_, false) => "without what needs 64-bit atomics",
        };
        let _ = writeln!(text, "| `{}` | {without} | {run} |", target.triple);
    }
    text.push_str("\n| virtual machine | kernel | processors | tests |\n|---|---|---|---|\n");
    for machine in &MACHINES {
        let runs: Vec<String> = machine.programs.iter().map(Program::name).collect();
        let Machine { name, processors, .. } = machine;
        let _ = writeln!(
            text,
            "| {name} | {} | {processors} | {} |",
            machine.kernel.version,
            runs.join(", ")
        );
    }
    text
}

/// Demands that a page says what the command does.
fn judge(page: &str) -> Result<(), String> {
    for (platform, by) in &PLATFORMS {
        let begins = format!("| {platform} |");
        let line = page.lines().find(|line| line.starts_with(&begins));
        let line = line.ok_or_else(|| format!("{PAGE} has no row `{platform}`"))?;
        let ends = format!(" | {} |", word(by));
        if !line.ends_with(&ends) {
            return Err(format!("{PAGE}: the row `{platform}` must end with `{ends}`"));
        }
    }
    let rows = page.split_once("tested there? |\n").map_or("", |(_, rest)| rest);
    let rows = rows.lines().take_while(|line| line.starts_with('|')).count() - 1;
    if rows != PLATFORMS.len() {
        return Err(format!("{PAGE} has {rows} platforms, where {} are known", PLATFORMS.len()));
    }
    let tables = tables();
    if page.contains(&tables) {
        Ok(())
    } else {
        Err(format!("{PAGE} must have these tables:\n\n{tables}"))
    }
}

#[test]
fn the_page_says_what_the_command_does() {
    assert_eq!(judge(THERE), Ok(()));
}

#[test]
fn a_page_that_says_otherwise_is_refused() {
    let s390x = "| `s390x-unknown-linux-gnu` | all | emulated |";
    for (from, to) in [
        (s390x, "| `s390x-unknown-linux-gnu` | all | yes |"),
        (s390x, ""),
        ("| under wine |\n", "| yes |\n"),
        (
            "| every other platform with std |",
            "| Redox | - | - | yes |\n| every other platform with std |",
        ),
    ] {
        assert!(THERE.contains(from), "{from}");
        assert!(judge(&THERE.replacen(from, to, 1)).is_err(), "{from} -> {to}");
    }
}
