#![doc = include_str!("../README.md")]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;
