//! Rust's tokens, as far as it takes to find an ordering: identifiers, numbers and signs, without
//! comments, strings, lifetimes, and code compiled only for tests.

use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, LexError, Span, TokenStream, TokenTree};

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
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, String> {
    let stream = source.parse::<TokenStream>().map_err(|error: LexError| error.to_string())?;
    let mut found = Found { source, tokens: Vec::new() };
    found.all(stream);
    Ok(found.tokens)
}

type Trees = Peekable<IntoIter>;

struct Found<'s> {
    source: &'s str,
    tokens: Vec<Token<'s>>,
}

impl Found<'_> {
    fn all(&mut self, stream: TokenStream) {
        let mut trees = stream.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match &tree {
                TokenTree::Punct(sign) if sign.as_char() == '\'' => _ = trees.next(), // a lifetime
                TokenTree::Punct(sign) if sign.as_char() == '#' && is_for_tests(&mut trees) => {
                    skip_item(&mut trees);
                }
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket | Delimiter::None => ("[", "]"),
                    };
                    if self.one(group.span_open(), open) {
                        self.all(group.stream());
                        self.one(group.span_close(), close);
                    }
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if text.starts_with(|sign: char| sign.is_ascii_digit()) {
                        self.one(literal.span(), &text);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {
                    self.one(tree.span(), &tree.to_string());
                }
            }
        }
    }

    /// Consumes a token, if the source has it there: the attribute made of a doc comment is not in
    /// the source.
    fn one(&mut self, span: Span, text: &str) -> bool {
        let place = span.byte_range();
        let at = place.start;
        let found = &self.source[place];
        let stands = found == text;
        if stands {
            self.tokens.push(Token { text: found, at });
        }
        stands
    }
}

/// Returns whether a `#` goes on as `[cfg(..)]` that names `test`.
fn is_for_tests(trees: &mut Trees) -> bool {
    let Some(TokenTree::Group(attribute)) = trees.peek() else { return false };
    let mut inside = attribute.stream().into_iter();
    let is_cfg = matches!(inside.next(), Some(TokenTree::Ident(name)) if name == "cfg");
    is_cfg && names_test(inside.collect())
}

fn names_test(stream: TokenStream) -> bool {
    stream.into_iter().any(|tree| match tree {
        TokenTree::Ident(name) => name == "test",
        TokenTree::Group(group) => names_test(group.stream()),
        _ => false,
    })
}

/// Passes over an item, its body or its semicolon included.
fn skip_item(trees: &mut Trees) {
    trees.find(|tree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(sign) => sign.as_char() == ';',
        _ => false,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).unwrap().into_iter().map(|token| token.text).collect()
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
        assert_eq!(tokens("ä b").unwrap()[1], Token { text: "b", at: 3 });
    }
}
