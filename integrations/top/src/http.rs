//! The answer of a server: its head, and the bytes of its body. Both are bounded.

use std::io::{self, BufRead, Read};

use crate::error::Error;
use crate::events::line;
use crate::legible::Legible;

/// The greatest length of the head of an answer, in bytes.
pub(crate) const LONGEST_HEAD: usize = 16 * 1024;

/// The greatest length of the line before a chunk of the body, in bytes.
const LONGEST_SIZE: usize = 128;

/// The greatest number of bytes, and of characters, that are read of a refusal.
const LONGEST_REFUSAL: u64 = 1_000;
const LONGEST_SAID: usize = 200;

/// Reads the head of an answer. Returns the body if that is a stream of events.
pub(crate) fn answer<R: BufRead>(mut reader: R) -> Result<Body<R>, Error> {
    let mut left = LONGEST_HEAD;
    let mut next = |reader: &mut R| -> Result<String, Error> {
        let line = line(reader, left, "the head of the answer", LONGEST_HEAD)?;
        left -= line.len();
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    };
    let first = next(&mut reader)?;
    let status =
        first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    let status: u16 = status.ok_or(Error::NotAConsole { why: "it does not speak HTTP/1" })?;
    let (mut is_chunked, mut has_events) = (false, false);
    loop {
        let field = next(&mut reader)?.to_ascii_lowercase();
        if field.is_empty() {
            break;
        }
        if let Some((name, value)) = field.split_once(':') {
            is_chunked |= name == "transfer-encoding" && value.trim() == "chunked";
            has_events |= name == "content-type" && value.trim().starts_with("text/event-stream");
        }
    }
    let mut body =
        Body { reader, left: is_chunked.then_some(0), has_ended: false, has_begun: false };
    if status != 200 {
        let mut says = Vec::new();
        // The status says enough if the text cannot be read.
        let _ = body.by_ref().take(LONGEST_REFUSAL).read_to_end(&mut says);
        let says = String::from_utf8_lossy(&says);
        let first = says.trim().lines().next().unwrap_or_default();
        return Err(Error::Refused { status, says: Legible::of(first, LONGEST_SAID).into() });
    }
    if !has_events {
        return Err(Error::NotAConsole { why: "the answer is no stream of events" });
    }
    Ok(body)
}

/// The bytes of a body, which ends with the connection, or is in chunks.
pub(crate) struct Body<R> {
    reader: R,
    /// The bytes that are left of the chunk; `None` if there are no chunks.
    left: Option<u64>,
    has_begun: bool,
    has_ended: bool,
}

impl<R: BufRead> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(left) = &mut self.left else { return self.reader.read(buffer) };
        if *left == 0 && !self.has_ended {
            *left = chunk(&mut self.reader, self.has_begun)?;
            self.has_begun = true;
            self.has_ended = *left == 0;
        }
        let read = self.reader.by_ref().take(*left).read(buffer)?;
        *left -= read as u64;
        Ok(read)
    }
}

/// Reads the line before a chunk, and the end of the chunk before. Returns the chunk's length.
///
/// An error is this crate's [`Error`], in one of the system's: [`line`] takes it out again.
fn chunk(reader: &mut impl BufRead, has_begun: bool) -> io::Result<u64> {
    let mut next = || {
        let line = line(reader, LONGEST_SIZE, "the size of a chunk", LONGEST_SIZE);
        line.map_err(io::Error::other)
    };
    if has_begun {
        next()?;
    }
    let line = next()?;
    let text = String::from_utf8_lossy(&line);
    let digits = text.split(';').next().unwrap_or_default().trim();
    let wrong = Error::NotAConsole { why: "the size of a chunk is no number" };
    u64::from_str_radix(digits, 16).map_err(|_| io::Error::other(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";

    fn read(text: &str) -> Result<String, Error> {
        let mut body = answer(text.as_bytes())?;
        let mut read = String::new();
        body.read_to_string(&mut read).map_err(|error| Error::Lost { error })?;
        Ok(read)
    }

    #[test]
    fn a_body_is_in_chunks_or_goes_on_to_the_end() {
        let whole = format!("{EVENTS}\r\nabc\n\n");
        assert_eq!(read(&whole).unwrap(), "abc\n\n");
        let chunks =
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n";
        assert_eq!(read(&format!("{EVENTS}{chunks}")).unwrap(), "abc0123456789");
        let wrong = format!("{EVENTS}Transfer-Encoding: chunked\r\n\r\nxyz\r\n");
        assert!(read(&wrong).unwrap_err().to_string().contains("no number"));
    }

    #[test]
    fn an_error_in_a_body_of_chunks_keeps_its_kind() {
        let next = |chunks: &str| {
            let text = format!("{EVENTS}Transfer-Encoding: chunked\r\n\r\n{chunks}");
            let body = answer(text.as_bytes()).unwrap();
            crate::events::next(&mut io::BufReader::new(body)).unwrap_err()
        };
        for (size, wrong) in [("", "xyz\r\n"), ("6\r\nevent:\r\n", "-1\r\n")] {
            let error = next(&format!("{size}{wrong}"));
            assert!(matches!(error, Error::NotAConsole { .. }), "{error:?}");
        }
        let endless = next(&format!("1{}", " ".repeat(LONGEST_SIZE)));
        assert!(matches!(endless, Error::TooLong { limit: LONGEST_SIZE, .. }), "{endless:?}");
        for cut in ["", "A", "A\r\n", "A\r\nevent:", "6\r\nevent:", "6\r\nevent:\r\n", "0\r\n\r\n"]
        {
            let error = next(cut);
            assert!(matches!(error, Error::Closed), "{cut:?}: {error:?}");
        }
    }

    #[test]
    fn a_refusal_says_why_and_obeys_nothing() {
        let error = read("HTTP/1.1 503 Busy\r\n\r\nToo \x1b[2Jmany.\nMore.").unwrap_err();
        let says = "the server refuses with status 503: Too \\u{1b}[2Jmany.";
        assert_eq!((error.to_string().as_str(), error.status()), (says, 3));
    }

    #[test]
    fn what_is_no_stream_of_a_console_is_refused() {
        for text in ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"] {
            assert!(matches!(read(text), Err(Error::NotAConsole { .. })), "{text}");
        }
        assert!(matches!(read("HTTP/1.1 200 OK\r\nContent-"), Err(Error::Closed)));
        let endless = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(LONGEST_HEAD));
        assert!(matches!(read(&endless), Err(Error::TooLong { limit: LONGEST_HEAD, .. })));
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(LONGEST_HEAD));
        assert!(matches!(read(&endless), Err(Error::TooLong { limit: LONGEST_HEAD, .. })));
    }
}
