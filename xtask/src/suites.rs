//! What belongs together: the quick half of all checks, the long half, and the torture.

use std::process::Command;

use crate::steps::{Failed, Steps};
use crate::{fuzz, instructions, litmus, models, mutants, orderings, sanitizers, twin};

/// A rival that brings many crates with it.
const SENTINEL: &str = "windrow-benches/sentinel";

/// Everything that must pass before a change goes in, the quick steps first.
pub(crate) fn test(steps: &mut Steps) -> Result<(), Failed> {
    const STRICT_DOCS: [(&str, &str); 1] = [("RUSTDOCFLAGS", "-D warnings")];
    steps.cargo("format", &["fmt", "--all", "--", "--check"], &[])?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--features", SENTINEL];
    steps.cargo("lints", &[&clippy[..], &["--", "-D", "warnings"]].concat(), &[])?;
    steps.cargo("docs", &["doc", "--workspace", "--no-deps"], &STRICT_DOCS)?;
    let private = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    steps.cargo("docs, private items too", &private, &[])?;
    let tests = ["test", "--workspace", "--lib", "--bins", "--tests", "--examples"];
    steps.cargo("unit, integration and example tests", &tests, &[])?;
    steps.cargo("tests in the docs", &["test", "--workspace", "--doc"], &[])?;
    litmus::quick(steps)?;
    instructions::run(steps, false)?;
    models::lint(steps)?;
    models::quick(steps)?;
    twin::run(steps, "")?;
    orderings::check(steps)
}

/// What takes longer: hours on two cores, most of them the mutants'.
pub(crate) fn verify(steps: &mut Steps) -> Result<(), Failed> {
    models::run(steps, "")?;
    promela(steps)?;
    models::shuttle(steps, Some(100_000))?;
    let rivals = ["test", "--package", "windrow-benches", "--features", SENTINEL];
    steps.cargo("tests of the lab, with all rivals", &rivals, &[])?;
    torture(steps, 60)?;
    litmus::run(steps, "60")?;
    litmus::soak(steps, 10)?;
    sanitizers::run(steps)?;
    fuzz::run(steps, 600)?;
    orderings::run(steps, "")?;
    mutants::run(steps, "")
}

/// The Promela model of the rotation, in every configuration, and with every seeded bug.
pub(crate) fn promela(steps: &mut Steps) -> Result<(), Failed> {
    let program = steps.root().join("docs/promela/run");
    steps.step("promela", "docs/promela/run", || {
        let status = Command::new(program).status();
        let status = status.map_err(|error| format!("cannot run it: {error}"))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    })
}

/// The tests that interrupt and race threads, for longer than in `test`, in both strategies.
pub(crate) fn torture(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let (time, cases) = (seconds.to_string(), (seconds * 50).to_string());
    let longer = [("WINDROW_TORTURE_SECONDS", time.as_str()), ("PROPTEST_CASES", cases.as_str())];
    let tests = ["test", "--release", "--package", "windrow", "--test"];
    let run = |steps: &mut Steps, test: &str, variables: &[(&str, &str)]| {
        let arguments = [&tests[..], &[test, "--", "--nocapture"]].concat();
        steps.cargo(&format!("{test}, for longer"), &arguments, variables)
    };
    run(steps, "torture", &longer)?;
    for strategy in ["", "portable"] {
        let variables = [&longer[..], &[("WINDROW_STRATEGY", strategy)]].concat();
        run(steps, "storm", &variables)?;
        run(steps, "oracle", &variables)?;
    }
    Ok(())
}
