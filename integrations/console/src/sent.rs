//! The answers to requests, from the page to a line of text.
//!
//! [`walk`] reads all series once. A frame of the stream, `/text` and `/snapshot.json` are made of
//! what it reads.

// The questions that wait, and the threads that answer them.
pub(crate) mod answers;
#[cfg(feature = "log")]
pub(crate) mod logged;
mod queue;
mod walk;

// The stream.
pub(crate) mod body;
mod frame;
pub(crate) mod hub;

// The other answers.
pub(crate) mod response;
mod snapshot;
mod text;

// The parts of answers.
mod changes;
mod heavy;
mod process;
mod values;
mod window;

// Numbers and names in them.
mod json;
mod words;
