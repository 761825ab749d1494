//! The registered metrics, with their names, the roles of their events, and the layout of their
//! numbers.

pub(crate) mod heavy;
pub(crate) mod key;
pub(crate) mod layout;
pub(crate) mod names;
pub(crate) mod registry;
pub(crate) mod roles;
pub(crate) mod unit;
