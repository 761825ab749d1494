//! The list of broken twins: `loom-tests/twins`, beside the models that must notice them.
//!
//! A file has a paragraph for each twin: lines that begin with a word for what it says, then the
//! text to find, each line behind a `-`, and the text in its place, each behind a `+`.

use std::path::Path;

use crate::models::{BUILDS, Build};
use crate::paragraphs::{Paragraph, paragraphs};
use crate::sources;

/// The folder of the files.
const FOLDER: &str = "loom-tests/twins";

/// One mistake.
pub(super) struct Twin {
    /// The name of the twin.
    pub(super) name: String,
    /// The file with the mistake, from the workspace's root.
    pub(super) file: String,
    /// The text to find, which occurs exactly once.
    pub(super) find: String,
    /// The text that replaces it.
    pub(super) replace: String,
    /// The build whose model must notice.
    pub(super) build: &'static Build,
    /// The model that must notice.
    pub(super) model: String,
    /// The consequence of the mistake.
    pub(super) why: String,
}

/// Reads every mistake that a model must notice, those of a build one after the other.
pub(super) fn read(root: &Path) -> Result<Vec<Twin>, String> {
    let folder = root.join(FOLDER);
    let mut twins = Vec::new();
    for file in sources::with_extension(&folder, "txt")? {
        let told = |why: String| format!("{FOLDER}/{file}: {why}");
        let text = sources::read(&folder.join(&file))?;
        for entry in paragraphs(&text) {
            twins.push(twin(entry).map_err(told)?);
        }
    }
    twins.sort_by_key(|twin| BUILDS.iter().position(|build| build.name == twin.build.name));
    Ok(twins)
}

fn twin(entry: Paragraph<'_>) -> Result<Twin, String> {
    let one = |begin| entry.one(begin).map(str::to_owned);
    let by = one("by ")?;
    let (model, over) = by.split_once(" over ").ok_or_else(|| format!("`{by}` over what?"))?;
    let build = BUILDS.iter().find(|build| build.name == over);
    Ok(Twin {
        name: one("twin ")?,
        file: one("in ")?,
        find: entry.text("-"),
        replace: entry.text("+"),
        build: build.ok_or_else(|| format!("there is no build `{over}`"))?,
        model: model.to_owned(),
        why: one("why ")?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A twin whose place is gone shows nothing: that is seen without building it.
    #[test]
    fn each_twin_has_its_place_in_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let twins = read(&root).unwrap();
        let stale = twins.iter().filter_map(|twin| {
            let source = sources::read(&root.join(&twin.file)).unwrap_or_default();
            let found = source.matches(&twin.find).count();
            (found != 1)
                .then(|| format!("{}: {} in {}: `{}`", twin.name, found, twin.file, twin.find))
        });
        let stale: Vec<String> = stale.collect();
        assert!(stale.is_empty(), "{} twins:\n{}", stale.len(), stale.join("\n"));
        let names: BTreeSet<&String> = twins.iter().map(|twin| &twin.name).collect();
        assert!(names.len() == twins.len() && names.len() > 200, "{} names", names.len());
    }

    #[test]
    fn a_paragraph_is_a_twin() {
        let text = "twin a\nin b.rs\nby c::d over unit tests\nwhy e\n-f\n-\n- g\n+h\n+";
        let twin = |text: &str| super::twin(paragraphs(text).next().unwrap());
        let read = twin(text).unwrap();
        assert_eq!((read.find.as_str(), read.replace.as_str()), ("f\n\n g", "h\n"));
        assert_eq!((read.model.as_str(), read.build.name), ("c::d", "unit tests"));
        for (from, to) in [("twin a", "twins a"), ("unit tests", "nothing"), ("why", "why \nwhy")] {
            assert!(twin(&text.replace(from, to)).is_err(), "{to}");
        }
    }
}
