//! A collector's book and the counted numbers agree.

#![allow(clippy::float_cmp)] // whole numbers, far below 2^53

mod book;
mod cases;
mod exemplars;
mod failures;
mod heavy;
mod native;
mod own_thread;
mod receiver;
mod refused;
mod rotel;
mod several;
mod statuses;
mod torn;
mod unknown;
