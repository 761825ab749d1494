//! The words of limits in the file, the decisions about calls, and their moments.

pub(crate) mod answer;
pub(crate) mod ends;
pub(crate) mod moment;
#[cfg(test)]
mod tests;
pub(crate) mod wide;
pub(crate) mod word;
