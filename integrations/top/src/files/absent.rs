//! Mapped files, on a system that has none.

use crate::error::Error;
use crate::frame::Frame;

/// The frames of files, which this system does not have.
pub(crate) enum Frames {}

impl Frames {
    pub(crate) fn open(_: &[String]) -> Result<Frames, Error> {
        let says = "mapped files are those of Linux with pointers of 64 bits".to_owned();
        Err(Error::Usage { says })
    }

    pub(crate) fn next(&mut self) -> Result<Frame, Error> {
        match *self {}
    }
}
