//! The unusual changes of series: the past of each, its usual levels, and the changes of them.
//!
//! [`watch`] says how a change is found. It knows no window and no clock: it is fed with numbers.
//! [`past`] reads them from a window, and [`watches`] has a watch for each series.

// The watches of all series, and what they have found.
pub(crate) mod list;
pub(crate) mod past;
pub(crate) mod watched;
pub(crate) mod watches;

// A watch, and the counts that it keeps.
mod clumps;
mod counts;
mod recent;
mod record;
pub(crate) mod watch;

// The usual levels.
mod levels;

// The changes.
pub(crate) mod change;
mod changes;
pub(crate) mod evidence;
mod judge;

// Tests of all parts together.
#[cfg(test)]
mod tests;
