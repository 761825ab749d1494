//! Each name that a page gives in `code` is in the sources: a file, a test, a `Type::function`, a
//! model, a twin. And the tables of the design name each file of the library.
//!
//! The check reads words, not Rust: a `Type::function` is found if one source has both words, and a
//! name that two things share if one of them is left.

mod declared;
mod pages;

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources;
use crate::steps::{Failed, Steps};
use crate::words;
use declared::Declared;
use pages::{Page, Row, Span};

/// The pages whose tables name the files of `src`, under the heading "Layers" or "Files": this one,
/// and those of its parts.
const DESIGN: &str = "docs/design.md";
const PARTS: &str = "docs/design/";

/// Pages that compare with other libraries, and name those libraries' words.
const OF_OTHERS: [&str; 5] = [
    "benches/",
    "docs/guide/from-",
    "docs/parity.md",
    "docs/performance.md",
    "integrations/exporters.md",
];

/// Not read: pictures, as text.
const PICTURES: &str = "pictures.md";

/// Names as they stand in pages, each with the thing that it belongs to.
const ELSEWHERE: &str = include_str!("../elsewhere.txt");

/// Refuses a name that is nowhere in the sources, and a file that the design does not name.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("names in the docs", "the pages of the workspace", || {
        let declared = Declared::read(&root)?;
        let (mut count, mut wrong, mut used) = (0, Vec::new(), BTreeSet::new());
        for page in pages(&root)? {
            let text = sources::read(&root.join(&page))?;
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
        let unused = elsewhere().filter(|name| !used.contains(name));
        let needless =
            |name| format!("xtask/elsewhere.txt: `{name}`: no page needs this exception");
        wrong.extend(unused.map(needless));
        println!("    {count} names");
        for line in &wrong {
            println!("    {line}");
        }
        let help = "correct the page; a name of another project goes into xtask/elsewhere.txt";
        if wrong.is_empty() { Ok(()) } else { Err(format!("{} names: {help}", wrong.len())) }
    })
}

/// Returns each page of the workspace.
fn pages(root: &Path) -> Result<Vec<String>, String> {
    let mut pages = sources::with_extension(root, "md")?;
    pages.retain(|page| !page.ends_with(PICTURES) && !page.starts_with('.'));
    Ok(pages)
}

/// The names that are those of others.
fn elsewhere() -> impl Iterator<Item = &'static str> {
    ELSEWHERE.lines().filter_map(|line| line.split_once(" | ")).map(|(name, _)| name)
}

/// Returns the reason why a span names nothing, if it does.
fn unknown(
    declared: &Declared,
    page: &Page<'_>,
    span: &Span<'_>,
    used: &mut BTreeSet<&'static str>,
) -> Option<String> {
    if let Some(name) = elsewhere().find(|name| *name == span.text) {
        used.insert(name);
        return None;
    }
    let (why, may_be_foreign) = declared.missing(span)?;
    let of_others = OF_OTHERS.iter().any(|path| page.path.starts_with(path));
    (!(of_others && may_be_foreign)).then_some(why)
}

/// Files of the library that the tables of the design do not name.
fn missing(root: &Path) -> Result<Vec<String>, String> {
    let is_design = |page: &String| page == DESIGN || page.starts_with(PARTS);
    let paths = pages(root)?.into_iter().filter(is_design);
    let texts = paths.map(|path| sources::read(&root.join(path))).collect::<Result<Vec<_>, _>>()?;
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
