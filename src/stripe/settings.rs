//! Environment variables that change the choice of a strategy, and one line on standard error about
//! those that are misspelt.

use std::env;

use complaint::Complaint;
use values::{LEASES, NAMES, ROWS, leases, number, wish};
pub(super) use values::{MOST_ROWS, STRATEGY, Wish};

mod complaint;
// One of two, with the same function.
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "settings/names_of_std.rs")]
mod names;
mod stderr;
mod values;

/// The values of the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) wish: Wish,
    /// From 1 to [`MOST_ROWS`].
    pub(super) most_rows: Option<usize>,
    pub(super) leases: Option<bool>,
}

impl Settings {
    /// Reads the variables. A value that a variable cannot have counts as none, but a number of
    /// rows that is too small or too great counts as the nearest one.
    pub(super) fn read() -> Settings {
        Settings {
            wish: value(STRATEGY, wish).unwrap_or(Wish::Any),
            most_rows: value(ROWS, number).map(|rows| rows.clamp(1, MOST_ROWS)),
            leases: value(LEASES, leases),
        }
    }
}

/// Returns what the value of a variable means; `None` if there is no such variable.
fn value<T>(name: &str, meaning: fn(&[u8]) -> Option<T>) -> Option<T> {
    meaning(env::var_os(name)?.as_encoded_bytes())
}

/// Writes one line on standard error if a variable's name begins as those of the library do and is
/// none of them, or if the value of one is none of its values.
///
/// The first use of the library may be in an allocator, or while the thread writes to standard
/// error. So the line goes there by one call of the system, past the lock of `std`.
pub(super) fn complain() {
    let mut complaint = Complaint::new();
    for (which, name) in NAMES.into_iter().enumerate() {
        if let Some(value) = env::var_os(name) {
            complaint.look_at_value(which, value.as_encoded_bytes());
        }
    }
    names::each(&mut |name| complaint.look_at_name(name));
    if let Some(line) = complaint.line() {
        stderr::write(line);
    }
}
