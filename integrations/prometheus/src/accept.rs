//! Reading `Accept` and `Accept-Encoding`: lists whose elements have weights (RFC 9110, section
//! 12).

/// The weight of an element that has none, in thousandths.
const WHOLE: u16 = 1000;

/// An element of such a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element<'h> {
    /// A media range or a coding.
    pub(crate) name: &'h str,
    /// The parameter `version`.
    pub(crate) version: Option<&'h str>,
    /// The parameter `escaping`.
    pub(crate) escaping: Option<&'h str>,
    /// The parameters `proto` and `encoding` of protobuf.
    pub(crate) proto: Option<&'h str>,
    pub(crate) encoding: Option<&'h str>,
    /// The parameter `q`, in thousandths: 0 for what the client refuses.
    pub(crate) weight: u16,
}

/// Returns the elements of a header's value. Those with an invalid weight are left out, since the
/// client's wish is unknown.
pub(crate) fn elements(header: &str) -> impl Iterator<Item = Element<'_>> {
    split(header, ',').filter_map(element)
}

fn element(text: &str) -> Option<Element<'_>> {
    let mut parts = split(text, ';');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let mut element = Element { name, weight: WHOLE, ..Element::default() };
    for parameter in parts {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let text = Some(quoted.unwrap_or(value));
        match name.to_ascii_lowercase().as_str() {
            "q" => element.weight = weight(value)?,
            "version" => element.version = text,
            "escaping" => element.escaping = text,
            "proto" => element.proto = text,
            "encoding" => element.encoding = text,
            _ => {}
        }
    }
    Some(element)
}

/// Returns the parts between separators that are not in quotes.
pub(crate) fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let separates = move |character| {
        let separates = character == separator && !is_quoted;
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        separates
    };
    text.split(separates).map(|part| part.trim_matches([' ', '\t']))
}

/// Returns a weight in thousandths: from 0 to 1, with at most three decimals.
fn weight(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let part = format!("{decimals:0<3}").parse().ok()?;
    match (whole, part) {
        ("0", part) => Some(part),
        ("1", 0) => Some(WHOLE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_three_decimals() {
        let valid = [("0", 0), ("0.", 0), ("0.5", 500), ("0.05", 50), ("0.001", 1), ("0.999", 999)];
        for (text, thousandths) in valid.into_iter().chain([("1", 1000), ("1.000", 1000)]) {
            assert_eq!(weight(text), Some(thousandths), "{text}");
        }
        for text in
            ["", ".5", "1.001", "2", "00", "-0", "+0", "0.0001", "0,5", "0.5 ", "NaN", "1e0"]
        {
            assert_eq!(weight(text), None, "{text}");
        }
    }

    #[test]
    fn elements_have_names_versions_and_weights() {
        let all = |header| elements(header).collect::<Vec<_>>();
        let of = |name, version, weight| Element { name, version, weight, ..Element::default() };
        assert_eq!(all(""), []);
        assert_eq!(all(" , ;q=1, ,"), []);
        let header = "a/b ;\tVersion=\"1.0\"; x=y ; Q=0.25,*/*;q=0,c/d";
        let expected = [of("a/b", Some("1.0"), 250), of("*/*", None, 0), of("c/d", None, 1000)];
        assert_eq!(all(header), expected);
        let protobuf = "a/b;proto=c.D; Encoding=\"delimited\";escaping=dots";
        let (proto, encoding, escaping) = (Some("c.D"), Some("delimited"), Some("dots"));
        assert_eq!(all(protobuf), [Element { escaping, proto, encoding, ..of("a/b", None, 1000) }]);
        // Without a valid weight, an element is left out, and no other.
        assert_eq!(all("a/b;q=high,c/d;q=0.5;x"), [of("c/d", None, 500)]);
        // Separators in quotes separate nothing, also behind escaped quotes.
        let header = "a/b;x=\"\\\",c/d;q=0\";q=0.5, e/f;x=\"";
        assert_eq!(all(header), [of("a/b", None, 500), of("e/f", None, 1000)]);
        assert_eq!(all("a/b;x=\"é,c/d;q=0"), [of("a/b", None, 1000)]);
    }
}
