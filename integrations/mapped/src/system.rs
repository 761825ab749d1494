//! The system's calls: files, locks, memory, and what the machine is.

pub(crate) mod claim;
pub(crate) mod create;
pub(crate) mod forks;
pub(crate) mod lock;
pub(crate) mod machine;
pub(crate) mod mapping;
pub(crate) mod open;
pub(crate) mod opened;
pub(crate) mod read;
pub(crate) mod time;
