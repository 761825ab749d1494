//! Names of resources: the name of a series, made of its labels, and the escaping of names in
//! lines.

use std::fmt::Write;

use windrow::export::Series;

/// Returns a name for a series: `NAME{LABEL="VALUE",...}`, with `\` before each `\` and `"` of a
/// value; of a series without labels, the name alone. Different sets of labels have different
/// names.
///
/// ```
/// use windrow::export::Source;
/// use windrow::{Counter, Family, labels};
///
/// labels! { pub struct Request { route: str, status: u16 } }
///
/// let requests: Family<Request, Counter> = Family::new();
/// requests.with(Request { route: "/cart", status: 200 }).increment();
/// requests.visit(&mut |series| {
///     assert_eq!(windrow_log::name("http", series), r#"http{route="/cart",status="200"}"#);
/// });
/// ```
pub fn name(name: &str, series: &dyn Series) -> String {
    let mut all = name.to_owned();
    let mut begins = '{';
    series.labels(&mut |label, value| {
        let value = value.to_string().replace('\\', r"\\").replace('"', r#"\""#);
        let _ = write!(all, r#"{begins}{label}="{value}""#); // writing to a `String` cannot fail
        begins = ',';
    });
    if begins == ',' {
        all.push('}');
    }
    all
}

/// Writes a name so that no line, field or mark can begin in it: `|`, `%` and control characters
/// are written as `%` and two hexadecimal digits for each byte.
pub(crate) fn escape(name: &str, into: &mut Vec<u8>) {
    for character in name.chars() {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        if matches!(character, '|' | '%') || character.is_control() {
            let digit = |half: u8| b"0123456789ABCDEF"[usize::from(half)];
            into.extend(bytes.iter().flat_map(|byte| [b'%', digit(byte >> 4), digit(byte & 15)]));
        } else {
            into.extend_from_slice(bytes);
        }
    }
}

/// Undoes [`escape`]; returns `None` if it cannot have written the text.
pub(crate) fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use windrow::export::Source;
    use windrow::{Counter, Family, labels, labels::ShortText};

    use super::*;

    labels! {
        struct Route { route: str, status: u16 }
        struct Id { id: ShortText, letter: char }
    }

    #[test]
    fn names_come_back_as_they_were() {
        let long = "x|\n".repeat(4_000);
        let names =
            ["", "/cart", "a|b", "50%", "%7C", "\u{1}\n\r\t\0", "\u{85}\u{9f}é", "购物车", &long];
        for name in names {
            let mut escaped = Vec::new();
            escape(name, &mut escaped);
            let escaped = String::from_utf8(escaped).unwrap();
            assert!(!escaped.contains('|') && !escaped.chars().any(char::is_control), "{escaped}");
            assert_eq!(unescape(&escaped).as_deref(), Some(name));
        }
        for wrong in ["%", "%7", "%zz", "a%+1", "%run 1", "%C3", "%é"] {
            assert_eq!(unescape(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn different_labels_have_different_names() {
        let family: Family<Route, Counter> = Family::new().with_max_series(3);
        for (route, status) in [("/", 200), (r#"/",status="1"#, 2), (r"\", 2), ("no room", 2)] {
            family.with(Route { route, status }).increment();
        }
        let mut expected = [
            r#"http{route="/",status="200"}"#,
            r#"http{route="/\",status=\"1",status="2"}"#,
            r#"http{route="\\",status="2"}"#,
            r#"http{overflow="true"}"#,
        ];
        expected.sort_unstable();
        assert_eq!(names("http", &family), expected);
        let family: Family<Id, Counter> = Family::new();
        family.with(Id { id: ShortText::of(r#"a",letter="b\"#), letter: '"' }).increment();
        assert_eq!(names("it", &family), [r#"it{id="a\",letter=\"b\\",letter="\""}"#]);
        assert_eq!(names("hits", &Counter::new()), ["hits"]);
        let family = Family::<_, Counter>::with_names(["tenant", "region"]).unwrap();
        for key in [&["ab", "c"][..], &["a", r#"b",x="c"#], &["ab"]] {
            family.with(key).increment();
        }
        let expected = [
            r#"it{overflow="true"}"#,
            r#"it{tenant="a",region="b\",x=\"c"}"#,
            r#"it{tenant="ab",region="c"}"#,
        ];
        assert_eq!(names("it", &family), expected);
    }

    fn names(of: &str, source: &dyn Source) -> Vec<String> {
        let mut names = Vec::new();
        source.visit(&mut |series| names.push(name(of, series)));
        names.sort_unstable();
        names
    }
}
