//! What should have been counted beside what was.

use std::fmt::Write;
use std::process::ExitCode;

use crate::display;
use crate::numbers::grouped;

/// One number, counted twice.
pub(crate) struct Row {
    pub(crate) name: String,
    /// What the hand that did the work says.
    pub(crate) expected: u64,
    /// What the library says.
    pub(crate) counted: u64,
}

/// Prints the rows and, last, how much of it was counted; fails if a row differs.
pub(crate) fn give(rows: &[Row]) -> ExitCode {
    let mut text = format!("\n{:<24}{:>18}{:>18}\n", "", "own count", "windrow");
    for row in rows {
        let _ = writeln!(
            text,
            "{:<24}{:>18}{:>18}   {}",
            row.name,
            grouped(row.expected),
            grouped(row.counted),
            if row.expected == row.counted { "equal" } else { "DIFFERENT" },
        );
    }
    let expected: u64 = rows.iter().map(|row| row.expected).sum();
    let counted: u64 = rows.iter().map(|row| row.counted).sum();
    let lost: u64 = rows.iter().map(|row| row.expected.saturating_sub(row.counted)).sum();
    let _ = writeln!(text, "\ncounted {counted} of {expected}, lost {lost}");
    display::say(&text);
    ExitCode::from(u8::from(rows.iter().any(|row| row.expected != row.counted)))
}
