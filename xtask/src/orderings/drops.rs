//! Places where a Relaxed load decides that something is dropped.
//!
//! Weakening orders does not find missing ones. A missing order matters where the result of a load
//! makes a thread drop a value, and fall back on another one: if nothing orders that one behind the
//! load, it may be older. So each such place has a row in `docs/orderings.md`, with the reason why
//! its fallback is not older, and a model in which the drop happens.
//!
//! A place is a statement with a Relaxed load, or with a call of one of the [looks](LOOKS) that are
//! one. It drops something if the statement has one of [these words](DROPS), or begins a block that
//! returns; or if it names its result, and a later statement of the function drops something by
//! that name. Other looks are not seen, nor is an `if` whose two answers are values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::sites::{Place, judged};
use super::tokens::{Token, tokens};
use crate::sources::{cut, read};

/// Functions whose answer is a Relaxed load's.
const LOOKS: &str = "owner_address is_free has_version identity_after is_valid is_current reaches";
/// Words by which a value is dropped.
const DROPS: &str = "? filter filter_map then_some then and_then is_some_and is_none_or take_while";
/// Words that end what a function or a loop does.
const ENDS: [&str; 3] = ["return", "continue", "break"];

const MARKS: [&str; 2] =
    ["<!-- what Relaxed loads drop: begin -->", "<!-- what Relaxed loads drop: end -->"];

fn is_in(words: &str, text: &str) -> bool {
    words.split(' ').any(|word| word == text)
}

/// A run of tokens up to `;`, `{` or `}`.
struct Statement<'s> {
    function: &'s str,
    tokens: Vec<Token<'s>>,
    end: &'s str,
}

impl<'s> Statement<'s> {
    /// Returns the Relaxed loads in it, by their names.
    fn loads(&self) -> impl Iterator<Item = &'s str> {
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
        let found = move |(at, token): (usize, &Token<'s>)| match token.text {
            "load" | "leads_to" | "shared" | "total" if text(at + 1) == "(" => {
                arguments(&self.tokens[at + 1..])
                    .any(|word| word == "Relaxed")
                    .then_some(token.text)
            }
            look if is_in(LOOKS, look) && text(at + 1) == "(" => {
                (at == 0 || text(at - 1) != "fn").then_some(look)
            }
            _ => None,
        };
        self.tokens.iter().enumerate().filter_map(found).collect::<Vec<_>>().into_iter()
    }

    /// Returns the names that it declares.
    fn names(&self) -> BTreeSet<&'s str> {
        let is_let = self.tokens.first().is_some_and(|token| token.text == "let");
        let pattern = self.tokens.iter().take_while(|token| token.text != "=");
        let name = |token: &&Token<'s>| {
            token.text.starts_with(|sign: char| sign.is_lowercase()) && token.text != "mut"
        };
        let names = pattern.skip(1).filter(name).map(|token| token.text);
        if is_let { names.collect() } else { BTreeSet::new() }
    }
}

/// Returns the tokens in the parentheses with which they begin.
fn arguments<'s>(tokens: &[Token<'s>]) -> impl Iterator<Item = &'s str> {
    let mut depth = 0;
    let is_within = move |word: &&'s str| {
        depth += i32::from(*word == "(") - i32::from(*word == ")");
        depth > 0
    };
    tokens.iter().map(|token| token.text).take_while(is_within)
}

fn statements<'s>(tokens: &[Token<'s>]) -> Vec<Statement<'s>> {
    let (mut place, mut all, mut open) = (Place::default(), Vec::new(), Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        let function = place.function();
        place.pass(tokens, at);
        if [";", "{", "}"].contains(&token.text) {
            all.push(Statement { function, tokens: std::mem::take(&mut open), end: token.text });
        } else {
            open.push(*token);
        }
    }
    all
}

