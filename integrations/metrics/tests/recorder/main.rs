//! Tests of recorders: counting, dropping and exporting. Each test has a recorder of its own, so
//! all of them share a process.
//!
//! Beside this program, `installed` has the process's recorder, and `limits` measures what the
//! process allocates.

mod histograms;
mod idle;
mod strict_reader;
mod text;
mod threads;
mod waiting_renders;
