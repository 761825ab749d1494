//! The unusual changes of series: the past of each, its usual levels, and the changes of them.
//!
//! [`watch`] says how a change is found. It knows no window and no clock: it is fed with numbers.
//! [`past`] reads them from a window, and [`watches`] has a watch for each series.

pub(crate) mod change;
mod changes;
mod clumps;
mod course;
mod evidence;
mod judge;
pub(crate) mod keeper;
mod levels;
pub(crate) mod list;
mod minutes;
pub(crate) mod past;
mod recent;
mod record;
mod season;
mod seen;
pub(crate) mod settings;
#[cfg(test)]
mod tests;
mod usual;
pub(crate) mod watch;
pub(crate) mod watched;
pub(crate) mod watches;
pub(crate) mod what;
