//! Tests of registration, of the formats of a scrape, and of their parsers.

mod created;
mod events;
mod exemplars;
mod formats;
mod heavy;
mod naive;
mod names;
mod parsers;
mod random;
mod recorder;
mod refused;
mod registry;
mod several;
mod spec;
mod storm;
mod text;
