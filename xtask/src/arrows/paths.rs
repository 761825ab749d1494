//! The arrows from a source to other modules of its house.
//!
//! An arrow leads from a file to another that it names, in a `use` or by a path. A module that
//! hands on what its own child declares (`pub use child::Name`) does not name it. Unit tests may
//! name anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::lines;

/// Files by the path of their module, each with the modules that it names.
pub(super) type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Sources by the path of their module; the root's is empty.
type Texts = BTreeMap<String, String>;

pub(super) fn arrows(texts: &Texts) -> Arrows {
    let mut texts = texts.clone();
    let shared: Vec<String> =
        texts.iter().flat_map(|(module, text)| declared(module, text, "#[path = ")).collect();
    // They stand in another house, and are named as if they stood in this one.
    for module in shared {
        texts.entry(module).or_default();
    }
    let texts = &texts;
    let of_tests: BTreeSet<String> =
        texts.iter().flat_map(|(module, text)| test_modules(module, text)).collect();
    let is_test = |module: &String| {
        of_tests.iter().any(|test| module == test || is_child(test, module))
            || module.ends_with("tests")
    };
    let named = |(module, text): (&String, &String)| {
        let mut to = BTreeSet::new();
        let text = if is_test(module) { String::new() } else { code(text) };
        for statement in text.split(';') {
            let (before, used) = statement.split_once("use ").unwrap_or((statement, ""));
            to.extend(paths(before).filter_map(|path| resolve(texts, module, path)));
            let is_public = before.trim_end().ends_with(['b', ')']);
            for path in expand(used.trim()) {
                let target = resolve(texts, module, &path);
                let hands_on =
                    is_public && target.as_ref().is_some_and(|target| is_child(module, target));
                to.extend(target.filter(|_| !hands_on));
            }
        }
        to.remove(module);
        (module.clone(), to)
    };
    texts.iter().map(named).collect()
}

/// The modules that a file declares for its tests.
fn test_modules(module: &str, text: &str) -> Vec<String> {
    declared(module, text, "#[cfg(test)]\n")
}

/// The modules that a file declares on the line behind one with an attribute.
fn declared(module: &str, text: &str, attribute: &str) -> Vec<String> {
    let declared = text.split(attribute).skip(1).filter_map(|rest| {
        let rest = if attribute.ends_with('\n') { rest } else { rest.split_once('\n')?.1 };
        let name = rest.lines().next()?.trim().strip_suffix(';')?;
        name.rsplit_once("mod ").map_or(name.strip_prefix("mod "), |(_, name)| Some(name))
    });
    declared.map(|name| [module, name].join("/").trim_start_matches('/').to_owned()).collect()
}

/// A source without comments, the text of strings, unit tests, the paths of visibilities, and those
/// of macros, which name something only where they are used.
fn code(text: &str) -> String {
    let tests = text.find("\n#[cfg(all(test").or_else(|| text.find("\n#[cfg(test)]\nmod tests"));
    let text = &text[..tests.unwrap_or(text.len())];
    let lines = lines::of_source(text).into_iter();
    let text = lines.map(|line| line.code + "\n").collect::<String>().replace("$crate::", "$");
    let mut parts = text.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_owned();
    let behind = |part: &str| part.split_once(')').map(|(_, rest)| rest.to_owned());
    parts.filter_map(behind).fold(first, |code, rest| code + "pub()" + &rest)
}

fn is_child(module: &str, other: &str) -> bool {
    module.is_empty() || other.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
}

/// The paths of a use tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut begin, mut parts) = (0, 0, Vec::new());
    for (at, sign) in inner.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[begin..]);
    let whole = |part: &str| expand(&format!("{prefix}{}", part.trim()));
    parts.into_iter().filter(|part| !part.trim().is_empty()).flat_map(whole).collect()
}

/// Paths in code.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_of_path = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
    let words = text.split(move |sign| !is_of_path(sign));
    words.filter(|word| word.contains("::") && !word.ends_with(':'))
}

/// The module that a path leads to.
fn resolve(texts: &Texts, module: &str, path: &str) -> Option<String> {
    let mut base: Vec<&str> = module.split('/').filter(|part| !part.is_empty()).collect();
    let mut is_certain = false;
    let mut segments = path.split("::").peekable();
    while let Some(first) = segments.next_if(|part| matches!(*part, "crate" | "super" | "self")) {
        is_certain = true;
        match first {
            "crate" => base.clear(),
            "super" => _ = base.pop(),
            _ => {}
        }
    }
    for segment in segments {
        let child = [&base[..], &[segment]].concat().join("/");
        if !texts.contains_key(&child) {
            break;
        }
        base.push(segment);
        is_certain = true;
    }
    is_certain.then(|| base.join("/"))
}

/// Sets of modules each of which leads to each other.
pub(super) fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        arrows.keys().map(|module| (module, reach(arrows, module))).collect();
    let circle = |module: &String| -> Vec<String> {
        let both = |other: &&&String| reached[**other].contains(module);
        reached[module].iter().filter(both).map(|other| (*other).clone()).collect()
    };
    let circles: BTreeSet<Vec<String>> = arrows.keys().map(circle).collect();
    circles.into_iter().filter(|circle| circle.len() > 1).collect()
}

fn reach<'a>(arrows: &'a Arrows, from: &'a String) -> BTreeSet<&'a String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        next.extend(arrows[module].iter().filter(|to| reached.insert(*to)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(files: &[(&str, &str)]) -> Texts {
        files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn an_arrow_that_points_up_makes_a_circle() {
        let files = [
            ("", "mod a; pub use a::A;"),
            ("a", "mod b;\npub use b::B;\nuse crate::c::{self, d::D};"),
            ("a/b", "use super::A; // use crate::c;"),
            ("c", "mod d;"),
            ("c/d", "use std::fmt; pub(in crate::a) use std::io;"),
        ];
        assert_eq!(circles(&arrows(&texts(&files))), Vec::<Vec<String>>::new());
        let mut up = texts(&files);
        up.insert("c/d".to_owned(), "fn f() { crate::a::g() }".to_owned());
        assert_eq!(circles(&arrows(&up)), [["a", "c/d"]]);
        let mut into_child = texts(&files);
        into_child.insert("a".to_owned(), "mod b; fn f() { b::g() }".to_owned());
        assert_eq!(circles(&arrows(&into_child)), [["a", "a/b"]]);
    }

    #[test]
    fn tests_name_anything() {
        let files = [
            ("a", "mod b;\n#[cfg(test)]\npub(crate) mod kit;\nuse b::B;"),
            ("a/b", "struct B;\n#[cfg(test)]\nmod tests {\nuse super::super::a;\n}"),
            ("a/kit", "use super::A; use super::b::B;"),
            ("a/kit/c", "use super::super::A;"),
        ];
        let arrows = arrows(&texts(&files));
        assert!(circles(&arrows).is_empty() && arrows["a/kit/c"].is_empty(), "{arrows:?}");
    }
}
