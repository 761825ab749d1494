//! Memory that is never unmapped: pages of cells, and the columns that they are cut into.

pub(crate) mod column;
pub(crate) mod pages;
