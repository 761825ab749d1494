//! The page in a browser: its contents, its memory, and the actions that it never takes.
//!
//! `cargo xtask browser` runs these.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of times made up")]

mod browser;
mod heavy;
mod hostile;
mod keys;
mod layout;
mod many;
mod numbers;
mod page;
mod past;
mod percentiles;
mod pictures;
mod process;
mod restart;
mod shop;
mod tabs;
mod traffic;
mod truth;
mod unusual;
mod view;
mod watch;
#[path = "../console/week.rs"]
mod week;
mod yesterday;
