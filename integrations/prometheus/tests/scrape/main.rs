//! Tests of registration, of the formats of a scrape, and of their parsers.

// The text, and its parsers.
mod formats;
mod naive;
mod parsers;
mod random;
mod spec;
mod text;

// Metrics.
mod created;
mod events;
mod exemplars;
mod heavy;
mod names;
mod refused;
mod several;

// Scrapes while threads count, and bridges.
mod recorder;
mod registry;
mod storm;
