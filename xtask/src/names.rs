//! Each name that a page gives in `code` is in the sources: a file, a test, a `Type::function`, a
//! model, a twin. And the tables of the design name each file of the library.
//!
//! The check reads words, not Rust: a name that two things share is found if one of them is left.

mod declared;
mod elsewhere;
mod items;
mod pages;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sources;
use crate::steps::{Failed, Steps};
use crate::words;
use declared::Declared;
use elsewhere::ELSEWHERE;
use pages::{Page, Row, Span};

/// The pages whose tables name the files of `src`, under the heading "Layers" or "Files": this one,
/// and those of its parts.
const DESIGN: &str = "docs/design.md";
const PARTS: &str = "docs/design/";

/// Pages that compare with other libraries, and name those libraries' words.
const OF_OTHERS: [&str; 4] =
    ["docs/guide/from-", "docs/parity.md", "docs/performance.md", "benches/"];

/// Not read: pictures, as text, and build outputs.
const LEFT_OUT: [&str; 2] = ["pictures.md", "target/"];

/// Refuses a name that is nowhere in the sources, and a file that the design does not name.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("names in the docs", "the pages of the workspace", || {
        let declared = Declared::read(&root)?;
        let (mut count, mut wrong, mut used) = (0, Vec::new(), BTreeSet::new());
        for page in pages(&root)? {
            let text = read(&root, &page)?;
            // The glossary also names what is not to be used.
            let is_glossary = page == words::GLOSSARY;
            let text = if is_glossary { words::without_bans(&text) } else { text };
            let page = Page::new(&page, &text);
            count += page.spans.len();
            wrong.extend(page.spans.iter().filter_map(|span| {
                let why = unknown(&declared, &page, span, &mut used)?;
                Some(format!("{}:{}: `{}`: {why}", page.path, span.line, span.text))
            }));
        }
        wrong.extend(missing(&root)?);
        let unused = ELSEWHERE.iter().filter(|(name, _)| !used.contains(name));
        wrong.extend(unused.map(|(name, _)| {
            format!("xtask/src/names/elsewhere.rs: `{name}`: no page needs this exception")
        }));
        println!("    {count} names");
        for line in &wrong {
            println!("    {line}");
        }
        let help =
            "correct the page; a name of another project goes into xtask/src/names/elsewhere.rs";
        if wrong.is_empty() { Ok(()) } else { Err(format!("{} names: {help}", wrong.len())) }
    })
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}

/// Returns each page of the workspace.
fn pages(root: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(root).map_err(|error| format!("cannot read the root: {error}"))?;
    let mut pages = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !name.starts_with('.') && name != "target" {
            let below = sources::with_extension(&entry.path(), "md")?;
            pages.extend(below.into_iter().map(|page| format!("{name}/{page}")));
        } else if entry.path().extension().is_some_and(|kind| kind == "md") {
            pages.push(name);
        }
    }
    pages.retain(|page| !LEFT_OUT.iter().any(|left_out| page.contains(left_out)));
    pages.sort();
    Ok(pages)
}

/// Returns the reason why a span names nothing, if it does.
fn unknown(
    declared: &Declared,
    page: &Page<'_>,
    span: &Span<'_>,
    used: &mut BTreeSet<&'static str>,
) -> Option<String> {
    if let Some((name, _)) = ELSEWHERE.iter().find(|(name, _)| *name == span.text) {
        used.insert(name);
        return None;
    }
    declared
        .missing(span)
        .filter(|missing| {
            let of_others = OF_OTHERS.iter().any(|path| page.path.starts_with(path));
            !(of_others && missing.may_be_foreign)
        })
        .map(|missing| missing.why)
}

/// Files of the library that the tables of the design do not name.
fn missing(root: &Path) -> Result<Vec<String>, String> {
    let is_design = |page: &String| page == DESIGN || page.starts_with(PARTS);
    let paths = pages(root)?.into_iter().filter(is_design);
    let texts = paths.map(|path| read(root, &path)).collect::<Result<Vec<_>, _>>()?;
    let pages = texts.iter().map(|text| Page::new(DESIGN, text));
    let rows: Vec<Row<'_>> = pages.flat_map(|page| page.rows()).collect();
    let files = sources::with_extension(&root.join("src"), "rs")?;
    let names = files.iter().filter_map(|file| file.strip_suffix(".rs"));
    let unnamed = names.filter(|file| !is_named(&rows, file));
    Ok(unnamed.map(|file| format!("{DESIGN} and its parts: no table names `{file}`")).collect())
}

/// Returns whether a row that is about a file's folder has its name. (A folder below that is its
/// module's affair; the root, the guide and unit tests are no layer.)
fn is_named(rows: &[Row<'_>], file: &str) -> bool {
    let (folder, name) = file.split_once('/').unwrap_or(("", file));
    let is_below = name.contains('/');
    let has = |row: &Row<'_>| {
        row.spans.contains(&file) || row.folders.contains(&folder) && row.spans.contains(&name)
    };
    is_below || name == "tests" || ["lib", "guide"].contains(&file) || rows.iter().any(has)
}

#[cfg(test)]
mod tests;
