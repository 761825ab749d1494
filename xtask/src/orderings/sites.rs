//! The sites: where the library asks for an order that is stronger than Relaxed.
//!
//! They are found in the sources' [tokens](super::tokens), and named by file, function, operation
//! and order, so that a name survives when lines move. A comparison with an order, or a match on
//! one, is not a site.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use super::tokens::{Token, tokens};
use crate::sources;

/// The orders that are stronger than Relaxed.
const STRONG: [&str; 4] = ["SeqCst", "AcqRel", "Acquire", "Release"];

/// Not the library's own steps: the reclaimer that checks, the switch between std and loom, and
/// tests.
const LEFT_OUT: [&str; 4] =
    ["reclaim/checker", "ring/parts.rs", "sync.rs", "stripe/portable/tests.rs"];

/// One order that is asked for.
#[derive(Debug)]
pub(super) struct Site {
    /// From the folder of the sources.
    pub(super) file: String,
    function: String,
    /// The function that is called with the order.
    operation: String,
    pub(super) order: &'static str,
    /// The index among sites that are otherwise equal.
    nth: usize,
    /// The range of `Ordering::...`.
    at: (usize, usize),
    /// The beginning of `fence`, if it is one.
    fence: Option<usize>,
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Site { file, function, operation, order, nth, .. } = self;
        write!(f, "{file}: {function}: {operation}: {order}")?;
        if *nth > 1 { write!(f, " #{nth}") } else { Ok(()) }
    }
}

impl Site {
    /// Returns the weaker orders, the strongest first. A Relaxed fence is no fence.
    pub(super) fn weaker(&self) -> &'static [&'static str] {
        match self.order {
            "SeqCst" => &["AcqRel", "Relaxed"],
            "AcqRel" => &["Acquire", "Release", "Relaxed"],
            _ => &["Relaxed"],
        }
    }

    pub(super) fn is_fence(&self) -> bool {
        self.fence.is_some()
    }
}

/// Returns all sites of the library in the workspace at `root`, by file, in their order there.
pub(super) fn all(root: &Path) -> Result<Vec<Site>, String> {
    let mut sites = Vec::new();
    for (file, source) in judged(root)? {
        sites.extend(of_file(&file, &source)?);
    }
    Ok(sites)
}

/// Returns the sources of the library that are judged, each with its path from their folder.
pub(super) fn judged(root: &Path) -> Result<Vec<(String, String)>, String> {
    let folder = root.join("src");
    let files = sources::with_extension(&folder, "rs")?.into_iter();
    let judged = files.filter(|file| !LEFT_OUT.iter().any(|begin| file.starts_with(begin)));
    judged.map(|file| sources::read(&folder.join(&file)).map(|text| (file, text))).collect()
}

/// Returns the sites in one file.
fn of_file(file: &str, source: &str) -> Result<Vec<Site>, String> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut place = Place::default();
    let mut sites: Vec<Site> = Vec::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        place.pass(&tokens, at);
        let Some(order) = STRONG.into_iter().find(|strong| *strong == token.text) else {
            continue;
        };
        if at < 3 || !["Ordering", ":", ":"].into_iter().eq((at - 3..at).map(text)) {
            return Err(format!("{file}: `{order}` without `Ordering::` before it is not found"));
        }
        let is_compared = at > 4 && text(at - 4) == "=" && ["=", "!"].contains(&text(at - 5));
        if is_compared || text(at + 1) == "|" || text(at + 1) == "=" && text(at + 2) == ">" {
            continue;
        }
        let operation = place.calls.innermost();
        let operation = operation.or_else(|| call_with_order(&tokens, at)).map(|at| tokens[at]);
        if operation.is_some_and(|operation| operation.text == "compiler_fence") {
            continue; // it orders what signal handlers see, which no model has
        }
        let fence = operation.filter(|operation| operation.text == "fence");
        if order == "SeqCst" && fence.is_none() {
            return Err(format!("{file}: a SeqCst access, which loom takes for AcqRel"));
        }
        let mut site = Site {
            file: file.to_owned(),
            function: place.function().to_owned(),
            operation: operation.map_or("-", |operation| operation.text).to_owned(),
            order,
            nth: 1,
            at: (tokens[at - 3].at, token.at + token.text.len()),
            fence: fence.map(|fence| fence.at),
        };
        let so_many = names.entry(site.to_string()).or_insert(0);
        *so_many += 1;
        site.nth = *so_many;
        sites.push(site);
    }
    Ok(sites)
}

/// In which function a token stands, and in which calls.
#[derive(Default)]
pub(super) struct Place<'s> {
    depth: usize,
    /// The functions that it is in, and how deep their bodies are.
    function: Vec<(&'s str, usize)>,
    /// A function before its body.
    coming: Option<&'s str>,
    /// The number of open brackets: a semicolon in one is part of an array's type.
    brackets: usize,
    calls: Calls,
}

