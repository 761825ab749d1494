//! Rust's tokens, as far as it takes to find an ordering: identifiers and signs, without comments,
//! strings, lifetimes, and what is compiled for tests alone.

/// An identifier, a number, or one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    /// Where it begins in the source.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(is_word)
    }
}

/// The tokens of a source that are compiled into the library.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    without_tests(&all_tokens(source))
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn all_tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (length, is_token) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (block_comment(rest), false)
        } else if first.is_whitespace() {
            (first.len_utf8(), false)
        } else if let Some(length) = string(rest) {
            (length, false)
        } else if first == '\'' {
            (character_or_lifetime(rest), false)
        } else if is_word(first) {
            (rest.find(|sign| !is_word(sign)).unwrap_or(rest.len()), true)
        } else {
            (first.len_utf8(), true)
        };
        if is_token {
            tokens.push(Token { text: &rest[..length], at });
        }
        at += length;
    }
    tokens
}

/// The length of the comment that `rest` begins with; comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of the string that `rest` begins with, its prefix included; `None` if it is none.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["", "b", "c", "r", "br", "cr"].into_iter().rev().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['"', '#']))
    })?;
    let body = &rest[prefix.len()..];
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let before = prefix.len() + hashes + 1;
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(inside.find(&end).map_or(rest.len(), |at| before + at + end.len()));
    }
    if hashes > 0 {
        return None; // an attribute
    }
    Some(before + until(inside, '"'))
}

/// The length of what `rest` begins with: `'a'`, `'\n'`, or `'a` of a lifetime.
fn character_or_lifetime(rest: &str) -> usize {
    let inside = &rest[1..];
    let mut signs = inside.chars();
    let first = signs.next();
    if first == Some('\\') || signs.next() == Some('\'') {
        1 + until(inside, '\'')
    } else {
        1 + inside.find(|sign| !is_word(sign)).unwrap_or(inside.len())
    }
}

/// The length of what stands before `end`, and of that itself; what is behind a backslash does not end.
fn until(inside: &str, end: char) -> usize {
    let mut escaped = false;
    for (at, sign) in inside.char_indices() {
        if !escaped && sign == end {
            return at + sign.len_utf8();
        }
        escaped = !escaped && sign == '\\';
    }
    inside.len()
}

/// Leaves out each item behind a `#[cfg(..)]` that names `test`.
fn without_tests<'s>(tokens: &[Token<'s>]) -> Vec<Token<'s>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let texts = |range: std::ops::Range<usize>| {
            tokens.get(range).unwrap_or_default().iter().map(|token| token.text)
        };
        if texts(at..at + 4).eq(["#", "[", "cfg", "("]) {
            let end = closing(tokens, at + 1);
            if texts(at..end).any(|text| text == "test") {
                at = end_of_item(tokens, end + 1);
                continue;
            }
        }
        kept.push(tokens[at]);
        at += 1;
    }
    kept
}

/// Where the bracket is closed that stands at `open`.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Behind the item that begins at `at`: behind its body, or its semicolon.
fn end_of_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.text {
            "{" => return closing(tokens, at) + 1,
            ";" => return at + 1,
            "(" | "[" => at = closing(tokens, at) + 1,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_lifetimes_are_no_tokens() {
        let source = r##"a /* b /* c */ d */ e // f
            "g \" h" r#"i " j"# b"k" 'l' '\'' '"' fn<'m>() n"##;
        assert_eq!(texts(source), ["a", "e", "fn", "<", ">", "(", ")", "n"]);
    }

    #[test]
    fn tests_are_left_out() {
        let source = "#[cfg(all(test, not(x)))] mod tests { { a } } b \
                      #[cfg(test)] use c::d; e #[cfg(loom)] f";
        assert_eq!(texts(source), ["b", "e", "#", "[", "cfg", "(", "loom", ")", "]", "f"]);
    }

    #[test]
    fn a_token_knows_its_place() {
        assert_eq!(tokens("ä b")[1], Token { text: "b", at: 3 });
    }
}
