//! The parameters of a request.

use http::Request;

/// Returns the key of the series that a request asks for.
pub(crate) fn asked_series<B>(request: &Request<B>) -> Option<String> {
    parameter(request, "series").map(decoded)
}

/// Returns a parameter of a request's query, as it stands there.
pub(crate) fn parameter<'a, B>(request: &'a Request<B>, name: &str) -> Option<&'a str> {
    let mut pairs = request.uri().query().unwrap_or_default().split('&');
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// Decodes a value of a query: `%41` is `A`, `+` a space. Invalid escapes stay as they are.
fn decoded(value: &str) -> String {
    let spaced = value.replace('+', " ");
    let mut parts = spaced.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let escaped = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(b'%'));
        bytes.extend(&part.as_bytes()[if escaped.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        assert_eq!(decoded("a%7b%22%C3%A9%22%7D+%2B"), "a{\"é\"} +");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%é"), "%é");
    }
}
