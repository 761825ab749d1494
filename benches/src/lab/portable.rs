//! Parts that are not measured in rounds, once more for windrow with the portable strategy: in a
//! process of its own, which gets the name of the part and prints rows.

use std::env;
use std::error::Error;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;
use windrow::diagnostics::{Strategy, strategy};

use super::Effort;
use super::subject::PORTABLE;
use crate::ours::{self, MakeRing};

/// The rings of that process: windrow's alone, since its rivals know no strategies.
pub const RINGS: [(&str, MakeRing); 1] = [(PORTABLE, ours::RINGS[0].1)];

/// Returns the rows of `part` for windrow's portable strategy, where it is not the strategy of this
/// process.
///
/// # Errors
/// If the process fails.
pub fn rows<R: DeserializeOwned>(part: &str, effort: Effort) -> Result<Vec<R>, Box<dyn Error>> {
    if strategy() != Strategy::PerCore {
        return Ok(Vec::new());
    }
    let mut command = Command::new(env::current_exe()?);
    command.args(["--portable-part", part]).env("WINDROW_STRATEGY", "portable");
    if effort == Effort::Quick {
        command.arg("--quick");
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{part}, portable: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
