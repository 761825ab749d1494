//! The page, in a browser: what it shows, what it remembers, and what it never does.
//!
//! `cargo xtask browser` runs these.

mod browser;
mod shop;
mod traffic;
mod watch;
