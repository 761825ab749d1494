//! Attributes: labels, encoded as messages `KeyValue`.

use windrow::labels::LabelValue;

use crate::protobuf::{key, put_bytes, put_nested, put_text, put_varint};

/// A tag in the place of that of the field, which is not known yet.
const ANY: u8 = 0;

/// The tags of `KeyValue`.
const KEY: u8 = 1;
const VALUE: u8 = 2;

/// The tags of `AnyValue`.
const TEXT: u8 = 1;
const BOOL: u8 = 2;
const INT: u8 = 3;

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Attribute<'t> {
    Text(&'t str),
    Bool(bool),
    Int(i64),
}

/// Encoded attributes, as a field of a message whose kind is not known yet: messages that have
/// attributes give this field different tags.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    fields: Vec<u8>,
    /// The positions of the fields' keys.
    keys: Vec<usize>,
}

impl Attributes {
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Returns the number of attributes.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Removes all attributes but the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        if let Some(end) = self.keys.get(count) {
            self.fields.truncate(*end);
            self.keys.truncate(count);
        }
    }

    /// Adds a label as an attribute.
    pub(crate) fn push_label(&mut self, name: &str, value: LabelValue<'_>) {
        match value {
            LabelValue::Text(text) => self.push(name, Attribute::Text(text)),
            LabelValue::Signed(number) => self.push(name, Attribute::Int(number)),
            LabelValue::Unsigned(number) if number <= i64::MAX.cast_unsigned() => {
                self.push(name, Attribute::Int(number.cast_signed()));
            }
            other => self.push(name, Attribute::Text(&other.to_string())),
        }
    }

    pub(crate) fn push(&mut self, name: &str, value: Attribute<'_>) {
        self.keys.push(self.fields.len());
        put_nested(ANY, &mut self.fields, |to| {
            put_text(KEY, name, to);
            put_nested(VALUE, to, |to| match value {
                Attribute::Text(text) => put_bytes(TEXT, text.as_bytes(), to),
                Attribute::Bool(value) => put_varint(BOOL, u64::from(value), to),
                Attribute::Int(number) => put_varint(INT, number.cast_unsigned(), to),
            });
        });
    }

    /// Appends the attributes as a field with this tag.
    pub(crate) fn put(&self, tag: u8, to: &mut Vec<u8>) {
        let first = to.len();
        to.extend_from_slice(&self.fields);
        for position in &self.keys {
            to[first + position] = key(tag);
        }
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use prost::Message;

    use super::*;

    #[test]
    fn attributes_are_those_of_the_generated_messages() {
        let long = "x\0".repeat(500);
        let texts = ["", "\0", "caf\u{e9}", &long[..127], &long[..128], &long];
        let numbers = [0, 1, -1, 127, 128, i64::MIN, i64::MAX];
        let values = texts.iter().map(|text| Attribute::Text(text));
        let values = values.chain(numbers.map(Attribute::Int));
        let values = values.chain([true, false].map(Attribute::Bool));
        let (mut ours, mut theirs) = (Attributes::default(), Resource::default());
        for (value, name) in values.flat_map(|value| texts.map(|name| (value, name.to_owned()))) {
            ours.push(&name, value);
            let value = Some(match value {
                Attribute::Text(text) => Value::StringValue(text.to_owned()),
                Attribute::Bool(value) => Value::BoolValue(value),
                Attribute::Int(number) => Value::IntValue(number),
            });
            let value = Some(AnyValue { value });
            theirs.attributes.push(KeyValue { key: name, value, ..KeyValue::default() });
        }
        let mut bytes = Vec::new();
        ours.put(1, &mut bytes);
        assert_eq!(bytes, theirs.encode_to_vec());

        theirs.attributes.truncate(7);
        ours.truncate(7);
        bytes.clear();
        ours.put(1, &mut bytes);
        assert_eq!((ours.len(), bytes), (7, theirs.encode_to_vec()));
    }
}
