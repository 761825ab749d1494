//! The source of the frames: a console, or files.

use crate::address::Address;
use crate::client;
use crate::error::Error;
use crate::files;
use crate::frame::Frame;

/// The source of the frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    Console(Address),
    Files(Vec<String>),
}

/// The frames of a source: each call waits for the next one.
pub(crate) type Frames = Box<dyn FnMut() -> Result<Frame, Error>>;

impl Source {
    pub(crate) fn open(&self) -> Result<Frames, Error> {
        Ok(match self {
            Source::Console(address) => {
                let mut frames = client::Frames::open(address)?;
                Box::new(move || frames.next())
            }
            Source::Files(paths) => {
                let mut frames = files::Frames::open(paths)?;
                Box::new(move || frames.next())
            }
        })
    }

    /// Returns the address, or the paths.
    pub(crate) fn shown(&self) -> String {
        match self {
            Source::Console(address) => address.shown.clone(),
            Source::Files(paths) => paths.join(" "),
        }
    }
}
