//! What the examples share of reading a command line.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::process::ExitCode;

/// The number that follows `option`.
pub(crate) fn number(
    option: &str,
    value: Option<OsString>,
    allowed: RangeInclusive<u64>,
) -> Result<u64, String> {
    let rule = format!("a whole number from {} to {}", allowed.start(), allowed.end());
    let value = value.ok_or_else(|| format!("{option} lacks its value, {rule}"))?;
    let number = value.to_str().and_then(|digits| digits.parse().ok());
    number
        .filter(|number| allowed.contains(number))
        .ok_or_else(|| format!("{option} {}: the value must be {rule}", quoted(&value)))
}

/// What to say of an argument that nobody knows.
pub(crate) fn unknown(argument: &OsStr) -> String {
    format!("unknown argument {}; --help lists what there is", quoted(argument))
}

/// An argument in quotes, on one line whatever it holds.
pub(crate) fn quoted(argument: &OsStr) -> String {
    format!("{:?}", argument.to_string_lossy())
}

/// Says on one line of standard error what was wrong with the arguments.
pub(crate) fn refuse(program: &str, message: &str) -> ExitCode {
    eprintln!("{program}: {message}");
    ExitCode::from(2)
}
