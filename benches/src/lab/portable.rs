//! Parts that are not measured in rounds, once more for windrow with the portable strategy: in a
//! process of its own, which gets the name of the part and prints rows.

use std::env;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;
use windrow::diagnostics::{Strategy, strategy};

use super::Effort;
use super::subject::PORTABLE;

/// The contenders that a part measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// All of them.
    All,
    /// windrow alone: its rivals know no strategies.
    Windrow,
}

/// Returns the rows of `part` for windrow's portable strategy, where it is not the strategy of this
/// process; `name` is where a row has its contender's.
///
/// # Errors
/// If the process fails.
pub fn rows<R: DeserializeOwned>(
    part: &str,
    effort: Effort,
    name: fn(&mut R) -> &mut String,
) -> Result<Vec<R>, String> {
    if strategy() != Strategy::PerCore {
        return Ok(Vec::new());
    }
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["--portable-part", part]).env("WINDROW_STRATEGY", "portable");
    if effort == Effort::Quick {
        command.arg("--quick");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{part}, portable: {}", output.status));
    }
    let mut rows: Vec<R> =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{part}: {error}"))?;
    for row in &mut rows {
        PORTABLE.clone_into(name(row));
    }
    Ok(rows)
}
