#![doc = include_str!("../README.md")]
#![allow(dead_code, unused_imports)] // the half with I/O calls them

mod machine;
mod permits;
mod pulse;

#[cfg(test)]
#[path = "../tests/core/mod.rs"]
mod core_tests;
