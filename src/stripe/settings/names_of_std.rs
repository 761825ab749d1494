//! The names of the environment's variables, as `std` knows them.

use std::env;

/// Hands over each name.
pub(super) fn each(see: &mut dyn FnMut(&[u8])) {
    env::vars_os().for_each(|(name, _)| see(name.as_encoded_bytes()));
}
