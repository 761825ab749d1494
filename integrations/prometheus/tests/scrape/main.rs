//! What can be registered, what a scrape shows of it, and what reads such text says to it.

mod parsers;
mod refused;
mod storm;
mod text;
