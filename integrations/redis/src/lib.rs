#![doc = include_str!("../README.md")]

/// Writes `Debug`, which shows these fields of a value.
macro_rules! shown {
    ($(#[$doc:meta])* $type:ident ($own:ident) { $($field:ident: $value:expr),+ }) => {
        $(#[$doc])*
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $own = self;
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($field), &$value))+
                    .finish_non_exhaustive()
            }
        }
    };
}

// The interface.
mod absence;
mod builder;
mod change;
mod engine;
mod error;
mod gate;
mod gates;
mod reserve;
mod table;
mod target;

// A request that finds a permit.
mod coarse;
mod forks;
mod limit;
mod permits;
mod pulse;
mod shared;
mod sync;
mod time;

// A request that finds none.
mod alarm;
mod decision;
mod wait;
mod waiter;

// The engine: asks, answers, and the thread of both.
mod asker;
mod connection;
mod hub;
mod identity;
mod lock;
mod machine;
mod names;
mod schedule;

pub use absence::Absence;
pub use builder::SharedBuilder;
pub use change::Change;
pub use engine::{Engine, EngineBuilder};
pub use error::SharedError;
pub use gate::SharedGate;
pub use gates::SharedGates;
pub use reserve::{Reserve, SharedReservation};
pub use wait::Admit;

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
