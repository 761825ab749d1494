//! The page in a browser: its contents, its memory, and the actions that it never takes.
//!
//! `cargo xtask browser` runs these.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of times made up")]

// The browser, and what it is shown.
mod browser;
mod page;
mod shop;
mod traffic;
#[path = "../console/week.rs"]
mod week;

// The contents of the page.
mod false_statements;
mod heavy;
mod numbers;
mod past;
mod percentiles;
mod process;
mod unusual;
mod yesterday;

// Its shape, and what a reader does with it.
mod keyboard;
mod layout;
mod pictures;
mod tabs;
mod view;
mod watch;

// What it bears.
mod labels;
mod many_rows;
mod restart;
