//! An order in the library, weakened.

use super::sites::Site;
use super::table::Row;

/// In the table, of an order without a model and without a reason.
pub(super) const SURVIVED: &str = "**nothing**";

/// In the table, before the number of the reason why no model notices.
pub(super) const REASON: &str = "reason ";

/// An order that is weaker than the one that stands there.
#[derive(Clone, Copy)]
pub(super) struct Mutant<'s> {
    pub(super) number: usize,
    pub(super) site: &'s Site,
    pub(super) order: &'static str,
}

impl Mutant<'_> {
    /// Returns the order in words. A Relaxed fence is no fence.
    pub(super) fn order_in_words(&self) -> &'static str {
        if self.site.is_fence() && self.order == "Relaxed" { "no fence" } else { self.order }
    }

    /// Returns the reason why no model notices, by its number, if the table has one.
    pub(super) fn reason<'r>(&self, rows: &'r [Row]) -> Option<&'r str> {
        self.in_table(rows).filter(|shown_by| shown_by.starts_with(REASON))
    }

    /// Returns what the table says of it.
    pub(super) fn in_table<'r>(&self, rows: &'r [Row]) -> Option<&'r str> {
        let row = rows.iter().find(|row| self.is_in(row));
        row.map(|row| row.shown_by.as_str())
    }

    pub(super) fn is_in(&self, row: &Row) -> bool {
        row.site == self.site.to_string() && row.order == self.order_in_words()
    }

    /// Returns the new row of the table: the result of this run, or the earlier one.
    pub(super) fn row(&self, tried: &[Mutant<'_>], found: &[String], last: &[Row]) -> Row {
        let is_it = |other: &Mutant<'_>| other.number == self.number && other.order == self.order;
        let now = tried.iter().position(is_it).map(|index| found[index].as_str());
        let shown_by = now.or_else(|| self.in_table(last)).unwrap_or(SURVIVED);
        Row {
            site: self.site.to_string(),
            order: self.order_in_words().to_owned(),
            shown_by: shown_by.to_owned(),
        }
    }
}

/// Returns the mutants of each site.
pub(super) fn mutants(sites: &[Site]) -> Vec<Mutant<'_>> {
    let of = |(number, site): (usize, _)| {
        Site::weaker(site).iter().map(move |order| Mutant { number, site, order })
    };
    sites.iter().enumerate().flat_map(of).collect()
}
