//! Rust's tokens, as far as it takes to find an ordering: identifiers, numbers and signs, without
//! comments, strings, lifetimes, attributes, and code compiled only for tests.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// An identifier, a number, or one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    /// Its beginning in the source.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_')
    }
}

/// Returns the tokens of a source that are compiled into the library.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    add(source, source.parse().unwrap_or_default(), &mut tokens);
    tokens
}

fn add<'s>(source: &'s str, stream: TokenStream, into: &mut Vec<Token<'s>>) {
    let token = |span: Span| {
        let range = span.byte_range();
        Token { at: range.start, text: &source[range] }
    };
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match &tree {
            // An attribute, or a comment of documentation.
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                trees.next_if(|next| is_sign(next, '!'));
                let attribute = trees.next_if(|next| matches!(next, TokenTree::Group(_)));
                if attribute.is_some_and(|attribute| is_of_tests(token(attribute.span()).text)) {
                    trees.find(is_end_of_item);
                }
            }
            TokenTree::Punct(sign) if sign.as_char() == '\'' => _ = trees.next(), // a lifetime
            TokenTree::Group(group) => {
                into.push(token(group.span_open()));
                add(source, group.stream(), into);
                into.push(token(group.span_close()));
            }
            TokenTree::Literal(literal) if is_text(token(literal.span()).text) => {}
            other => into.push(token(other.span())),
        }
    }
}

fn is_text(literal: &str) -> bool {
    !literal.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Returns whether an attribute is a `cfg` that names `test`.
fn is_of_tests(attribute: &str) -> bool {
    let mut words = attribute.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
    attribute.starts_with("[cfg(") && words.any(|word| word == "test")
}

fn is_end_of_item(tree: &TokenTree) -> bool {
    let is_body = matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    is_body || is_sign(tree, ';')
}

fn is_sign(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(sign) if sign.as_char() == wanted)
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
        assert_eq!(texts(source), ["b", "e", "f"]);
    }

    #[test]
    fn a_token_knows_its_place() {
        assert_eq!(tokens("ä b")[1], Token { text: "b", at: 3 });
    }
}
