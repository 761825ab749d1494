// The documentation site names the feature of an item.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The README's pictures, for this site. Of two definitions of a name, rustdoc takes the first.
#![cfg_attr(doc, doc = include_str!("../pictures.md"))]
#![doc = include_str!("../README.md")]

// A number goes through these from the lowest to the highest: registered in `shown`, it is read in
// `read`, compared with its past in `unusual`, written in `sent`, and handed out by `service`. No
// file takes anything from one above it.
mod console;
mod host;
mod query;
mod read;
mod sent;
#[cfg(feature = "server")]
mod server;
mod service;
mod shown;
#[allow(clippy::cast_sign_loss, reason = "of counts, times and levels, which are not negative")]
mod unusual;

pub use console::Console;
pub use sent::body::Body;
#[cfg(feature = "server")]
pub use server::{ServeError, Server};
pub use service::{ConsoleService, Responding};
pub use windrow_prometheus::RegisterError;
