//! Server-sent events.

use std::io::{BufRead, ErrorKind, Read};
use std::time::Duration;

use crate::error::Error;

/// The time in which the head of an answer must come, and then each event.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The greatest length of an event, in bytes: some twenty thousand rows.
pub(crate) const LONGEST: usize = 8 * 1024 * 1024;

/// An event of a console's stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    /// True if it contains everything, and not only the changes.
    pub(crate) is_all: bool,
    pub(crate) data: Vec<u8>,
}

/// Reads the next event that has a frame.
pub(crate) fn next(reader: &mut impl BufRead) -> Result<Event, Error> {
    let (mut is_all, mut data) = (None, Vec::new());
    let mut left = LONGEST;
    loop {
        let line = line(reader, left)?;
        left -= line.len();
        let text = line.trim_ascii_end();
        if let Some(found) = text.strip_prefix(b"data:") {
            data.extend_from_slice(found);
        } else if let Some(name) = text.strip_prefix(b"event:") {
            is_all = match name.trim_ascii() {
                b"all" => Some(true),
                b"more" => Some(false),
                _ => None,
            };
        } else if text.is_empty() {
            match is_all {
                Some(is_all) if !data.is_empty() => return Ok(Event { is_all, data }),
                // Of another name, or a time to wait before the next attempt.
                _ => (is_all, data, left) = (None, Vec::new(), LONGEST),
            }
        }
    }
}

/// Reads a line of at most `left` bytes, with its end.
fn line(reader: &mut impl BufRead, left: usize) -> Result<Vec<u8>, Error> {
    let mut line = Vec::new();
    let read = reader.take(left as u64).read_until(b'\n', &mut line);
    match read {
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            Err(Error::Silent { seconds: PATIENCE.as_secs() })
        }
        // This crate's error of the connection, or one of the system.
        Err(error) => Err(error.downcast().unwrap_or_else(|error| Error::Lost { error })),
        Ok(_) if line.ends_with(b"\n") => Ok(line),
        Ok(read) if read == left => Err(Error::NotAConsole { why: "a frame is longer than 8 MiB" }),
        Ok(_) => Err(Error::Closed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_other_names_are_left_out() {
        let text = "retry: 2000\n\n: a comment\n\nevent: other\ndata: 1\n\ndata: 2\n\n\
                    event: all\ndata: {}\n\nevent: more\r\ndata:[]\r\n\r\n";
        let mut reader = text.as_bytes();
        let first = next(&mut reader).unwrap();
        assert_eq!((first.is_all, first.data.trim_ascii()), (true, &b"{}"[..]));
        let second = next(&mut reader).unwrap();
        assert_eq!((second.is_all, second.data.trim_ascii()), (false, &b"[]"[..]));
        assert!(matches!(next(&mut reader), Err(Error::Closed)));
    }

    #[test]
    fn an_event_has_a_greatest_length_and_an_end() {
        let part = std::io::repeat(b'x');
        let mut endless = std::io::BufReader::new(b"event: all\ndata: ".chain(part));
        let says = |error: Result<Event, Error>| error.unwrap_err().to_string();
        let long = "this is no console: a frame is longer than 8 MiB";
        assert_eq!(says(next(&mut endless)), long);
        let mut lines =
            std::io::BufReader::new(std::io::Cursor::new("data: x\n".repeat(LONGEST / 8 + 1)));
        assert_eq!(says(next(&mut lines)), long);
        assert!(matches!(next(&mut &b"event: all\ndata: {"[..]), Err(Error::Closed)));
    }
}
