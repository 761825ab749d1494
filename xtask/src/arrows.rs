//! The arrows between files of `src`: a file names only files of its own layer and of those below,
//! without circles, except the one that is real data.
//!
//! An arrow leads from a file to another that it names, in a `use` or by a path. A module that
//! hands on what its own child declares (`pub use child::Name`) does not name it. Unit tests may
//! name anything.

mod layers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::sources;
use crate::steps::{Failed, Steps};
use layers::Layers;

/// A bucket knows its generation, whose slots lead to buckets, as do those of its tiers.
const REAL_DATA: [&str; 8] = [
    "ring/order/bucket",
    "ring/order/bucket_ref",
    "ring/order/generation",
    "ring/order/level",
    "ring/order/opening",
    "ring/order/slot",
    "ring/order/slots",
    "ring/order/tier",
];

/// Files by the path of their module, each with the modules that it names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Prints the figures of the house; refuses a circle, and an arrow to a higher layer.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let (source, page) = (steps.root().join("src"), steps.root().join(layers::PAGE));
    steps.step("arrows between files", "src/**", || {
        let texts = read(&source)?;
        let mut lines: Vec<usize> = texts.values().map(|text| text.lines().count()).collect();
        lines.sort_unstable();
        let arrows = arrows(&texts);
        let (files, count) = (lines.len(), arrows.values().map(BTreeSet::len).sum::<usize>());
        let (longest, median) = (lines[files - 1], lines[files / 2]);
        println!(
            "    {files} files, the longest {longest} lines, the median {median}; {count} arrows"
        );
        let circles = circles(&arrows);
        for circle in &circles {
            println!("    circle: {}", circle.join(", "));
        }
        let page = fs::read_to_string(page).map_err(|error| error.to_string())?;
        let up = up(&arrows, &Layers::of(&page)?);
        for (from, to) in &up {
            println!("    up: {from} names {to}");
        }
        if !up.is_empty() {
            return Err(format!("{} arrows point to a higher layer of {}", up.len(), layers::PAGE));
        }
        match circles.iter().find(|circle| **circle != REAL_DATA) {
            Some(circle) => Err(format!("an arrow points up among {}", circle.join(", "))),
            None => Ok(()),
        }
    })
}

/// The sources by module; the root's is empty.
fn read(source: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = |file: String| {
        let text =
            fs::read_to_string(source.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        let module = file.strip_suffix(".rs").unwrap_or(&file);
        Ok((if module == "lib" { String::new() } else { module.to_owned() }, text))
    };
    sources::files(source)?.into_iter().map(text).collect()
}

/// A source without comments, unit tests, the paths of visibilities, and those of macros, which
/// name something only where they are used.
fn code(text: &str) -> String {
    let tests = text.find("\n#[cfg(all(test").or_else(|| text.find("\n#[cfg(test)]\nmod tests"));
    let text = &text[..tests.unwrap_or(text.len())];
    let line = |line: &str| line.split("//").next().unwrap_or_default().to_owned() + "\n";
    let text = text.lines().map(line).collect::<String>().replace("$crate::", "$");
    let mut parts = text.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_owned();
    let behind = |part: &str| part.split_once(')').map(|(_, rest)| rest.to_owned());
    parts.filter_map(behind).fold(first, |code, rest| code + "pub()" + &rest)
}

fn arrows(texts: &BTreeMap<String, String>) -> Arrows {
    let named = |(module, text): (&String, &String)| {
        let mut to = BTreeSet::new();
        let text = if module.ends_with("tests") { String::new() } else { code(text) };
        for statement in text.split(';') {
            let Some(at) = statement.find("use ") else { continue };
            let is_public = statement[..at].trim_end().ends_with(['b', ')']);
            for path in expand(statement[at + 4..].trim()) {
                let target = resolve(texts, module, &path);
                let hands_on =
                    is_public && target.as_ref().is_some_and(|target| is_child(module, target));
                to.extend(target.filter(|_| !hands_on));
            }
        }
        for path in paths(&text) {
            to.extend(resolve(texts, module, &path));
        }
        to.remove(module);
        (module.clone(), to)
    };
    texts.iter().map(named).collect()
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
    parts.into_iter().flat_map(whole).collect()
}

/// Paths in code that begin at the root or above. (Those of use statements are found twice.)
fn paths(text: &str) -> Vec<String> {
    let is_of_path = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
    let words = text.split(|sign| !is_of_path(sign));
    let begins = |word: &&str| word.starts_with("crate::") || word.starts_with("super::");
    words.filter(begins).filter(|word| !word.ends_with(':')).map(str::to_owned).collect()
}

/// The module that a path leads to.
fn resolve(texts: &BTreeMap<String, String>, module: &str, path: &str) -> Option<String> {
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

/// The arrows that point to a higher layer.
fn up<'a>(arrows: &'a Arrows, layers: &Layers) -> Vec<(&'a String, &'a String)> {
    let all = arrows.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    all.filter(|(from, to)| layers.point_up(from, to)).collect()
}

/// Sets of modules each of which leads to each other.
fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
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

    fn texts(files: &[(&str, &str)]) -> BTreeMap<String, String> {
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
    }
}
