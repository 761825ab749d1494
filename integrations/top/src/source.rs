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

/// The frames of a source, one after the other.
pub(crate) enum Frames {
    Console(client::Frames),
    Files(files::Frames),
}

impl Source {
    pub(crate) fn open(&self) -> Result<Frames, Error> {
        match self {
            Source::Console(address) => client::Frames::open(address).map(Frames::Console),
            Source::Files(paths) => files::Frames::open(paths).map(Frames::Files),
        }
    }
}

/// Shows the address, or the paths.
impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Source::Console(address) => write!(f, "{}{}", address.authority(), address.path),
            Source::Files(paths) => f.write_str(&paths.join(" ")),
        }
    }
}

impl Frames {
    /// Waits for the next frame, and returns it.
    pub(crate) fn next(&mut self) -> Result<Frame, Error> {
        match self {
            Frames::Console(frames) => frames.next(),
            Frames::Files(frames) => frames.next(),
        }
    }
}
