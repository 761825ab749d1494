//! Rust's tokens, as far as it takes to find an ordering: identifiers, numbers and signs, without
//! comments, strings, lifetimes, and code compiled only for tests.

use crate::lines;

/// An identifier, a number, or one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    /// Its beginning in the source.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(is_of_word)
    }
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Returns the tokens of a source that are compiled into the library.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for line in lines::of_source(source) {
        let begin = line.text.as_ptr().addr() - source.as_ptr().addr();
        let mut rest = line.code.as_str();
        while let Some(sign) = rest.chars().next() {
            let word = rest.find(|sign| !is_of_word(sign)).unwrap_or(rest.len());
            let end = word.max(sign.len_utf8());
            let at = line.code.len() - rest.len();
            let is_lifetime = tokens.pop_if(|last: &mut Token<'_>| last.text == "'").is_some();
            if !is_lifetime && !sign.is_whitespace() {
                tokens.push(Token { text: &line.text[at..at + end], at: begin + at });
            }
            rest = &rest[end..];
        }
    }
    without_tests(&tokens)
}

fn without_tests<'s>(mut tokens: &[Token<'s>]) -> Vec<Token<'s>> {
    let mut kept = Vec::new();
    while let Some((first, rest)) = tokens.split_first() {
        tokens = if let Some(attribute) = test_attribute(tokens) {
            &tokens[attribute + item(&tokens[attribute..])..]
        } else {
            kept.push(*first);
            rest
        };
    }
    kept
}

/// Returns the length of a `#[cfg(..)]` that names `test`, if the tokens begin with one.
fn test_attribute(tokens: &[Token<'_>]) -> Option<usize> {
    let texts = || tokens.iter().map(|token| token.text);
    let end = 1 + texts().position(|text| text == "]")?;
    let is_cfg = texts().take(3).eq(["#", "[", "cfg"]);
    (is_cfg && texts().take(end).any(|text| text == "test")).then_some(end)
}

/// Returns the length of an item, its body or its semicolon included.
fn item(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return at; // the end of the item around it
        }
        if depth == 0 && [";", "}"].contains(&token.text) {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_lifetimes_are_no_tokens() {
        let source = r##"a // b 'c' "d"
            e /// f
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
