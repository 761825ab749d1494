//! Limits on real engines: redis-server, and valkey-server where it is there. Each test starts its
//! own on a free port of the loopback, and ends it.
#![cfg(unix)]

// Limits on an engine that is well.
mod book;
mod by_key;
mod forked;
mod shared;

// Engines that are not.
mod absent;
mod broken_servers;
mod cluster;
mod misbehaviour;
mod processes;
mod proxy;
mod unfit_engines;

// The engine itself.
mod server;
#[cfg(feature = "tls")]
mod tls;
