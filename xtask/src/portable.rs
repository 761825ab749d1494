//! The library's own tests in each strategy, and a program that is linked statically.

use crate::steps::{Failed, Steps, cargo};
use crate::strategies::WAYS;
use crate::tools::said;

/// Links a program with glibc's archives.
const STATIC: &str = "-C target-feature=+crt-static";

/// A race for a moment, of a program whose first line names its strategy. Flags reach no build
/// script where a target is named.
const LITMUS: &str = "run --quiet --package windrow-litmus --target x86_64-unknown-linux-gnu \
                      -- add_close --seconds 0.1 --trials=1000";

/// Runs the library's own tests, in each strategy. What only one system has, its tests leave out
/// elsewhere.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    for (name, way) in WAYS {
        let mut variables = way.to_vec();
        // By epochs, a bucket is closed only while no other thread is pinned. So that its numbers
        // are exact at once, one test runs at a time.
        if way.contains(&("WINDROW_STRATEGY", "epochs")) {
            variables.push(("RUST_TEST_THREADS", "1"));
        }
        let tests = "test --package windrow --all-features";
        let own = format!("{tests} --lib --tests --examples");
        steps.cargo(&format!("tests, {name}"), &own, &variables)?;
        steps.cargo(
            &format!("tests in the docs, {name}"),
            &format!("{tests} --doc"),
            &variables,
        )?;
    }
    Ok(())
}

/// Runs a statically linked litmus program, which counts in the same way as a dynamic one.
///
/// Without a table of symbols, glibc's restartable sequences are found by the linker alone.
pub(crate) fn linked_statically(steps: &mut Steps) -> Result<(), Failed> {
    const STEP: &str = "linked statically";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        steps.leave_out(STEP, "restartable sequences are used with glibc on x86-64 alone");
        return Ok(());
    }
    let root = steps.root().to_owned();
    steps.step(STEP, &format!("RUSTFLAGS='{STATIC}' cargo {LITMUS}"), || {
        let [dynamic, linked] = ["", STATIC].map(|flags| {
            let mut command = cargo(&root);
            command.args(LITMUS.split_whitespace());
            command.env("RUSTFLAGS", flags).env("WINDROW_STRATEGY", "");
            said(&mut command).map(|said| said.lines().next().unwrap_or_default().to_owned())
        });
        let (dynamic, linked) = (dynamic?, linked?);
        println!("{linked}");
        if dynamic == linked { Ok(()) } else { Err(format!("{linked}; dynamically: {dynamic}")) }
    })
}
