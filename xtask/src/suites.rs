//! The suites of steps: the checks after an edit, before sending it, before it goes in, and before
//! a release; and the torture.

use std::process::Command;

use crate::beside::BESIDE;
#[cfg(unix)]
use crate::platforms;
use crate::steps::{Failed, Steps};
use crate::strategies::WAYS;
use crate::tools::succeeds;
use crate::{
    arrows, beside, instructions, integrations, interface, library, litmus, models, names,
    orderings, portable, twins, weight, wild, words,
};

/// The features of rivals, each of which brings many crates with it: Sentinel; layers for HTTP;
/// limiters beside gates; ways to find heavy keys.
const RIVALS: &str =
    "windrow-benches/sentinel,windrow-benches/http,windrow-benches/limits,windrow-benches/heavy";

/// The features of packages beyond their defaults.
const FEATURES: &str = "windrow/serde,windrow-tower/json";

/// The library's own features, of which each compiles alone, and the library without any.
const ALONE: [&str; 6] = ["", "export", "family", "heavy", "limits", "serde"];

/// The flags of docs by which a link that leads nowhere is an error.
const BROKEN: &str = "-D rustdoc::broken_intra_doc_links";

/// The lints of an ordinary build.
const CLIPPY: &str = "clippy --workspace --all-targets";

/// The arguments by which clippy's warnings are errors.
const STRICT: &str = "-- -D warnings";

/// Runs the checks for after each edit.
pub(crate) fn check(steps: &mut Steps) -> Result<(), Failed> {
    format_and_lints(steps, CLIPPY)?;
    let tests = "test --package windrow --lib --test contract";
    steps.cargo("unit and contract tests", tests, &[])?;
    let beside: Vec<String> = integrations::arguments(steps.root()).collect();
    let tests = format!("test --lib --tests {}", beside.join(" "));
    steps.cargo("tests of what stands beside the library", &tests, &[])
}

/// Runs the steps for a contributor before sending a change, the quick ones first: of the library.
pub(crate) fn test(steps: &mut Steps) -> Result<(), Failed> {
    let clippy = "clippy --package=windrow --package=xtask"; // those of the tests: `check`, `ci`
    format_and_lints(steps, clippy)?;
    interface::run(steps)?;
    library::quick(steps)
}

/// Runs the further steps that must pass before a change goes in, beside [`test()`].
pub(crate) fn ci(steps: &mut Steps) -> Result<(), Failed> {
    let clippy = format!("{CLIPPY} --features {FEATURES} {STRICT}");
    steps.cargo("lints, with all features", &clippy, &[])?;
    for feature in ALONE {
        let name = format!("lints, with no feature but `{feature}`");
        let clippy = "clippy --package windrow --lib --no-default-features --features";
        steps.cargo(&name, &format!("{clippy}={feature} {STRICT}"), &[])?;
    }
    library::full(steps)?;
    steps.cargo("tests beside the library", &format!("{BESIDE} --tests"), &[])?;
    steps.cargo("tests in docs beside the library", &format!("{BESIDE} --doc"), &[])?;
    let storm = format!("{BESIDE} --test mapped -- --ignored --nocapture");
    steps.cargo("a storm on a mapped file", &storm, &[("TORTURE_SECONDS", "20")])?;
    beside::storms(steps, 12)?;
    instructions::run(steps, false)?;
    litmus::quick(steps)?;
    steps.beside(waiting, |steps| {
        models::lint(steps)?;
        models::first(steps)?;
        models::rest(steps)?;
        twins::first(steps)
    })?;
    orderings::check(steps)?;
    #[cfg(unix)]
    platforms::first(steps)?;
    Ok(())
}

/// Runs the steps of `ci` that mostly wait: for a clock, for a server, for a browser.
fn waiting(steps: &mut Steps) -> Result<(), Failed> {
    steps.cargo("tests that wait", &format!("{BESIDE} --test console -- --ignored"), &[])?;
    beside::cluster(steps, false)?;
    beside::natives(steps)?;
    beside::browser(steps)
}

fn format_and_lints(steps: &mut Steps, clippy: &str) -> Result<(), Failed> {
    arrows::run(steps)?;
    names::run(steps)?;
    words::run(steps, "")?;
    steps.cargo("format", "fmt --all -- --check", &[])?;
    steps.cargo("lints", &format!("{clippy} {STRICT}"), &[])
}

/// Runs the steps that take longer: hours on two cores, most of them for the weakened orders.
pub(crate) fn verify(steps: &mut Steps) -> Result<(), Failed> {
    let private =
        format!("doc --workspace --no-deps --features {FEATURES} --document-private-items");
    steps.cargo("docs, private items too", &private, &[("RUSTDOCFLAGS", BROKEN)])?;
    // As docs.rs makes them: a link to what another package turns on in the library leads nowhere.
    let beside: Vec<String> = integrations::arguments(steps.root()).collect();
    for package in beside {
        let docs = format!("doc --no-deps --all-features {package}");
        steps.cargo("docs of one package", &docs, &[("RUSTDOCFLAGS", "-D warnings")])?;
    }
    portable::linked_statically(steps)?;
    weight::run(steps, 1)?;
    models::run(steps, "")?;
    twins::run(steps, "")?;
    let program = steps.root().join("docs/promela/run");
    steps.step("promela", "docs/promela/run", || succeeds(&mut Command::new(program)))?;
    models::shuttle(steps, 100_000)?;
    let clippy = format!("{CLIPPY} --features {RIVALS},{FEATURES} {STRICT}");
    steps.cargo("lints, with all rivals and features", &clippy, &[])?;
    let clippy = "clippy --package windrow-benches --bins --features push,limits";
    steps.cargo("lints of pushes", &format!("{clippy} {STRICT}"), &[])?;
    models::lint_random(steps)?;
    let rivals = "test --package windrow-benches --features sentinel,limits,heavy";
    steps.cargo("tests of the lab, with all rivals", rivals, &[])?;
    let mapped = "test --release --package windrow-mapped -- --ignored --nocapture";
    steps.cargo("mapped counters, for longer, and their twins", mapped, &[])?;
    beside::over_tls(steps)?;
    beside::storms(steps, 600)?;
    torture(steps, 60)?;
    litmus::run(steps, "60")?;
    litmus::soak(steps, 10)?;
    wild::run(steps)?;
    #[cfg(unix)]
    platforms::run(steps, "")?;
    orderings::run(steps, "")
}

/// The tests that interrupt and race threads, for longer than in `test`, in each strategy.
pub(crate) fn torture(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let (time, cases) = (seconds.to_string(), (seconds * 50).to_string());
    let longer = [("TORTURE_SECONDS", time.as_str()), ("PROPTEST_CASES", cases.as_str())];
    let run = |steps: &mut Steps, test: &str, variables: &[(&str, &str)]| {
        let arguments = format!("test --release --package windrow --test {test} -- --nocapture");
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

#[cfg(test)]
mod tests {
    use super::ALONE;

    #[test]
    fn each_feature_of_the_library_is_tried_alone() {
        let manifest = include_str!("../../Cargo.toml");
        let (_, features) = manifest.split_once("\n[features]\n").unwrap();
        let (features, _) = features.split_once("\n[").unwrap();
        let names =
            features.lines().filter_map(|line| line.split_once(" = [").map(|(name, _)| name));
        let mut names: Vec<_> = names.filter(|name| *name != "default").collect();
        names.push("");
        names.sort_unstable();
        assert_eq!(names, ALONE);
    }
}
