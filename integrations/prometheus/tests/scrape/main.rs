//! Tests of registration, of the formats of a scrape, and of their parsers.

mod exemplars;
mod formats;
mod parsers;
mod refused;
mod registry;
mod spec;
mod storm;
mod text;
