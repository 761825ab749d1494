//! The code that the examples share for reading a command line.

use std::ops::RangeInclusive;
use std::process::ExitCode;

use lexopt::{Parser, ValueExt};

/// Returns the number that follows an option.
pub(crate) fn number(
    arguments: &mut Parser,
    allowed: RangeInclusive<u64>,
) -> Result<u64, lexopt::Error> {
    arguments.value()?.parse_with(|digits| {
        let number = digits.parse().ok().filter(|number| allowed.contains(number));
        number.ok_or_else(|| format!("it must be from {} to {}", allowed.start(), allowed.end()))
    })
}

/// Prints one line to standard error that says what was wrong with the arguments.
pub(crate) fn refuse(program: &str, message: &str) -> ExitCode {
    eprintln!("{program}: {message}");
    ExitCode::from(2)
}
