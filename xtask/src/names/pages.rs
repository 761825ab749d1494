//! Code spans of a page, and the rows of its tables.

/// A page, and each `code` in its text. Programs in fences are compiled, and are not read here.
pub(super) struct Page<'t> {
    pub(super) path: &'t str,
    text: &'t str,
    pub(super) spans: Vec<Span<'t>>,
}

/// One `code`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span<'t> {
    pub(super) line: usize,
    pub(super) text: &'t str,
    /// The file in whose list it stands: `file.rs`: `here`, `and here`.
    pub(super) file: Option<&'t str>,
}

/// A row of a table under the heading "Layers" or "Files".
pub(super) struct Row<'t> {
    pub(super) spans: Vec<&'t str>,
    /// The folders that it is about: those that it, or the head of its table, has as `folder/…`.
    pub(super) folders: Vec<&'t str>,
}

impl<'t> Page<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Page<'t> {
        let mut page = Page { path, text, spans: Vec::new() };
        let mut is_program = false;
        for (at, line) in text.lines().enumerate() {
            let is_fence = line.trim_start().starts_with("```");
            is_program ^= is_fence;
            if !is_program && !is_fence {
                page.spans.extend(spans(at + 1, line));
            }
        }
        page
    }

    /// Returns the rows of the tables under the heading "Layers" or "Files".
    pub(super) fn rows(&self) -> Vec<Row<'t>> {
        let heads = ["\n## Layers\n", "\n## Files\n"];
        let sections = heads.iter().find_map(|head| self.text.split_once(head));
        let section = sections.map_or("", |(_, rest)| rest);
        let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
        let mut of_table: Vec<&str> = Vec::new();
        let (mut rows, mut is_head) = (Vec::new(), true);
        for line in section.lines() {
            if !line.starts_with('|') {
                (of_table, is_head) = (Vec::new(), true);
                continue;
            }
            let spans: Vec<&str> = spans(0, line).into_iter().map(|span| span.text).collect();
            let own = spans.iter().filter_map(|span| span.strip_suffix("/…"));
            let folders: Vec<&str> = own.chain(of_table.iter().copied()).collect();
            if is_head {
                of_table.clone_from(&folders);
                is_head = false;
            }
            rows.push(Row { spans, folders });
        }
        rows
    }
}

/// Returns the spans of a line.
fn spans(line: usize, text: &str) -> Vec<Span<'_>> {
    let (mut found, mut file) = (Vec::new(), None);
    let mut rest = text;
    let mut before = "";
    while let Some((between, code)) = rest.split_once('`') {
        // Two signs, or more, stand for code that has one itself.
        let width = 1 + code.len() - code.trim_start_matches('`').len();
        let end = "`".repeat(width);
        let Some((code, behind)) = code[width - 1..].split_once(&end) else { break };
        let is_list = match between {
            ": " => before.strip_suffix(".rs").is_some(),
            ", " => file.is_some(),
            _ => false,
        };
        if !is_list {
            file = None;
        } else if between == ": " {
            file = Some(before);
        }
        before = code.trim();
        found.push(Span { line, text: before, file });
        rest = behind;
    }
    found
}
