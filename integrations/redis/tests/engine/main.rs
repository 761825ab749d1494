//! Limits on real engines: redis-server, and valkey-server where it is there. Each test starts its
//! own on a free port of the loopback, and ends it.
#![cfg(unix)]

mod absent;
mod adversary;
mod book;
mod by_key;
mod cluster;
mod fit;
mod forked;
mod proxy;
mod server;
mod shared;
mod storm;
mod strange;
#[cfg(feature = "tls")]
mod tls;
