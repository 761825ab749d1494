#![doc = include_str!("../README.md")]

mod absence;
mod admit;
mod alarm;
mod ask;
mod asker;
mod bounds;
mod change;
mod connection;
mod decision;
mod engine;
mod error;
mod forks;
mod gate;
mod gates;
mod hub;
mod identity;
mod limit;
mod machine;
mod names;
mod permits;
mod pulse;
mod reserve;
mod settings;
mod shared;
mod table;
mod target;
mod time;
mod wait;
mod waiter;

pub use absence::Absence;
pub use admit::Admit;
pub use change::Change;
pub use engine::{Engine, EngineBuilder};
pub use error::SharedError;
pub use gate::{SharedGate, SharedGateBuilder};
pub use gates::{SharedGates, SharedGatesBuilder};
pub use reserve::{Reserve, SharedReservation};

/// A guide of the library whose program needs this crate: its documentation shows it, and this runs
/// it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/shared-limits.md")]
mod guide {}

#[cfg(test)]
#[allow(
    clippy::cast_sign_loss,
    clippy::format_push_string,
    clippy::many_single_char_names,
    clippy::range_plus_one,
    clippy::similar_names,
    clippy::too_many_lines
)]
#[path = "../tests/core/mod.rs"]
mod core_tests;
