//! The error of a connection.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The cause of a lost connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// No connection was made: nothing was sent.
    Connect,
    /// The answer is none of HTTP, or its head is too long.
    NotHttp,
    /// The server closed the connection before the end of the answer.
    Closed,
    /// The connection was lost in another way.
    Broken,
}

/// The error of a connection, with the texts of all that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    texts: String,
    /// The cause.
    pub cause: Cause,
}

impl Lost {
    /// Describes an error of a connection that was made, and those that caused it.
    #[must_use]
    pub fn of(error: &(dyn Error + 'static)) -> Lost {
        let (mut texts, mut cause) = (String::new(), Cause::Broken);
        let mut next = Some(error);
        while let Some(error) = next {
            next = error.source();
            let text = error.to_string();
            if texts.is_empty() {
                texts = text;
            } else if !texts.contains(&text) {
                texts = format!("{texts}: {text}");
            }
            match error.downcast_ref::<hyper::Error>() {
                Some(error) if error.is_parse() => cause = Cause::NotHttp,
                Some(error) if error.is_incomplete_message() => cause = Cause::Closed,
                _ => {}
            }
        }
        Lost { texts, cause }
    }
}

impl Display for Lost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts)
    }
}

impl Error for Lost {}
