//! Tests of registration, of the text of a scrape, and of its parsers.

mod parsers;
mod refused;
mod storm;
mod text;
