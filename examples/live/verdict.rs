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
    /// Whether it counts adds; if not, it is compared, but no part of the total.
    pub(crate) is_adds: bool,
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
    let total = |of: fn(&Row) -> u64| rows.iter().filter(|row| row.is_adds).map(of).sum::<u64>();
    let expected = total(|row| row.expected);
    let counted = total(|row| row.counted);
    let lost = total(|row| row.expected.saturating_sub(row.counted));
    let _ = writeln!(text, "\ncounted {counted} of {expected}, lost {lost}");
    display::say(&text);
    ExitCode::from(u8::from(rows.iter().any(|row| row.expected != row.counted)))
}
