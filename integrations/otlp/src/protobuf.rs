//! Fields of protobuf, appended to bytes.
//!
//! A request has some hundred bytes for each of thousands of series. Messages that are built as
//! structs first would copy each text and own each list before they are encoded, which costs
//! several times what the writing does. So the functions here write fields directly, in the order
//! of their tags. They leave out fields that a reader fills in (zeros and empty texts that are no
//! choice of a `oneof`). prost writes the same bytes for the same message: the tests of `batch`
//! compare them.

use prost::encoding::{encode_varint, encoded_len_varint};

/// A field's type on the wire.
const VARINT: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const LENGTH_FIRST: u8 = 2;

/// Returns the key of a field of bytes, a text, a list of numbers or a message. All tags of OTLP's
/// messages are below 16, so that a key is one byte.
pub(crate) const fn key(tag: u8) -> u8 {
    tag << 3 | LENGTH_FIRST
}

/// Returns the length of a field with `length` bytes behind its key and its length.
pub(crate) fn length_of(length: usize) -> usize {
    1 + encoded_len_varint(length as u64) + length
}

/// Appends the key and the length of a field; its content comes next.
#[inline]
pub(crate) fn begin(tag: u8, length: usize, to: &mut Vec<u8>) {
    match u8::try_from(length) {
        Ok(length) if length < 0x80 => to.extend_from_slice(&[key(tag), length]),
        _ => {
            to.push(key(tag));
            encode_varint(length as u64, to);
        }
    }
}

/// Appends a field of bytes, also of none.
#[inline]
pub(crate) fn put_bytes(tag: u8, bytes: &[u8], to: &mut Vec<u8>) {
    begin(tag, bytes.len(), to);
    to.extend_from_slice(bytes);
}

/// Appends a text, unless it is empty.
pub(crate) fn put_text(tag: u8, text: &str, to: &mut Vec<u8>) {
    if !text.is_empty() {
        put_bytes(tag, text.as_bytes(), to);
    }
}

/// Appends a number of variable length, also zero.
pub(crate) fn put_varint(tag: u8, number: u64, to: &mut Vec<u8>) {
    to.push(tag << 3 | VARINT);
    encode_varint(number, to);
}

/// Appends a signed number whose sign is in its lowest bit, unless it is zero.
pub(crate) fn put_zigzag(tag: u8, number: i32, to: &mut Vec<u8>) {
    if number != 0 {
        put_varint(tag, u64::from((number << 1 ^ number >> 31).cast_unsigned()), to);
    }
}

/// Appends a number of eight bytes, also zero.
#[inline]
pub(crate) fn put_eight(tag: u8, bytes: [u8; 8], to: &mut Vec<u8>) {
    let mut field = [tag << 3 | EIGHT_BYTES; 9];
    field[1..].copy_from_slice(&bytes);
    to.extend_from_slice(&field);
}

/// Appends a number of eight bytes, unless it is zero.
pub(crate) fn put_fixed(tag: u8, number: u64, to: &mut Vec<u8>) {
    if number != 0 {
        put_eight(tag, number.to_le_bytes(), to);
    }
}

/// Appends a double, also zero.
pub(crate) fn put_double(tag: u8, number: f64, to: &mut Vec<u8>) {
    put_eight(tag, number.to_le_bytes(), to);
}

/// Appends a field whose content is what `put` appends.
///
/// Moves the content by a byte or two if it has 128 bytes or more: for content that is short, or
/// whose length is not known before.
pub(crate) fn put_nested(tag: u8, to: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    to.extend_from_slice(&[key(tag), 0]);
    let content = to.len();
    put(to);
    let length = to.len() - content;
    if length < 0x80 {
        to[content - 1] = length as u8; // below 128
        return;
    }
    let more = encoded_len_varint(length as u64) - 1;
    to.extend_from_slice(&[0; 9][..more]);
    to.copy_within(content..content + length, content + more);
    encode_varint(length as u64, &mut &mut to[content - 1..content + more]);
}

#[cfg(test)]
mod tests {
    use prost::encoding::{DecodeContext, WireType, decode_key};

    use super::*;

    #[test]
    fn nested_fields_of_any_length_have_the_shortest_head() {
        for length in [0, 1, 127, 128, 129, 16_383, 16_384, 1 << 21] {
            let content: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut nested = b"before".to_vec();
            put_nested(8, &mut nested, |to| to.extend_from_slice(&content));
            let mut expected = b"before".to_vec();
            put_bytes(8, &content, &mut expected);
            assert_eq!(nested, expected);
            assert_eq!(nested.len(), b"before".len() + length_of(length));
            let mut rest = &nested[b"before".len()..];
            assert_eq!(decode_key(&mut rest).unwrap(), (8, WireType::LengthDelimited));
            let (wire, mut decoded) = (WireType::LengthDelimited, Vec::<u8>::new());
            let fresh = DecodeContext::default();
            prost::encoding::bytes::merge(wire, &mut decoded, &mut rest, fresh).unwrap();
            assert!(decoded == content && rest.is_empty());
        }
    }

    #[test]
    fn signed_numbers_are_those_of_prost() {
        for number in [0, 1, -1, 63, -64, 64, i32::MAX, i32::MIN] {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            put_zigzag(6, number, &mut ours);
            if number != 0 {
                prost::encoding::sint32::encode(6, &number, &mut theirs);
            }
            assert_eq!(ours, theirs, "{number}");
        }
    }
}
