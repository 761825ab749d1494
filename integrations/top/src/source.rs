//! The source of the frames: a console, or files.

use std::fmt::{self, Display, Formatter};

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
}

/// Shows the address, or the paths.
impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Source::Console(address) => f.write_str(&address.shown),
            Source::Files(paths) => f.write_str(&paths.join(" ")),
        }
    }
}
