//! The layers of the house, as the tables under "Layers" of `docs/design.md` declare them.
//!
//! A row that begins with a number is a layer; its second cell has the modules, `name/…` with all
//! that is below. A table whose head has `folder/…` is about the rooms of that folder, from the
//! ground up: a row begins with its room, or names files of the folder itself.

/// The page that declares them.
pub(super) const PAGE: &str = "docs/design.md";

/// One table: modules, each with its level.
type Table = Vec<(String, usize)>;

/// The levels of modules.
#[derive(Debug)]
pub(super) struct Layers(Vec<Table>);

impl Layers {
    /// Reads the tables of a page.
    pub(super) fn of(page: &str) -> Result<Layers, String> {
        let section = page.split_once("\n## Layers\n").map(|(_, rest)| rest);
        let section = section.ok_or_else(|| format!("{PAGE} has no section \"Layers\""))?;
        let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
        let tables = section.split("\n\n").map(str::trim).filter(|block| block.starts_with('|'));
        let tables: Vec<Table> = tables.map(table).filter(|table| !table.is_empty()).collect();
        if tables.is_empty() {
            return Err(format!("{PAGE}: no table under \"Layers\" has a layer"));
        }
        Ok(Layers(tables))
    }

    /// Returns whether an arrow leads from a module to one of a higher layer.
    pub(super) fn point_up(&self, from: &str, to: &str) -> bool {
        let levels = |table: &Table| level(table, to).zip(level(table, from));
        self.0.iter().filter_map(levels).any(|(to, from)| to > from)
    }
}

/// The level of a module in a table that has it.
fn level(table: &Table, module: &str) -> Option<usize> {
    let has = |name: &str| {
        let rest = name.strip_suffix("/…").and_then(|folder| module.strip_prefix(folder));
        name == module || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let found = table.iter().filter(|(name, _)| has(name));
    found.max_by_key(|(name, _)| name.len()).map(|(_, level)| *level)
}

fn table(text: &str) -> Table {
    let mut rows = text.lines().map(|line| line.trim_matches('|').split_once('|'));
    let head = rows.next().flatten().map_or("", |(first, _)| first);
    let folder = spans(head).find_map(|span| span.strip_suffix("/…"));
    let mut table = Table::new();
    for (number, (first, rest)) in rows.flatten().enumerate() {
        let files = spans(rest.split_once('|').map_or(rest, |(files, _)| files));
        match (folder, spans(first).next()) {
            (None, _) => {
                let layer: Option<usize> = first.trim().parse().ok();
                table.extend(
                    layer
                        .into_iter()
                        .flat_map(|layer| files.clone().map(move |file| (file.to_owned(), layer))),
                );
            }
            (Some(folder), Some(room)) => table.push((format!("{folder}/{room}/…"), number)),
            (Some(folder), None) => table.extend(files.map(|file| {
                let is_itself = file == folder;
                (if is_itself { file.to_owned() } else { format!("{folder}/{file}") }, number)
            })),
        }
    }
    table
}

/// Returns the spans of `code` in a text.
fn spans(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "# House\n\n## Layers\n\n\
        | layer | files | what |\n|---|---|---|\n\
        | 0 | `clock`, `clock/…` | time: `ring` |\n| 1 | `ring`, `ring/…` | buckets |\n\n\
        | room of `ring/…` | files |\n|---|---|\n| `cells` | `wide` |\n| itself | `ring` |\n\
        | `read`: what it holds | `view` |\n| models | `parts` |\n\n## Rows\n";

    #[test]
    fn an_arrow_points_up_between_layers_and_between_rooms() {
        let layers = Layers::of(TABLES).expect("has tables");
        let up = [
            ("clock/ticker", "ring"),
            ("clock", "ring/cells/wide"),
            ("ring/cells", "ring"),
            ("ring/cells/wide", "ring/read/view"),
            ("ring", "ring/parts"),
        ];
        for (from, to) in up {
            assert!(layers.point_up(from, to), "{from} to {to}");
            assert!(!layers.point_up(to, from), "{to} to {from}");
        }
        for (from, to) in [("ring/read", "ring/read/view"), ("other", "ring"), ("ring", "other")] {
            assert!(!layers.point_up(from, to), "{from} to {to}");
        }
    }

    #[test]
    fn a_page_without_layers_is_refused() {
        for page in ["", "\n## Layers\n", "\n## Layers\n\n| layer | files |\n|---|---|\n\n"] {
            assert!(Layers::of(page).is_err(), "{page}");
        }
    }
}
