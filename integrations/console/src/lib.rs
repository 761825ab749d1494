// The documentation site names the feature of an item.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The README's pictures, for this site. Of two definitions of a name, rustdoc takes the first.
#![cfg_attr(doc, doc = include_str!("../pictures.md"))]
#![doc = include_str!("../README.md")]

mod answers;
mod body;
#[allow(clippy::cast_sign_loss, reason = "of counts, times and levels, which are not negative")]
mod changes;
mod console;
#[cfg(feature = "server")]
mod error;
mod frame;
mod heavy;
mod host;
mod hub;
mod key;
mod ledger;
#[cfg(feature = "log")]
mod logged;
mod names;
mod number;
mod page;
mod panels;
mod past;
mod percentiles;
mod query;
mod roles;
mod series;
#[cfg(feature = "server")]
mod server;
mod service;
mod snapshot;
mod text;
mod unusual;
mod watches;
mod window;

pub use body::Body;
pub use console::Console;
#[cfg(feature = "server")]
pub use error::ServeError;
#[cfg(feature = "server")]
pub use server::Server;
pub use service::{ConsoleService, Responding, Serving};
pub use windrow_prometheus::RegisterError;
