//! The expected counts beside the counted ones.

use std::fmt::Write;
use std::process::ExitCode;

use crate::display::{grouped, say};

/// One number, counted twice.
pub(crate) struct Row {
    pub(crate) name: String,
    /// The expected number, counted by the code that did the work.
    pub(crate) expected: u64,
    /// The number that the library counted.
    pub(crate) counted: u64,
    /// True if the row counts adds; if not, it is compared, but no part of the total.
    pub(crate) is_adds: bool,
}

/// Prints the rows and, last, the share that was counted; fails if a row differs.
pub(crate) fn give(rows: &[Row]) -> ExitCode {
    say(&text(rows));
    ExitCode::from(u8::from(rows.iter().any(|row| row.expected != row.counted)))
}

fn text(rows: &[Row]) -> String {
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
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(expected: u64, counted: u64) -> Row {
        Row { name: "requests".to_owned(), expected, counted, is_adds: true }
    }

    #[test]
    fn equal_counts_succeed() {
        let rows = [row(1_234, 1_234), row(6, 6)];
        assert!(text(&rows).ends_with("\ncounted 1240 of 1240, lost 0\n"));
        assert_eq!(give(&rows), ExitCode::SUCCESS);
    }

    #[test]
    fn a_loss_fails_even_where_a_surplus_hides_it() {
        let rows = [row(5, 4), row(5, 6)];
        assert!(text(&rows).ends_with("\ncounted 10 of 10, lost 1\n"));
        assert_eq!(give(&rows), ExitCode::FAILURE);
    }
}
