//! Files that several processes share, that are damaged, or that must not be opened.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

// Numbers of several processes.
mod adds;
mod books;
mod extremes;
mod forked;
mod gauges;
mod histograms;
mod paced;

// Names, files and memory.
mod damaged;
mod full_disk;
mod memory;
mod names;
mod refused;

// Other readers.
#[path = "../../src/tests.rs"]
mod child;
mod exported;
mod python;
