//! The arrows between files: a file names only files of its own layer and of those below, without
//! circles. The library has layers; every crate of the workspace is held to have no circle.
//!
//! A circle that stands in [`CONFESSED`] is let through. The list only shrinks: a file in it that
//! is in no circle any more is refused.

mod houses;
mod layers;
mod paths;

use std::collections::BTreeSet;

use crate::paragraphs::{Paragraph, paragraphs};
use crate::sources::read;
use crate::steps::{Failed, Steps};
use houses::House;
use layers::Layers;
use paths::{Arrows, arrows, circles};

/// The largest number of modules in a row: a larger room groups them, each group under its comment.
const MODULES: usize = 12;

/// The largest number of lines of a file.
const LINES: usize = 450;

/// The list of circles, with the reason of those that stay.
const CONFESSED: &str = "xtask/circles.txt";

/// Refuses a circle, an arrow to a higher layer, and a crowded
/// room.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("arrows between files", "all crates of the workspace", || {
        let (mut wrong, mut found) = (Vec::new(), Vec::new());
        for house in houses::all(&root)? {
            let arrows = arrows(&house.texts);
            if house.folder == "src" {
                let layers = Layers::of(&read(&root.join(layers::PAGE))?)?;
                let up = up(&arrows, &layers).into_iter();
                wrong.extend(up.map(|(from, to)| format!("{from} names {to}, of a higher layer")));
            }
            wrong.extend(crowded(&house));
            let circles = circles(&arrows).into_iter();
            found.extend(circles.map(|circle| -> BTreeSet<String> {
                circle.iter().map(|module| house.file(module)).collect()
            }));
        }
        let confessed = confessed(&read(&root.join(CONFESSED))?);
        println!("    {} circles, {} of them new", found.len(), new(&found, &confessed).count());
        wrong.extend(new(&found, &confessed).map(|circle| {
            format!("a circle: {}", circle.iter().cloned().collect::<Vec<_>>().join(", "))
        }));
        let over = |file: &&String| !found.iter().any(|circle| circle.contains(*file));
        let over = confessed.iter().flatten().filter(over);
        wrong.extend(over.map(|file| format!("{CONFESSED}: {file} is in no circle any more")));
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n    ")) }
    })
}

/// Tells the files that are too long, or list more modules in a row than a reader can place.
fn crowded(house: &House) -> Vec<String> {
    let mut crowded = Vec::new();
    for (module, text) in &house.texts {
        let (file, lines, row) = (house.file(module), text.lines().count(), longest_row(text));
        if lines > LINES {
            crowded.push(format!("{file}: {lines} lines, of at most {LINES}"));
        }
        if row > MODULES {
            crowded.push(format!("{file}: {row} modules in a row, without groups"));
        }
    }
    crowded
}

/// Returns the largest number of modules in a row. Attributes do not end a row.
fn longest_row(text: &str) -> usize {
    let (mut row, mut longest) = (0, 0);
    for line in text.lines().filter(|line| !line.starts_with("#[")) {
        let is_module = line.ends_with(';') && format!(" {line}").contains(" mod ");
        row = if is_module { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    longest
}

/// The circles of the list: a paragraph each, a file on each line.
fn confessed(list: &str) -> Vec<BTreeSet<String>> {
    let circle = |entry: Paragraph<'_>| entry.lines().map(str::to_owned).collect();
    paragraphs(list).map(circle).collect()
}

/// The circles of which the list has no more than a part.
fn new<'f>(
    found: &'f [BTreeSet<String>],
    confessed: &[BTreeSet<String>],
) -> impl Iterator<Item = &'f BTreeSet<String>> {
    found.iter().filter(|circle| !confessed.iter().any(|known| circle.is_subset(known)))
}

/// The arrows that point to a higher layer.
fn up<'a>(arrows: &'a Arrows, layers: &Layers) -> Vec<(&'a String, &'a String)> {
    let all = arrows.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    all.filter(|(from, to)| layers.point_up(from, to)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_ends_a_row_of_modules_and_an_attribute_does_not() {
        let text = "mod a;\n#[cfg(unix)]\npub(crate) mod b;\n\n// Others.\nmod c;\nuse d;\n";
        assert_eq!(longest_row(text), 2);
    }

    #[test]
    fn a_confessed_circle_may_shrink_and_not_grow() {
        let confessed = confessed("# a remark\n\na\nb\nc\n\nd\n# to be opened\ne\n");
        assert_eq!(confessed.len(), 2);
        let circle = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
        let found = [circle(&["a", "b"]), circle(&["c", "d"]), circle(&["d", "e", "f"])];
        assert!(new(&found, &confessed).eq(&found[1..]));
    }
}
