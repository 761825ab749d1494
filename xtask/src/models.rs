//! The models, under loom and under shuttle: over the reclaimers, and over the per-core strategy.
//! (On real threads they are an ordinary test.)
//!
//! The checkers are switched on by a flag that every crate sees. Builds of another flag have a
//! target directory of their own, or each call would rebuild what the last one built. What models
//! run over is a feature of the packages that are built for it, and all that is below them is built
//! once.

use crate::steps::{Failed, Steps};

/// A way to build the library for models.
pub(crate) struct Build {
    /// The name of the build.
    pub(crate) name: &'static str,
    /// The value of `RUSTFLAGS`.
    pub(crate) flags: &'static str,
    /// The target directory, from the workspace's root.
    pub(crate) target: &'static str,
    /// Cargo's arguments that choose its tests.
    tests: &'static str,
    /// The feature that says what models run over.
    feature: &'static str,
}

/// All models, over what a feature says.
const fn models(
    name: &'static str,
    [flags, target]: [&'static str; 2],
    feature: &'static str,
) -> Build {
    let tests = "--package=windrow-loom-tests --profile=loom --test models";
    Build { name, flags, target, tests, feature }
}

/// The flags for every crate of a model under loom, and the target directory.
const LOOM: [&str; 2] = ["--cfg loom --cfg crossbeam_loom", "target/loom"];

/// Those under shuttle.
const SHUTTLES: [&str; 2] = ["--cfg shuttle", "target/shuttle"];

/// Frees at once, and notices every later access.
pub(crate) const CHECKER: Build = models("checking reclaimer", LOOM, "checker");

/// The reclaimer that users get.
pub(crate) const EPOCH: Build = models("crossbeam-epoch", LOOM, "");

/// Restartable sequences, as steps with aborts between them.
pub(crate) const PER_CORE: Build = models("per-core strategy", LOOM, "per-core");

/// Leased rows and announced buckets, as where there are no restartable sequences; a barrier
/// interrupts each thread where it stands.
pub(crate) const ANNOUNCED: Build = models("portable strategy", LOOM, "announced");

/// Tests of the library itself, as users build it.
const fn no_model(name: &'static str, tests: &'static str) -> Build {
    Build { name, flags: "", target: "target", tests, feature: "" }
}

/// No model: real threads, under everything that interrupts them.
const TORTURE: Build = no_model("torture", "--package=windrow --test torture");

/// No model: the library's own tests.
const UNIT: Build = no_model("unit tests", "--package=windrow --lib");

/// Tests with threads of all kinds, on real threads.
const SURVIVAL: Build = no_model("survival", "--package=windrow --test survival");

/// Gates, on real threads.
const GATES: Build = no_model("gates", "--package=windrow --test gate");

/// Windows and counters, case by case.
const EXACT: Build = no_model("exact", "--package=windrow --test exact");

/// The builds of which one must notice a mistake.
pub(crate) const BUILDS: [&Build; 9] =
    [&CHECKER, &EPOCH, &PER_CORE, &ANNOUNCED, &TORTURE, &UNIT, &SURVIVAL, &GATES, &EXACT];

/// Random orders, over the checking reclaimer: shuttle does not see the other one's atomics.
const SHUTTLE: Build = models("shuttle", SHUTTLES, "checker");

/// Random orders, over the per-core strategy.
const SHUTTLE_PER_CORE: Build = models("shuttle, per-core strategy", SHUTTLES, "per-core");

/// Builds models and histories for shuttle, and runs each in `schedules` random orders.
pub(crate) fn shuttle(steps: &mut Steps, schedules: u64) -> Result<(), Failed> {
    let schedules = schedules.to_string();
    for build in [SHUTTLE, SHUTTLE_PER_CORE] {
        let variables = [&build.variables()[..], &[("WINDROW_SCHEDULES", &schedules)]].concat();
        let arguments = build.test("--test histories -- --nocapture");
        steps.cargo(&format!("models and histories, {}", build.name), &arguments, &variables)?;
    }
    Ok(())
}

/// Builds and runs the models whose paths begin with `filter`.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let builds = [CHECKER, EPOCH, PER_CORE, ANNOUNCED];
    builds.iter().try_for_each(|build| loom(steps, build, filter, &[]))?;
    loom(steps, &ANNOUNCED, filter, &[FENCED])
}

