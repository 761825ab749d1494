//! The answers to requests, from the page to a line of text.
//!
//! [`walk`] reads all series once. A frame of the stream, `/text` and `/snapshot.json` are made of
//! what it reads.

pub(crate) mod answer;
pub(crate) mod answers;
pub(crate) mod body;
mod changes;
mod frame;
mod heavy;
pub(crate) mod hub;
mod json;
#[cfg(feature = "log")]
pub(crate) mod logged;
mod making;
pub(crate) mod page;
mod panels;
mod process;
mod quantity;
pub(crate) mod response;
mod series;
mod snapshot;
mod text;
mod values;
mod walk;
mod window;
mod words;
