//! Fuzzing: random histories (`fuzz/`), for a given time.

use std::process::Command;

use crate::sanitizers::{needs, succeeds};
use crate::steps::{Failed, Steps};
use crate::strategies::WAYS;

/// Long histories from the beginning: short ones are soon exhausted.
const LIBFUZZER: [&str; 3] = ["-len_control=0", "-max_len=512", "-print_final_stats=1"];

/// Fuzzes each strategy for `seconds` seconds. New inputs are kept beside the builds, and the next
/// run begins with them; the few histories under `fuzz/corpus` are read and never written.
pub(crate) fn run(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let found = root.join("fuzz/target/found");
    for (name, way) in WAYS {
        let shown = format!("cargo fuzz run histories, {seconds} s");
        steps.step(&format!("fuzzing, {name}"), &shown, || {
            needs("rustup", &["run", "nightly", "cargo", "fuzz", "--version"])?;
            std::fs::create_dir_all(&found).map_err(|error| error.to_string())?;
            let mut command = Command::new("rustup");
            command.args(["run", "nightly", "cargo", "fuzz", "run", "histories"]);
            command.arg(&found).arg(root.join("fuzz/corpus/histories")).arg("--");
            command.arg(format!("-max_total_time={seconds}")).args(LIBFUZZER);
            succeeds(command.current_dir(&root).envs(way))
        })?;
    }
    Ok(())
}
