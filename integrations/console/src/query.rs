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
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [byte, after @ ..] = rest {
        let escaped = (*byte == b'%').then(|| hex(after)).flatten();
        bytes.push(escaped.unwrap_or(if *byte == b'+' { b' ' } else { *byte }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the byte of two hexadecimal digits.
fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (high, low) = (digit(*digits.first()?)?, digit(*digits.get(1)?)?);
    u8::try_from(high * 16 + low).ok()
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
