//! Files that several processes share, that are damaged, or that must not be opened.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod books;
#[path = "../../src/tests.rs"]
mod child;
mod damaged;
mod exact;
mod exported;
mod extremes;
mod forked;
mod full;
mod gauges;
mod histograms;
mod memory;
mod paced;
mod python;
mod refused;
mod registered;