impl<'s> Place<'s> {
    /// Returns the name of the innermost function that it is in.
    pub(super) fn function(&self) -> &'s str {
        self.function.last().map_or("-", |(name, _)| *name)
    }

    /// Moves on over a token.
    pub(super) fn pass(&mut self, tokens: &[Token<'s>], at: usize) {
        self.calls.pass(tokens, at);
        match tokens[at].text {
            "{" => {
                self.depth += 1;
                self.function.extend(self.coming.take().map(|name| (name, self.depth)));
            }
            "}" => {
                self.function.pop_if(|(_, depth)| *depth == self.depth);
                self.depth -= 1;
            }
            "[" => self.brackets += 1,
            "]" => self.brackets -= 1,
            ";" if self.brackets == 0 => self.coming = None, // it has no body
            "fn" => {
                let name = tokens.get(at + 1).filter(|token| token.is_word());
                self.coming = name.map(|name| name.text).or(self.coming);
            }
            _ => {}
        }
    }
}

/// For each open parenthesis, the token of the called function, if there is one.
#[derive(Default)]
struct Calls(Vec<Option<usize>>);

impl Calls {
    fn pass(&mut self, tokens: &[Token<'_>], at: usize) {
        match tokens[at].text {
            "(" => {
                let name = at.checked_sub(1).filter(|before| tokens[*before].is_word());
                self.0.push(name);
            }
            ")" => _ = self.0.pop(),
            _ => {}
        }
    }

    fn innermost(&self) -> Option<usize> {
        self.0.last().copied().flatten()
    }
}

/// Returns the call to which an order goes that is given a name first: `order`.
fn call_with_order(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut calls = Calls::default();
    (at..tokens.len()).take_while(|next| tokens[*next].text != "fn").find_map(|next| {
        calls.pass(tokens, next);
        calls.innermost().filter(|_| tokens[next].text == "order")
    })
}

/// Returns the source of `file` with a switch in the place of each of its sites: `sites`, with
/// their numbers.
pub(super) fn with_switches<'s>(
    source: &str,
    sites: impl DoubleEndedIterator<Item = (usize, &'s Site)>,
) -> String {
    let mut text = source.to_owned();
    for (number, site) in sites.rev() {
        let (begin, end) = site.at;
        let order = site.order;
        let switch = format!("crate::sync::weakened({number}, Ordering::{order})");
        text.replace_range(begin..end, &switch);
        if let Some(fence) = site.fence {
            text.replace_range(fence..fence + "fence".len(), "crate::sync::weakened_fence");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        of_file("a.rs", source).unwrap().iter().map(Site::to_string).collect()
    }

    #[test]
    fn a_site_is_named_by_function_operation_and_order() {
        let source = "
            impl A {
                fn b(&self) { self.c.load(Ordering::Acquire); self.d(|| e.load(Ordering::Acquire)) }
                fn f(&self, _: [u8; 2]) -> u8;
                fn m(n: [u8; 2]) -> [u8; 2] { n.map(|o| o.load(Ordering::Acquire)) }
                fn g() { fence(Ordering::SeqCst); h.load(Ordering::Relaxed) }
                fn i() { let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
                         j.swap(k(l), order, failed) }
            }";
        let expected = [
            "a.rs: b: load: Acquire",
            "a.rs: b: load: Acquire #2",
            "a.rs: m: load: Acquire",
            "a.rs: g: fence: SeqCst",
            "a.rs: i: swap: AcqRel",
        ];
        assert_eq!(names(source), expected);
    }

    #[test]
    fn what_compares_or_matches_is_no_site() {
        let source = "fn a() { if b == Ordering::SeqCst {} match c { Ordering::Acquire => \
                      Ordering::Release, Ordering::AcqRel | d => e } }";
        assert_eq!(names(source), ["a.rs: a: -: Release"]);
    }

    #[test]
    fn what_cannot_be_found_or_judged_is_refused() {
        assert!(of_file("a.rs", "use Ordering::{Acquire}; b.load(Acquire)").is_err());
        assert!(of_file("a.rs", "fn a() { b.load(Ordering::SeqCst) }").is_err());
    }

    #[test]
    fn switches_take_the_places_of_orders() {
        let source = "fn a() { fence(Ordering::SeqCst); b.load(Ordering::Acquire) }";
        let sites = of_file("a.rs", source).unwrap();
        assert_eq!(
            with_switches(source, sites.iter().enumerate()),
            "fn a() { crate::sync::weakened_fence(crate::sync::weakened(0, Ordering::SeqCst)); \
             b.load(crate::sync::weakened(1, Ordering::Acquire)) }"
        );
    }
}
