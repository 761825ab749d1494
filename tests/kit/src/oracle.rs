//! A window beside an oracle that is too simple to be wrong: both play the same histories, and must
//! give the same answers.

mod compare;
mod held_up;
mod model;
mod newest;
mod ops;
mod same;
mod seen;
mod spans;
mod tallies;
mod tier;

pub use compare::Pair;
pub use ops::{Geometry, Op, Plan, Time};
pub use seen::{EVENTS, Seen};
