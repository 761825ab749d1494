//! The output of the lab: tables and pictures.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use crate::terminal::markdown;

/// The columns of a page.
const WIDTH: usize = 100;

/// A table in Markdown, and what a reader must know to read it.
pub struct Table {
    /// The name of its file, and of its place in the documentation.
    pub id: &'static str,
    /// The title of the table.
    pub title: String,
    /// Column heads.
    pub heads: Vec<String>,
    /// Cells, by row.
    pub rows: Vec<Vec<String>>,
    /// The note below the table; may be empty.
    pub note: String,
}

impl Table {
    /// Returns a table without rows.
    pub fn new<'a>(
        id: &'static str,
        title: impl Into<String>,
        heads: impl IntoIterator<Item = &'a str>,
    ) -> Table {
        let heads = heads.into_iter().map(str::to_owned).collect();
        Table { id, title: title.into(), heads, rows: Vec::new(), note: String::new() }
    }

    /// One row more.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Sets the note below the table.
    pub fn note(&mut self, note: &str) {
        note.clone_into(&mut self.note);
    }

    /// Markdown, without the title.
    pub fn markdown(&self) -> String {
        let heads: Vec<&str> = self.heads.iter().map(String::as_str).collect();
        let mut text = markdown(&heads, &self.rows);
        if !self.note.is_empty() {
            let _ = write!(text, "\n{}\n", self.note);
        }
        text
    }
}

/// Everything that a run has found.
pub struct Report {
    /// The environment of the run, in paragraphs.
    pub caption: String,
    /// The tables, for readers.
    pub tables: Vec<Table>,
    /// Pictures, by name.
    pub pictures: Vec<(&'static str, String)>,
}

impl Report {
    /// Returns the whole report as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Comparison\n\n{}\n", self.caption);
        for table in &self.tables {
            let _ = write!(text, "\n## {}\n\n{}", table.title, table.markdown());
        }
        text
    }

    /// Writes everything into `directory`, replacing the files of an older run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        let tables = directory.join("tables");
        fs::create_dir_all(&tables)?;
        fs::write(directory.join("report.md"), self.markdown())?;
        fs::write(tables.join("environment.md"), wrapped(&self.caption))?;
        for table in &self.tables {
            fs::write(tables.join(format!("{}.md", table.id)), table.markdown())?;
        }
        for (name, picture) in &self.pictures {
            fs::write(directory.join(format!("{name}.svg")), picture)?;
        }
        Ok(())
    }
}

/// Returns paragraphs with their lines broken as the pages' are.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    for paragraph in text.lines() {
        let mut width = 0;
        for word in paragraph.split(' ') {
            let length = word.chars().count();
            if width > 0 {
                let fits = width + 1 + length <= WIDTH;
                lines.push(if fits { ' ' } else { '\n' });
                width = if fits { width + 1 } else { 0 };
            }
            lines.push_str(word);
            width += length;
        }
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown_with_its_note_below() {
        let mut table = Table::new("t", "T", ["a", "bb"]);
        table.row(["1".to_owned(), "2".to_owned()]);
        table.note("so");
        assert_eq!(table.markdown(), "| a | bb |\n| - | -- |\n| 1 | 2  |\n\nso\n");
    }

    #[test]
    fn paragraphs_are_broken_at_the_width_of_a_page() {
        let text = format!("{}\n\nb", "word ".repeat(40).trim_end());
        let lines = wrapped(&text);
        assert_eq!(lines.replace('\n', " ").split_whitespace().count(), 41);
        assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [99, 99, 0, 1]);
    }
}
