//! Memory that is never unmapped: pages of cells, and the columns into which they are cut.

pub(crate) mod column;
pub(crate) mod pages;
