//! The crates, and the lines of them that are changed: `benches/ports/ports.txt`.

use crate::paragraphs::{Paragraph, paragraphs};

const LIST: &str = include_str!("../../../benches/ports/ports.txt");

/// A crate that gets a file of ours.
pub(super) struct Port {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// The file: in the place of theirs, whose tests stay, or a new one.
    pub(super) file: &'static str,
    /// The changes by which theirs come to use it.
    pub(super) edits: Vec<Edit>,
    /// The arguments of `cargo test` for its own tests, for each run.
    pub(super) tests: Vec<&'static str>,
    /// The packages that only its benches and examples need: not built.
    pub(super) unneeded: Vec<&'static str>,
    /// A function that is measured and not public: made so in both copies.
    pub(super) opened: Option<&'static str>,
}

/// A text in the place of another one, wherever that stands in a part of a file.
pub(super) struct Edit {
    pub(super) file: &'static str,
    /// The beginning of the part: that of the file, if this is empty.
    pub(super) from: String,
    /// The text behind the part: none, if this is empty.
    pub(super) to: String,
    pub(super) theirs: String,
    pub(super) ours: String,
}

/// Returns all of them.
pub(super) fn ports() -> Result<Vec<Port>, String> {
    let mut ports: Vec<Port> = Vec::new();
    for entry in paragraphs(LIST) {
        match (entry.one("edit "), ports.last_mut()) {
            (Ok(file), Some(port)) => port.edits.push(edit(file, entry)),
            _ => ports.push(port(entry)?),
        }
    }
    Ok(ports)
}

fn port(entry: Paragraph<'static>) -> Result<Port, String> {
    Ok(Port {
        name: entry.one("port ")?,
        version: entry.one("version ")?,
        file: entry.one("file ")?,
        edits: Vec::new(),
        tests: entry.all("test").collect(),
        unneeded: entry.all("unneeded ").collect(),
        opened: entry.all("opened ").next(),
    })
}

fn edit(file: &'static str, entry: Paragraph<'static>) -> Edit {
    let [from, to, theirs, ours] = ["<", ">", "-", "+"].map(|sign| entry.text(sign));
    Edit { file, from, to, theirs, ours }
}
