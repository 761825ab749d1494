//! Environment variables that are misspelt: the process says so in one line, and counts.

use std::process::{Child, Command, Stdio};
use std::{env, fs, thread};

use windrow::Counter;
use windrow::diagnostics::{Strategy, strategy};

/// Runs a test of this file in a process of its own, and returns what it has written on standard
/// error.
fn complaint(name: &str, variables: &[(&str, &str)], stderr: impl Into<Stdio>) -> String {
    let mut command = Command::new(env::current_exe().expect("a program"));
    command.args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"]);
    for known in ["WINDROW_STRATEGY", "WINDROW_ROWS", "WINDROW_LEASES"] {
        command.env_remove(known);
    }
    let child = command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(stderr);
    let output = child.spawn().and_then(Child::wait_with_output).expect("a process");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

fn lines(variables: &[(&str, &str)]) -> Vec<String> {
    let text = complaint("settings::counts_on_four_threads", variables, Stdio::piped());
    text.lines().filter(|line| line.starts_with("windrow")).map(str::to_owned).collect()
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counts_on_four_threads() {
    let hits = Counter::new();
    thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(|| hits.increment())));
    strategy();
    assert_eq!(hits.sum(), 4);
}

#[test]
fn variables_that_are_right_are_not_spoken_of() {
    assert_eq!(lines(&[]), [""; 0]);
    let right = [
        ("WINDROW_STRATEGY", "portable"),
        ("WINDROW_ROWS", "1"),
        ("WINDROW_LEASES", "off"),
        ("OTHER_WINDROW_ROWS", "x"),
    ];
    assert_eq!(lines(&right), [""; 0]);
    let empty = [("WINDROW_STRATEGY", ""), ("WINDROW_ROWS", ""), ("WINDROW_LEASES", "")];
    assert_eq!(lines(&empty), [""; 0]);
}

#[test]
fn a_misspelt_variable_is_named_in_one_line() {
    for (name, value) in [
        ("WINDROW_STRATGY", "portable"),
        ("WINDROW_STRATEGY", "portabel"),
        ("WINDROW_ROWS", "all"),
        ("WINDROW_ROWS", "0"),
        ("WINDROW_LEASES", "yes"),
        ("WINDROW_", ""),
    ] {
        let lines = lines(&[(name, value)]);
        assert!(lines.len() == 1 && lines[0].contains(name), "{lines:?}");
        assert!(name == "WINDROW_STRATGY" || lines[0].contains(value), "{lines:?}");
    }
    let both = lines(&[("WINDROW_STRATGY", "x"), ("WINDROW_LEASES", "\u{1b}[31m\nwindrow: fine")]);
    assert!(both.len() == 1 && both[0].contains("WINDROW_STRATGY"), "{both:?}");
    assert!(both[0].contains("WINDROW_LEASES") && !both[0].contains('\u{1b}'), "{both:?}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn the_best_is_chosen_all_the_same() {
    assert!(strategy() != Strategy::Epochs);
    assert_eq!(Counter::from(1).sum(), 1);
}

/// A line that cannot be written is left out.
#[test]
fn a_full_disk_stops_nothing() {
    let full = fs::File::options().write(true).open("/dev/full").expect("a device of Linux");
    let flaw = [("WINDROW_STRATEGY", "epoch")];
    assert_eq!(complaint("settings::the_best_is_chosen_all_the_same", &flaw, full), "");
}
