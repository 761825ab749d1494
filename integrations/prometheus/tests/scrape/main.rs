//! Tests of registration, of the formats of a scrape, and of their parsers.

// The text, and its parsers.
mod formats;
mod parsers;
mod plain_writer;
mod random_metrics;
mod spec;
mod text;

// Metrics.
mod created;
mod events;
mod exemplars;
mod fields;
mod heavy;
mod names;
mod refused_metrics;

// Scrapes while threads count, and bridges.
mod recorder;
mod registry;
mod threads;
