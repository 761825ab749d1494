//! The suites of steps: the checks after an edit, before sending it, before it goes in, and before
//! a release; and the torture.

use std::process::Command;

#[cfg(unix)]
use crate::platforms;
use crate::steps::{Failed, Steps};
use crate::strategies::WAYS;
use crate::{
    arrows, browser, cluster, instructions, integrations, litmus, models, names, orderings,
    portable, ports, twins, wild, words,
};

/// A rival that brings many crates with it.
const SENTINEL: &str = "windrow-benches/sentinel";

/// Layers for HTTP, and theirs.
const HTTP: &str = "windrow-benches/http";

/// Limiters beside gates.
const LIMITS: &str = "windrow-benches/limits";

/// Ways to find heavy keys.
const HEAVY: &str = "windrow-benches/heavy";

/// Pushes to a collector beside the SDK's, and counters with labels.
const PUSH_AND_LABELS: &str = "windrow-benches/push,windrow-benches/labels";

/// The features of packages beyond their defaults.
const FEATURES: &str = "windrow/serde,windrow-tower/json";

/// The lints of an ordinary build.
const CLIPPY: [&str; 3] = ["clippy", "--workspace", "--all-targets"];

/// The lints of what [`test()`] builds.
const CLIPPY_OF_LIBRARY: [&str; 5] = [
    "clippy",
    "--package=windrow",
    "--package=windrow-testkit",
    "--package=xtask",
    "--all-targets",
];

/// The arguments by which clippy's warnings are errors.
const STRICT: [&str; 3] = ["--", "-D", "warnings"];

/// Tests of the library.
const LIBRARY: [&str; 4] = ["test", "--package=windrow", "--features", "windrow/serde"];

/// All of them but those in the docs: of libraries, programs and examples, those that have tests.
const ALL: &str = "--tests";

/// Runs the checks for after each edit.
pub(crate) fn check(steps: &mut Steps) -> Result<(), Failed> {
    format_and_lints(steps, &CLIPPY)?;
    let tests = ["test", "--package", "windrow", "--lib", "--test", "contract"];
    steps.cargo("unit and contract tests", &tests, &[])?;
    let beside: Vec<String> = integrations::arguments(steps.root()).collect();
    let mut tests = vec!["test", "--lib", "--tests"];
    tests.extend(beside.iter().map(String::as_str));
    steps.cargo("tests of what stands beside the library", &tests, &[])
}

/// Runs the steps for a contributor before sending a change, the quick ones first: of the library.
pub(crate) fn test(steps: &mut Steps) -> Result<(), Failed> {
    format_and_lints(steps, &CLIPPY_OF_LIBRARY)?;
    let docs = ["doc", "--package", "windrow", "--no-deps", "--all-features"];
    steps.cargo("docs", &docs, &[("RUSTDOCFLAGS", "-D warnings")])?;
    steps.cargo("tests of the library", &[&LIBRARY[..], &[ALL]].concat(), &[])?;
    steps.cargo("tests in its docs", &[&LIBRARY[..], &["--doc"]].concat(), &[])
}

/// Runs the further steps that must pass before a change goes in, beside [`test()`].
pub(crate) fn ci(steps: &mut Steps) -> Result<(), Failed> {
    let features = [SENTINEL, HTTP, LIMITS, HEAVY, FEATURES].join(",");
    let clippy = [&CLIPPY[..], &["--features", &features], &STRICT].concat();
    steps.cargo("lints, with all rivals and features", &clippy, &[])?;
    let beside = |more: &[&'static str]| [&integrations::BESIDE[..], more].concat();
    steps.cargo("tests beside the library", &beside(&[ALL]), &[])?;
    steps.cargo("tests that wait", &beside(&integrations::WAITING), &[])?;
    steps.cargo("tests in docs beside the library", &beside(&["--doc"]), &[])?;
    instructions::run(steps, false)?;
    litmus::quick(steps)?;
    models::lint(steps)?;
    models::first(steps)?;
    models::rest(steps)?;
    twins::first(steps)?;
    orderings::check(steps)?;
    cluster::run(steps, false)?;
    integrations::natives(steps)?;
    browser::run(steps)?;
    #[cfg(unix)]
    platforms::first(steps)?;
    Ok(())
}

fn format_and_lints(steps: &mut Steps, clippy: &[&str]) -> Result<(), Failed> {
    arrows::run(steps)?;
    names::run(steps)?;
    words::run(steps, "")?;
    steps.cargo("format", &["fmt", "--all", "--", "--check"], &[])?;
    steps.cargo("lints", &[clippy, &STRICT].concat(), &[])
}

/// Runs the steps that take longer: hours on two cores, most of them for the weakened orders.
pub(crate) fn verify(steps: &mut Steps) -> Result<(), Failed> {
    let private =
        ["doc", "--workspace", "--no-deps", "--features", FEATURES, "--document-private-items"];
    steps.cargo("docs, private items too", &private, &[])?;
    portable::linked_statically(steps)?;
    models::run(steps, "")?;
    twins::run(steps, "")?;
    promela(steps)?;
    models::shuttle(steps, Some(100_000))?;
    let features = [PUSH_AND_LABELS, LIMITS].join(",");
    let clippy = ["clippy", "--package", "windrow-benches", "--bins", "--features", &features];
    steps.cargo("lints of pushes and labels", &[&clippy[..], &STRICT].concat(), &[])?;
    models::lint_random(steps)?;
    let features = [SENTINEL, LIMITS, HEAVY].join(",");
    let rivals = ["test", "--package", "windrow-benches", "--features", &features];
    steps.cargo("tests of the lab, with all rivals", &rivals, &[])?;
    ports::run(steps, &["--quick".into()])?;
    torture(steps, 60)?;
    litmus::run(steps, "60")?;
    litmus::soak(steps, 10)?;
    wild::run(steps)?;
    #[cfg(unix)]
    platforms::run(steps, "")?;
    orderings::run(steps, "")
}

/// The Promela model of the rotation, in every configuration, and with every seeded bug.
fn promela(steps: &mut Steps) -> Result<(), Failed> {
    let program = steps.root().join("docs/promela/run");
    steps.step("promela", "docs/promela/run", || {
        let status = Command::new(program).status();
        let status = status.map_err(|error| format!("cannot run it: {error}"))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    })
}

/// The tests that interrupt and race threads, for longer than in `test`, in each strategy.
pub(crate) fn torture(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let (time, cases) = (seconds.to_string(), (seconds * 50).to_string());
    let longer = [("WINDROW_TORTURE_SECONDS", time.as_str()), ("PROPTEST_CASES", cases.as_str())];
    let tests = ["test", "--release", "--package", "windrow", "--test"];
    let run = |steps: &mut Steps, test: &str, variables: &[(&str, &str)]| {
        let arguments = [&tests[..], &[test, "--", "--nocapture"]].concat();
        steps.cargo(&format!("{test}, for longer"), &arguments, variables)
    };
    run(steps, "torture", &longer)?;
    for (_, way) in WAYS {
        let variables = [&longer[..], &way].concat();
        run(steps, "storm", &variables)?;
        run(steps, "oracle", &variables)?;
    }
    Ok(())
}
