//! A collector's book and the counted numbers agree.

#![allow(clippy::float_cmp)] // whole numbers, far below 2^53

// The book, and collectors.
mod book;
mod receiver;
mod rotel;

// Exports.
mod cases;
mod exemplars;
mod heavy;
mod native;
mod several;
mod torn;

// What goes wrong.
mod failures;
mod own_thread;
mod refused;
mod statuses;
mod unknown;
