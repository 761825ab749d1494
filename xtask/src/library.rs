//! The tests of the library: all of them, in two streams at a time.
//!
//! Half of the programs mostly wait: for children, for signals, for a compiler, for the end of a
//! torture. So they run beside those that compute, and beside the tests in the docs, which one core
//! compiles.

use crate::steps::{Failed, Steps};

/// Tests of the library.
const LIBRARY: &str = "test --package=windrow --features windrow/serde";

/// The programs that mostly wait: `refused`, `steady`, `storm`, `survival`, `torture`. Their
/// letters are easier to leave out than their names, so `serde` is with them.
const WAITING: &str = "--test=[r-t]*";
const COMPUTING: &str = "--lib --examples --test=[!r-t]*";

/// The numbers of histories and of rounds, and the seconds of tortures, before a change is sent.
const QUICK: [(&str, &str); 3] =
    [("PROPTEST_CASES", "64"), ("TEST_PERCENT", "30"), ("TORTURE_SECONDS", "0.1")];

/// Runs all tests, of histories and tortures fewer or shorter ones.
pub(crate) fn quick(steps: &mut Steps) -> Result<(), Failed> {
    steps.cargo("tests of the library, built", &format!("{LIBRARY} --tests --no-run"), &[])?;
    steps.beside(
        |steps| {
            let waiting = format!("{LIBRARY} {WAITING}");
            steps.cargo("tests of the library that wait", &waiting, &QUICK)
        },
        |steps| {
            steps.cargo("tests of the library", &format!("{LIBRARY} {COMPUTING}"), &QUICK)?;
            steps.cargo("tests in the library's docs", &format!("{LIBRARY} --doc"), &QUICK)
        },
    )
}

/// Runs the tests that [`quick`] cuts short, with their own numbers.
pub(crate) fn full(steps: &mut Steps) -> Result<(), Failed> {
    let tests = format!("{LIBRARY} --test exact --test oracle --test storm --test torture");
    steps.cargo("histories and tortures, in full", &tests, &[])
}
