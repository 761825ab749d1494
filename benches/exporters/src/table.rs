//! The tables of cells, and their places in the page.

use crate::sources;

/// An exporter: the head of its column, and the packages that it consists of.
pub(crate) struct Column<E> {
    pub(crate) head: &'static str,
    pub(crate) packages: &'static [&'static str],
    pub(crate) exporter: E,
}

/// A feature: a row of a table.
pub(crate) struct Feature<E: 'static> {
    pub(crate) name: &'static str,
    /// Returns whether an exporter has it, or `None` if there is no call that would ask for it.
    pub(crate) judge: fn(E) -> Option<bool>,
    /// Words, one of which the sources of an exporter with such a call would have.
    pub(crate) words: &'static [&'static str],
}

/// Returns the table of these columns, with a row for each feature.
///
/// # Panics
///
/// Panics if an exporter is taken for one without a call for a feature, and its sources have one of
/// the feature's words: then it needs a probe.
pub(crate) fn of<E: Copy>(columns: &[Column<E>], features: &[Feature<E>]) -> String {
    let heads: Vec<_> = columns.iter().map(|column| column.head).collect();
    let mut unknown = Vec::new();
    let mut table = format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for feature in features {
        let cells = columns.iter().map(|column| {
            eprintln!("{}: {}", column.head, feature.name);
            match (feature.judge)(column.exporter) {
                Some(true) => "yes",
                Some(false) => "no",
                None => {
                    let mention = sources::mention(column.packages, feature.words);
                    unknown.extend(mention.map(|line| format!("{}: {line}", feature.name)));
                    "-"
                }
            }
        });
        let cells: Vec<_> = cells.collect();
        table += &["| ", feature.name, " | ", &cells.join(" | "), " |\n"].concat();
    }
    assert!(unknown.is_empty(), "these need a probe:\n{}", unknown.join("\n"));
    table
}

/// Returns the page with a table in the place of the one of this name.
pub(crate) fn replaced(page: &str, name: &str, table: &str) -> String {
    let begin = format!("<!-- `cargo xtask exporters` writes this table: {name}. -->\n\n");
    let end = "\n<!-- End of the table. -->\n";
    let (before, rest) = page.split_once(&begin).expect("the table's first mark");
    let (_, behind) = rest.split_once(end).expect("the table's second mark");
    [before, &begin, table, end, behind].concat()
}
