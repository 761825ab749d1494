//! JSON for a script, whose numbers are exact up to 2^53 only.

use std::fmt::Write;

use serde_json::Value;

use crate::read::number::Number;

/// The greatest number up to which a script's numbers are exact.
const EXACT: u128 = 1 << 53;

/// Returns an integer: as a text where a script would round it.
pub(crate) fn exact(integer: impl Into<i128>) -> Value {
    let integer = integer.into();
    let exact = i64::try_from(integer).ok().filter(|_| integer.unsigned_abs() <= EXACT);
    exact.map_or_else(|| integer.to_string().into(), Value::from)
}

/// Returns numbers: integers as [`exact`] has them.
pub(crate) fn numbers(numbers: &[Number]) -> Vec<Value> {
    let number = |number: &Number| match *number {
        Number::None => Value::Null,
        Number::Whole(number) => exact(number),
        Number::Real(number) => number.into(),
    };
    numbers.iter().map(number).collect()
}

/// The items of a list, which are written as they come.
#[derive(Debug, Default)]
pub(crate) struct List(String);

impl List {
    pub(crate) fn push(&mut self, item: &Value) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}{item}"); // writing to a `String` cannot fail
    }
}

/// Returns an object with all members of another one, and with lists.
pub(crate) fn with_lists(object: &Value, lists: &[(&str, &List)]) -> String {
    let mut json = object.to_string();
    json.pop(); // the brace at its end
    for (name, List(items)) in lists {
        let _ = write!(json, ",\"{name}\":[{items}]");
    }
    json.push('}');
    json
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_what_a_parser_reads() {
        let hostile = "[{:,\"\n\\\u{202e}</script>";
        let of_series = [
            Number::None,
            Number::Whole(0),
            Number::Whole(-7),
            Number::Whole(1 << 53),
            Number::whole(u64::MAX),
            Number::whole(i64::MIN),
            Number::real(-0.75),
            Number::real(f64::MAX),
            Number::real(f64::NAN),
        ];
        let large = [1 << 53, -(1 << 53), (1 << 53) + 1, -(1 << 53) - 1, i128::MAX];
        let mut list = List::default();
        list.push(&json!([[], numbers(&of_series)]));
        list.push(&hostile.into());
        let head = json!({ "hostile": hostile, "large": large.map(exact) });
        let written = with_lists(&head, &[("list", &list), ("more", &List::default())]);
        let read: Value = serde_json::from_str(&written).unwrap();
        let expected = json!({
            "hostile": hostile,
            "large": [
                1_u64 << 53, -(1_i64 << 53), "9007199254740993", "-9007199254740993",
                i128::MAX.to_string()
            ],
            "list": [
                [
                    [],
                    [
                        null, 0, -7, 1_u64 << 53, u64::MAX.to_string(), i64::MIN.to_string(), -0.75,
                        f64::MAX, null
                    ]
                ],
                hostile
            ],
            "more": [],
        });
        assert_eq!(read, expected);
    }
}
