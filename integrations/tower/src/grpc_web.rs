//! The trailers of gRPC-Web, which are the last frame of the body.
//!
//! A frame has a byte of flags, four bytes of its length, and then its content. The highest flag
//! marks trailers: lines of a name, a colon and a value. In the text form all of it is in base64,
//! of several pieces, each of which may end with padding. Data pass through as they are: they are
//! only looked at, and no more of them is kept than [`LONGEST`] bytes of trailers.

use std::io::IoSlice;

use base64::engine::{Engine, general_purpose::STANDARD};
use bytes::Buf;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::protocol::Protocol;

/// The bytes of trailers that are read.
const LONGEST: usize = 8 * 1024;

/// The pieces of one data frame that are read. Frames of more are rare: servers write one.
const PIECES: usize = 16;

/// The length of a frame's head.
const HEAD: usize = 5;

/// The flag of a frame of trailers, and that of a compressed one.
const TRAILERS: u8 = 0x80;
const COMPRESSED: u8 = 0x01;

/// The frames of a body of gRPC-Web that have come, with its trailers.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Characters of base64, fewer than four; `None` if the body is not in base64.
    base64: Option<Vec<u8>>,
    /// The bytes of the next frame's head that are there.
    head: Vec<u8>,
    /// The number of bytes that are missing of the present frame.
    left: u32,
    /// The present frame is one of trailers.
    is_trailers: bool,
    trailers: Vec<u8>,
    /// The frames can no longer be told apart, or their trailers not be read.
    is_lost: bool,
}

impl Frames {
    /// Returns those of a response with these headers; `None` if it is not one of gRPC-Web.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Box<Frames>> {
        let base64 = match Protocol::of(headers) {
            Protocol::GrpcWeb => None,
            Protocol::GrpcWebText => Some(Vec::with_capacity(4)),
            Protocol::Http | Protocol::Grpc => return None,
        };
        Some(Box::new(Frames { base64, ..Frames::default() }))
    }

    /// Looks at the next data of the body.
    pub(crate) fn look(&mut self, data: &impl Buf) {
        let mut pieces = [IoSlice::new(&[]); PIECES];
        let count = data.chunks_vectored(&mut pieces);
        let pieces = &pieces[..count];
        if pieces.iter().map(|piece| piece.len()).sum::<usize>() != data.remaining() {
            self.is_lost = true;
        }
        for piece in pieces {
            match self.base64.take() {
                None => self.frames(piece),
                Some(four) => self.base64 = Some(self.characters(four, piece)),
            }
        }
    }

    /// Reads characters of base64 behind the first of four. Returns those of the next four.
    fn characters(&mut self, mut four: Vec<u8>, piece: &[u8]) -> Vec<u8> {
        for character in piece {
            four.push(*character);
            if four.len() == 4 {
                let mut bytes = [0; 3];
                match STANDARD.decode_slice(&four, &mut bytes) {
                    Ok(count) => self.frames(&bytes[..count]),
                    Err(_) => self.is_lost = true,
                }
                four.clear();
            }
        }
        four
    }

    /// Returns the trailers, now that the body has ended; `None` if there were none to be read.
    pub(crate) fn end(&self) -> Option<HeaderMap> {
        if self.trailers.is_empty() || self.is_lost {
            return None;
        }
        let mut trailers = HeaderMap::new();
        for line in self.trailers.split(|byte| *byte == b'\n') {
            let mut halves = line.splitn(2, |byte| *byte == b':');
            let (Some(name), Some(value)) = (halves.next(), halves.next()) else { continue };
            let name = HeaderName::from_bytes(name.trim_ascii());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.trim_ascii())) {
                trailers.append(name, value);
            }
        }
        Some(trailers)
    }

    fn frames(&mut self, mut data: &[u8]) {
        while !data.is_empty() && !self.is_lost {
            let missing = if self.left > 0 { self.left as usize } else { HEAD - self.head.len() };
            let (part, rest) = data.split_at(missing.min(data.len()));
            data = rest;
            if self.left > 0 {
                self.left -= part.len() as u32; // at most `left`
                if self.is_trailers {
                    let room = LONGEST - self.trailers.len();
                    self.trailers.extend_from_slice(&part[..part.len().min(room)]);
                }
                continue;
            }
            self.head.extend_from_slice(part);
            if let [flags, length @ ..] = &self.head[..]
                && let Ok(length) = length.try_into()
            {
                self.left = u32::from_be_bytes(length);
                self.is_trailers = flags & TRAILERS != 0;
                self.is_lost = self.is_trailers && self.left > 0 && flags & COMPRESSED != 0;
                self.head.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Engine, Frames, LONGEST, STANDARD};
    use http::{HeaderMap, HeaderValue};

    fn reader(kind: &'static str) -> Frames {
        let kind = ("content-type".parse().unwrap(), HeaderValue::from_static(kind));
        *Frames::of(&HeaderMap::from_iter([kind])).expect("gRPC-Web")
    }

    fn frame(flags: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&[flags][..], &length, content].concat()
    }

    fn status(trailers: Option<HeaderMap>) -> Option<String> {
        Some(trailers?.get("grpc-status")?.to_str().unwrap().to_owned())
    }

    /// Encodes each of the pieces by itself, with padding.
    fn base64(pieces: &[&[u8]]) -> Vec<u8> {
        pieces.iter().flat_map(|piece| STANDARD.encode(piece).into_bytes()).collect()
    }

    #[test]
    fn the_status_is_found_however_the_body_is_cut() {
        let message = frame(0, &[7; 300]);
        let trailers = frame(0x80, b"grpc-status: 8\r\ngrpc-message:too much\r\n");
        let binary = [&message[..], &message, &frame(0, b""), &trailers].concat();
        let text = base64(&[&message, &message[..7], &message[7..], &trailers]);
        for (kind, body) in [
            ("application/grpc-web", &binary),
            ("application/grpc-web+proto", &binary),
            ("application/grpc-web-text", &text),
            ("application/grpc-web-text+proto", &text),
        ] {
            for size in [1, 2, 3, 4, 5, 7, 64, 255, 256, 257, 10_000] {
                let mut reader = reader(kind);
                for piece in body.chunks(size) {
                    reader.look(&piece);
                }
                let found = reader.end();
                assert_eq!(found.as_ref().map(HeaderMap::len), Some(2), "{kind} by {size}");
                assert_eq!(status(found).as_deref(), Some("8"), "{kind} by {size}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_has_no_status_and_takes_no_memory() {
        for body in [
            frame(0, b"grpc-status: 0\r\n"),
            frame(0x81, b"grpc-status: 0\r\n"),
            frame(0x80, b""),
            frame(0x80, b"grpc-status 0"),
            b"grpc-status: 0\r\n".to_vec(),
        ] {
            let mut binary = reader("application/grpc-web");
            binary.look(&&body[..]);
            assert_eq!(status(binary.end()), None, "{body:?}");
        }
        let mut text = reader("application/grpc-web-text");
        text.look(&&b"AAA*"[..]);
        text.look(&&base64(&[&frame(0x80, b"grpc-status:0\r\n")])[..]);
        assert_eq!(status(text.end()), None);
        let mut long = reader("application/grpc-web");
        long.look(&&frame(0x80, &b"a: b\n".repeat(100_000))[..]);
        assert!(long.trailers.capacity() <= 2 * LONGEST);
        assert!(long.left == 0 && long.head.is_empty(), "all of it was read");
    }
}
