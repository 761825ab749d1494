//! The orders that no model can judge, each with the reason, and with another witness.

/// Why an order stands that no model misses.
pub(super) struct Excuse {
    /// The site, by name.
    pub(super) site: &'static str,
    /// What it is weakened to without any model noticing.
    pub(super) orders: &'static [&'static str],
    pub(super) why: &'static str,
    /// A file or folder of this workspace that vouches for it instead.
    pub(super) witness: &'static str,
}

impl Excuse {
    /// As the table has it.
    pub(super) fn text(&self) -> String {
        format!("{}; see {}", self.why, self.witness)
    }
}

pub(super) const EXCUSES: &[Excuse] = &[];
