//! The public interface: the number of the library's items. It falls, except by a new subject.
//!
//! An item is a type, a trait, a function, a constant or a macro; a method of a type; and what a
//! trait has. Modules do not count, nor do implementations of traits, nor what the documentation
//! hides.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources::read;
use crate::steps::{Failed, Steps, target_directory};

/// The largest number of items. A change of the interface writes the new number here.
const MOST: usize = 499;

/// The documentation that is counted, which must also be without warnings.
const DOCS: &str = "doc --package windrow --no-deps --all-features";

/// The ends of the part of a page that is about the type itself.
const ENDS: [&str; 6] = [
    "id=\"deref-methods",
    "id=\"trait-implementations\"",
    "id=\"implementors\"",
    "id=\"foreign-impls\"",
    "id=\"synthetic-implementations\"",
    "id=\"blanket-implementations\"",
];

/// The beginnings of a method, or of a part of a trait.
const PARTS: [&str; 4] = ["method.", "tymethod.", "associatedconstant.", "associatedtype."];

/// Counts the items, and refuses another number of them.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    steps.cargo("docs", DOCS, &[("RUSTDOCFLAGS", "-D warnings")])?;
    steps.step("public items", "target/doc/windrow", || {
        let items = count(&target_directory()?.join("doc/windrow"))?;
        println!("    {items} in all, of at most {MOST}");
        let why = || format!("{items} public items; xtask/src/interface.rs says {MOST}");
        if items == MOST { Ok(()) } else { Err(why()) }
    })
}

/// Returns the number of items, from the library's documentation. What two modules show counts
/// once.
fn count(docs: &Path) -> Result<usize, String> {
    let mut seen = BTreeSet::new();
    for page in addresses(&read(&docs.join("all.html"))?) {
        let text = read(&docs.join(page))?;
        let parts: Vec<String> = parts(&text).map(str::to_owned).collect();
        let (_, file) = page.rsplit_once('/').unwrap_or(("", page));
        seen.insert((file.to_owned(), parts));
    }
    Ok(seen.iter().map(|(_, parts)| 1 + parts.len()).sum())
}

/// Returns the pages of a list of all items.
fn addresses(list: &str) -> impl Iterator<Item = &str> {
    let items = list.split("<li><a href=\"").skip(1).filter_map(|item| item.split('"').next());
    items.filter(|address| !address.starts_with('#'))
}

/// Returns a type's methods, or a trait's parts.
fn parts(page: &str) -> impl Iterator<Item = &str> {
    let end = ENDS.iter().filter_map(|end| page.find(end)).min().unwrap_or(page.len());
    let sections = page[..end].split("<section id=\"").skip(1);
    let names = sections.filter_map(|section| section.split('"').next());
    names.filter(|name| PARTS.iter().any(|part| name.starts_with(part)))
}

#[cfg(test)]
mod tests {
    use super::{addresses, parts};

    #[test]
    fn the_pages_are_those_of_items() {
        let list = "<li><a href=\"#structs\">S</a></li><li><a href=\"gate/struct.Gate.html\">G</a>";
        assert_eq!(addresses(list).collect::<Vec<_>>(), ["gate/struct.Gate.html"]);
    }

    #[test]
    fn what_a_type_implements_is_not_its_own() {
        let own =
            "<section id=\"method.add\"><section id=\"variant.A\"><section id=\"method.sum\">";
        let page = format!("{own}<h2 id=\"trait-implementations\"><section id=\"method.fmt\">");
        assert_eq!(parts(&page).collect::<Vec<_>>(), ["method.add", "method.sum"]);
        assert_eq!(parts("<section id=\"tymethod.now\">").count(), 1);
    }
}
