//! The words of limits in the file, the decisions about calls, and their moments.

pub(crate) mod answer;
pub(crate) mod ends;
pub(crate) mod moment;
pub(crate) mod wide;
pub(crate) mod word;
