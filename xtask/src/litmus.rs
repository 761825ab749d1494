//! The litmus programs and the soak: binaries of `windrow-litmus`.

use crate::steps::{Failed, Steps};
use crate::strategies::WAYS;

const BINARY: &str = "run --release --package windrow-litmus --bin";

/// Runs all litmus programs for a few seconds in all: long enough for most mistakes.
pub(crate) fn quick(steps: &mut Steps) -> Result<(), Failed> {
    run(steps, "0.2")
}

/// Runs all litmus programs, each for `seconds` seconds in each strategy.
pub(crate) fn run(steps: &mut Steps, seconds: &str) -> Result<(), Failed> {
    let arguments = format!("{BINARY} litmus -- --seconds {seconds}");
    steps.cargo("litmus programs", &arguments, &[])
}

/// Runs the soak, for `minutes` minutes in each strategy.
pub(crate) fn soak(steps: &mut Steps, minutes: u64) -> Result<(), Failed> {
    let arguments = format!("{BINARY} soak -- --minutes {minutes}");
    let mut ways = WAYS.into_iter();
    ways.try_for_each(|(name, way)| steps.cargo(&format!("soak, {name}"), &arguments, &way))
}
