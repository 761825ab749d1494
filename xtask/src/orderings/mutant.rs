//! An order in the library, weakened.

use super::sites::Site;
use super::table::Key;

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
    /// Returns the site and the order, as the table has them. A Relaxed fence is no fence.
    pub(super) fn key(&self) -> Key {
        let is_none = self.site.is_fence() && self.order == "Relaxed";
        let order = if is_none { "no fence" } else { self.order };
        (self.site.to_string(), order.to_owned())
    }
}

/// Returns the mutants of each site.
pub(super) fn mutants(sites: &[Site]) -> Vec<Mutant<'_>> {
    let of = |(number, site): (usize, _)| {
        Site::weaker(site).iter().map(move |order| Mutant { number, site, order })
    };
    sites.iter().enumerate().flat_map(of).collect()
}