/// Those that take minutes, with a narrower bound.
const QUICK: (&str, &str) = ("WINDROW_QUICK", "1");

/// At most that number of preemptions, in all models.
const fn at_most(preemptions: &'static str) -> (&'static str, &'static str) {
    ("LOOM_MAX_PREEMPTIONS", preemptions)
}

/// With a fence in each add, in place of the barrier.
const FENCED: (&str, &str) = ("WINDROW_STRATEGY", "fenced");

/// The first round: all models over the checking reclaimer, which finds nearly every mistake, with
/// at most two preemptions. ([`run`] has all that each model allows.)
pub(crate) fn first(steps: &mut Steps) -> Result<(), Failed> {
    loom(steps, &CHECKER, "", &[QUICK, at_most("2")])
}

/// Runs models that the first round has left: over the per-core strategy with at most one
/// preemption; and over the portable one those that are about it. ([`run`] has those over
/// `crossbeam-epoch`, whose own steps are many.)
pub(crate) fn rest(steps: &mut Steps) -> Result<(), Failed> {
    loom(steps, &PER_CORE, "", &[QUICK, at_most("1")])?;
    loom(steps, &ANNOUNCED, "leases", &[QUICK])?;
    loom(steps, &ANNOUNCED, "announced", &[QUICK])?;
    loom(steps, &ANNOUNCED, "announced", &[QUICK, FENCED])
}

fn loom(
    steps: &mut Steps,
    build: &Build,
    filter: &str,
    variables: &[(&str, &str)],
) -> Result<(), Failed> {
    let arguments = build.test(&format!("-- --nocapture {filter}"));
    let variables = [&build.variables()[..], variables].concat();
    steps.cargo(&format!("models, {}", build.name), &arguments, &variables)
}

/// Lints what only a model's build compiles: the checking reclaimer, the strategy's stand-in and
/// the models themselves.
pub(crate) fn lint(steps: &mut Steps) -> Result<(), Failed> {
    lint_build(steps, "lints, loom", &CHECKER)?;
    lint_build(steps, "lints, loom, portable", &ANNOUNCED)
}

/// Lints the same under shuttle.
pub(crate) fn lint_random(steps: &mut Steps) -> Result<(), Failed> {
    lint_build(steps, "lints, shuttle", &SHUTTLE_PER_CORE)
}

fn lint_build(steps: &mut Steps, name: &str, build: &Build) -> Result<(), Failed> {
    let arguments = format!(
        "clippy --package=windrow-modelled --package=windrow-loom-tests \
         --features windrow-loom-tests/{} --lib --test models --test histories --profile=loom \
         -- -D warnings",
        build.feature
    );
    steps.cargo(name, &arguments, &build.variables())
}

impl Build {
    /// Returns cargo's arguments that build its tests, and run them with more arguments.
    pub(crate) fn test(&self, more: &str) -> String {
        format!("test {} --features={} {more}", self.tests, self.feature)
    }

    fn variables(&self) -> [(&'static str, &'static str); 2] {
        [("RUSTFLAGS", self.flags), ("CARGO_TARGET_DIR", self.target)]
    }
}

#[cfg(test)]
mod tests {
    const LIBRARY: &str = include_str!("../../Cargo.toml");
    const MODELLED: &str = include_str!("../../loom-tests/modelled/Cargo.toml");

    /// A dependency for models alone would still stand in the lock file of every user.
    #[test]
    fn the_library_names_no_model_checker() {
        let names = |line: &&str| {
            ["loom =", "shuttle ="].iter().any(|checker| line.starts_with(checker))
                || line.contains("\"loom\"")
        };
        assert_eq!(LIBRARY.lines().find(names), None);
    }

    #[test]
    fn models_build_on_what_the_library_depends_on() {
        let dependencies = |manifest: &'static str, end: &str| {
            let (_, all) = manifest.split_once("[dependencies]\n")?;
            let (all, _) = all.split_once(end)?;
            Some(all.lines().filter(|line| line.contains(" = ")).collect::<Vec<_>>())
        };
        let library = dependencies(LIBRARY, "[dev-dependencies]");
        assert_eq!(library, dependencies(MODELLED, "[target.'cfg(loom)'.dependencies]"));
        assert!(library.is_some());
    }
}
