//! JSON for a page: text that is written as it comes.

use std::fmt::Write;

use crate::read::number::Number;

/// The greatest number up to which a script's numbers are exact.
const EXACT: u64 = 1 << 53;

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

    pub(crate) fn text(&mut self, text: &str) {
        self.comma();
        self.0.push_str(&serde_json::Value::from(text).to_string());
    }

    /// Writes a number, as a text where a script would round it.
    pub(crate) fn number(&mut self, number: impl Into<Number>) {
        self.comma();
        let written = match number.into() {
            Number::None => write!(self.0, "null"),
            Number::Unsigned(number) if number > EXACT => write!(self.0, "\"{number}\""),
            Number::Unsigned(number) => write!(self.0, "{number}"),
            Number::Signed(number) if number.unsigned_abs() > EXACT => {
                write!(self.0, "\"{number}\"")
            }
            Number::Signed(number) => write!(self.0, "{number}"),
            Number::Real(number) => write!(self.0, "{number:?}"),
        };
        let _ = written; // writing to a `String` cannot fail
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

    /// Writes numbers as items of a list.
    pub(crate) fn numbers<N: Into<Number> + Copy>(&mut self, numbers: &[N]) {
        for number in numbers {
            self.number(*number);
        }
    }

    fn enclosed(&mut self, [open, close]: [char; 2], inner: impl FnOnce(&mut Json)) {
        self.comma();
        self.0.push(open);
        inner(self);
        self.0.push(close);
    }

    /// Writes a comma, unless this is the first of its list, or the value of a member.
    fn comma(&mut self) {
        if self.0.ends_with(|last| !matches!(last, '[' | '{' | ':')) {
            self.0.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_a_parser_reads() {
        let mut json = Json::default();
        json.object(|json| {
            json.name("hostile").text("[{:\"\n\\\u{202e}</script>");
            json.name("numbers").list(|json| {
                json.list(|_| ());
                json.number(Number::None);
                json.number(0);
                json.number(Number::Signed(-7));
                json.number(EXACT);
                json.number(u64::MAX);
                json.number(Number::Signed(i64::MIN));
                json.number(Number::real(-0.75));
                json.number(Number::real(f64::MAX));
                json.number(Number::real(f64::NAN));
            });
            json.name("more").object(|_| ());
        });
        let read: serde_json::Value = serde_json::from_str(&json.finish()).unwrap();
        let expected = serde_json::json!({
            "hostile": "[{:\"\n\\\u{202e}</script>",
            "numbers": [
                [], null, 0, -7, EXACT, u64::MAX.to_string(), i64::MIN.to_string(), -0.75, f64::MAX,
                null
            ],
            "more": {},
        });
        assert_eq!(read, expected);
    }
}
