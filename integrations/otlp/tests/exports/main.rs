//! A collector's book and the counted numbers agree.

#![allow(clippy::float_cmp)] // whole numbers, far below 2^53

// The book, and collectors.
mod book;
mod receiver;
mod rotel;

// Exports.
mod exemplars;
mod fields;
mod heavy;
mod native_histograms;
mod successes;
mod torn_records;

// What goes wrong.
mod failures;
mod own_thread;
mod refused_settings;
mod statuses;
mod unknown_outcomes;
