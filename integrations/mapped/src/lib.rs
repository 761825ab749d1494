#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#![doc = include_str!("../README.md")]

/// Writes `Debug`, which shows these fields of a value.
macro_rules! shown {
    (
        $(#[$doc:meta])*
        $type:ident $(<$life:lifetime>)? ($own:ident) { $($field:ident: $value:expr),+ }
    ) => {
        $(#[$doc])*
        impl std::fmt::Debug for $type $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $own = self;
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($field), &$value))+
                    .finish_non_exhaustive()
            }
        }
    };
}

// Metrics in a file.
mod counter;
mod error;
mod extreme;
mod file;
mod gauge;
mod histogram;
mod kind;
mod text;

// Limits in a file.
mod keyed;
mod limit;
mod pace;
mod paces;
mod reservation;

// A process that writes.
mod cells;
mod owner;
mod publish;
mod sequence;
mod shared;
mod slot;

// Readers.
mod entries;
mod owners;
mod reader;
mod reading;
mod sampler;
mod source;
mod windows;

// The file itself.
mod failpoint;
mod layout;
mod system;

pub use counter::Counter;
pub use error::MappedError;
pub use extreme::{Maximum, Minimum};
pub use file::{File, FileBuilder};
pub use gauge::{Gauge, InFlight, InFlightGuard};
pub use histogram::Histogram;
pub use keyed::KeyedPace;
pub use kind::Kind;
pub use owners::{Level, Owner};
pub use pace::Pace;
pub use paces::Paces;
pub use reader::Reader;
pub use reading::{Metric, Reading, Value};
pub use reservation::Reservation;
pub use sampler::{Increase, Sampler};
pub use source::FileSource;
pub use windrow::histogram::{Distribution, Scale};

#[cfg(test)]
mod tests;

/// The programs of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/many-processes.md")]
mod guide {}
