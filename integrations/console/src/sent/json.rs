//! JSON for a page: text that is written as it comes.

use std::fmt::Write;

use crate::read::number::Number;

/// The greatest number up to which a script's numbers are exact.
const EXACT: u128 = 1 << 53;

/// A text in JSON that is written as it comes, with the commas that it needs.
#[derive(Debug, Default)]
pub(crate) struct Json(String);

impl Json {
    pub(crate) fn finish(self) -> String {
        self.0
    }

    pub(crate) fn list(&mut self, items: impl FnOnce(&mut Json)) {
        self.enclosed(['[', ']'], items);
    }

    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Json)) {
        self.enclosed(['{', '}'], members);
    }

    /// Writes the name of a member, whose value is to follow. It needs no escape.
    pub(crate) fn name(&mut self, name: &'static str) -> &mut Json {
        self.comma();
        // Writing to a `String` cannot fail.
        let _ = write!(self.0, "\"{name}\":");
        self
    }

    pub(crate) fn add(&mut self, item: impl Item) {
        self.comma();
        item.write(self);
    }

    /// Writes the items of a list, which were built without it.
    pub(crate) fn raw_list(&mut self, items: &Json) {
        self.list(|json| json.0.push_str(&items.0));
    }

    /// Writes a value, or members of an object, that were built before.
    pub(crate) fn raw(&mut self, value: &str) {
        self.comma();
        self.0.push_str(value);
    }

    fn enclosed(&mut self, [open, close]: [char; 2], inner: impl FnOnce(&mut Json)) {
        self.comma();
        self.0.push(open);
        inner(self);
        self.0.push(close);
    }

    /// Writes a comma, unless this is the first of its list, or the value of a member.
    fn comma(&mut self) {
        if self.0.ends_with(|last| !matches!(last, '[' | '{' | ':' | ',')) {
            self.0.push(',');
        }
    }
}

/// A value of a list, or of a member. A tuple is a list.
pub(crate) trait Item {
    fn write(self, json: &mut Json);
}

/// A list of items.
pub(crate) struct Items<I>(pub(crate) I);

impl<I: IntoIterator<Item: Item>> Item for Items<I> {
    fn write(self, json: &mut Json) {
        json.list(|json| self.0.into_iter().for_each(|item| json.add(item)));
    }
}

impl Item for &str {
    fn write(self, json: &mut Json) {
        json.0.push_str(&serde_json::Value::from(self).to_string());
    }
}

impl Item for String {
    fn write(self, json: &mut Json) {
        self.as_str().write(json);
    }
}

impl<T: Item> Item for Option<T> {
    fn write(self, json: &mut Json) {
        match self {
            Some(item) => item.write(json),
            None => json.0.push_str("null"),
        }
    }
}

impl Item for Number {
    fn write(self, json: &mut Json) {
        match self {
            Number::None => json.0.push_str("null"),
            Number::Unsigned(number) => number.write(json),
            Number::Signed(number) => number.write(json),
            Number::Real(number) => _ = write!(json.0, "{number:?}"),
        }
    }
}

/// Integers are texts where a script would round them.
macro_rules! integers {
    ($($integer:ty)+) => {
        $(
            impl Item for $integer {
                fn write(self, json: &mut Json) {
                    let is_exact = i128::from(self).unsigned_abs() <= EXACT;
                    let quote = if is_exact { "" } else { "\"" };
                    let _ = write!(json.0, "{quote}{self}{quote}");
                }
            }
        )+
    };
}

integers! { u64 i64 i128 }

macro_rules! tuples {
    ($($($name:ident)+;)+) => {
        $(
            impl<$($name: Item),+> Item for ($($name,)+) {
                #[expect(non_snake_case, reason = "a value has the name of its type")]
                fn write(self, json: &mut Json) {
                    let ($($name,)+) = self;
                    json.list(|json| { $(json.add($name);)+ });
                }
            }
        )+
    };
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_a_parser_reads() {
        let mut json = Json::default();
        json.object(|json| {
            json.name("hostile").add("[{:,\"\n\\\u{202e}</script>");
            let numbers = [
                Number::None,
                Number::Unsigned(0),
                Number::Signed(-7),
                Number::Unsigned(1 << 53),
                Number::Unsigned(u64::MAX),
                Number::Signed(i64::MIN),
                Number::real(-0.75),
                Number::real(f64::MAX),
                Number::real(f64::NAN),
            ];
            json.name("numbers").add((Items([0_u64; 0]), Items(numbers)));
            let large = [1 << 53, -(1 << 53), (1 << 53) + 1, -(1 << 53) - 1, i128::MAX];
            json.name("large").add(Items(large));
            json.name("more").object(|_| ());
        });
        let read: serde_json::Value = serde_json::from_str(&json.finish()).unwrap();
        let expected = serde_json::json!({
            "hostile": "[{:,\"\n\\\u{202e}</script>",
            "numbers": [
                [],
                [null, 0, -7, 1_u64 << 53, u64::MAX.to_string(), i64::MIN.to_string(), -0.75, f64::MAX, null]
            ],
            "large": [
                1_u64 << 53, -(1_i64 << 53), "9007199254740993", "-9007199254740993",
                i128::MAX.to_string()
            ],
            "more": {},
        });
        assert_eq!(read, expected);
    }
}
