//! The tables of what exporters can do: `benches/exporters` asks each of them.
//!
//! The package is not of the workspace: it has the exporters of others with all their features,
//! some three hundred crates, of which one is built by protoc.

use crate::sanitizers::needs;
use crate::steps::{Failed, Steps};

const MANIFEST: [&str; 2] = ["--manifest-path", "benches/exporters/Cargo.toml"];

/// The place of its builds.
const BUILT: (&str, &str) = ("CARGO_TARGET_DIR", "target/exporters");

/// Compares the tables of `integrations/exporters.md` with what the probes find, or writes them.
pub(crate) fn run(steps: &mut Steps, write: bool) -> Result<(), Failed> {
    let name = "exporters by features";
    if let Err(why) = needs("protoc", &["--version"]) {
        steps.leave_out(name, &why);
        return Ok(());
    }
    let option: &[&str] = if write { &["--", "--write"] } else { &[] };
    steps.cargo(name, &[&["run", "--locked"], &MANIFEST[..], option].concat(), &[BUILT])
}

/// Checks format and lints of the probes, which are not of the workspace; then [`run`].
pub(crate) fn whole(steps: &mut Steps) -> Result<(), Failed> {
    let format = [&["fmt"], &MANIFEST[..], &["--", "--check"]].concat();
    steps.cargo("format of the probes", &format, &[])?;
    run(steps, false)?;
    if needs("protoc", &["--version"]).is_err() {
        return Ok(());
    }
    let clippy = [&["clippy", "--locked"], &MANIFEST[..], &["--", "-D", "warnings"]].concat();
    steps.cargo("lints of the probes", &clippy, &[BUILT])
}
