//! Messages of a few numbers: each series has one, so they are written without prost.

use prost::encoding::WireType;

/// A message of a few numbers: at most one double, two integers and three lengths, each behind a
/// tag.
pub(super) struct Small {
    bytes: [u8; 40],
    length: usize,
}

impl Small {
    pub(super) fn new() -> Small {
        Small { bytes: [0; 40], length: 0 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        self.bytes[self.length..end].copy_from_slice(bytes);
        self.length = end;
    }

    pub(super) fn double(&mut self, tag: u8, number: f64) {
        self.push(&[tag << 3 | WireType::SixtyFourBit as u8]);
        self.push(&number.to_le_bytes());
    }

    /// Appends an integer, unless it is zero: prost leaves out zeros of a `Timestamp`, too.
    pub(super) fn integer(&mut self, tag: u8, mut number: u64) {
        if number == 0 {
            return;
        }
        self.push(&[tag << 3 | WireType::Varint as u8]);
        while number >= 0x80 {
            self.push(&[number as u8 | 0x80]);
            number >>= 7;
        }
        self.push(&[number as u8]);
    }

    pub(super) fn message(&mut self, tag: u8, message: &Small) {
        self.push(&[tag << 3 | WireType::LengthDelimited as u8, message.length as u8]);
        self.push(message.bytes());
    }
}
