//! Limits on real engines: redis-server, and valkey-server where it is there. Each test starts its
//! own on a free port of the loopback, and ends it.
#![cfg(unix)]

mod book;
mod server;
mod shared;