fn drops(statements: &[Statement<'_>], at: usize) -> bool {
    let ends =
        |next: &Statement<'_>| next.tokens.first().is_some_and(|token| ENDS.contains(&token.text));
    let statement = &statements[at];
    statement.tokens.iter().any(|token| is_in(DROPS, token.text))
        || (statement.end == "{" && statements.get(at + 1).is_some_and(ends))
}

/// Returns the places in one file.
fn of_file(file: &str, source: &str) -> BTreeSet<String> {
    let tokens = tokens(source);
    let statements = statements(&tokens);
    let mut found = BTreeSet::new();
    for (at, statement) in statements.iter().enumerate() {
        let names = statement.names();
        let later = statements[at + 1..].iter().enumerate();
        let mut later = later.take_while(|(_, later)| later.function == statement.function);
        let names_it =
            |later: &Statement<'_>| later.tokens.iter().any(|token| names.contains(token.text));
        let drops_something = drops(&statements, at)
            || later.any(|(after, later)| names_it(later) && drops(&statements, at + 1 + after));
        if drops_something {
            let name = |load| format!("{file}: {}: {load}", statement.function);
            found.extend(statement.loads().map(name));
        }
    }
    found
}

/// Returns all places of the library in the workspace at `root`.
fn all(root: &Path) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for (file, source) in judged(root)? {
        found.extend(of_file(&file, &source));
    }
    Ok(found)
}

/// Returns the rows of the table: by place, what answers for it.
fn rows(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let page = read(&root.join("docs/orderings.md"))?;
    let [_, table, _] = cut(&page, MARKS)?;
    let row = |line: &str| {
        let line = line.strip_prefix("| `")?.strip_suffix(" |")?;
        let (site, rest) = line.split_once("` | ")?;
        Some((site.to_owned(), rest.rsplit_once(" | ")?.1.to_owned()))
    };
    Ok(table.lines().filter_map(row).collect())
}

/// Returns whether what answers for a place is a model that there is, or says that it needs none.
fn answers(root: &Path, by: &str) -> bool {
    let Some(model) = by.strip_prefix('`') else { return by.starts_with("none") };
    let Some((file, test)) = model.split('`').next().and_then(|name| name.rsplit_once("::")) else {
        return false;
    };
    let file = file.replace("::", "/");
    let source = root.join("loom-tests/tests/models").join(file).with_extension("rs");
    read(&source).is_ok_and(|source| source.contains(&format!("fn {test}(")))
}

/// Demands that the table agrees with the sources. Returns the errors.
pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let (places, rows) = (all(root)?, rows(root)?);
    let mut wrong = Vec::new();
    for place in &places {
        match rows.get(place) {
            None => {
                wrong.push(format!("`{place}` drops something by a Relaxed load, and has no row"));
            }
            Some(by) if !answers(root, by) => wrong.push(format!("`{place}`: no model is {by}")),
            Some(_) => {}
        }
    }
    let gone = rows.keys().filter(|row| !places.contains(*row));
    wrong.extend(gone.map(|row| format!("`{row}` has a row, and drops nothing in the sources")));
    println!("    {} places where a Relaxed load drops something", places.len());
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        of_file("a.rs", source).into_iter().collect()
    }

    #[test]
    fn what_drops_something_is_found() {
        let source = "
            fn a() { let b = c.load(Ordering::Relaxed)?; d }
            fn e() { (f.load(Ordering::Relaxed) == 1).then_some(g) }
            fn h() { if i.load(Ordering::Relaxed) { return None; } j }
            fn k() { let l = m.owner_address() == n; o; l.then_some(p) }
            fn q() { r.leads_to(s.t(), Ordering::Relaxed).then_some(u) }";
        let expected = [
            "a.rs: a: load",
            "a.rs: e: load",
            "a.rs: h: load",
            "a.rs: k: owner_address",
            "a.rs: q: leads_to",
        ];
        assert_eq!(found(source), expected);
    }

    #[test]
    fn what_drops_nothing_is_not() {
        let source = "
            fn owner_address(&self) -> u8 { self.a.load(Ordering::Relaxed) }
            fn b() { c.load(Ordering::Acquire)?; d.load(Ordering::Relaxed); e?; }
            fn f() { let g = h.load(Ordering::Relaxed); i(g); } fn j() { g?; }";
        assert_eq!(found(source), [""; 0]);
    }
}
