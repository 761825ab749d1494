//! The page and its pictures.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use windrow_benches::lab::chart::{Line, lines};
use windrow_benches::lab::environment::{Environment, Others};
use windrow_benches::lab::progress::Progress;
use windrow_benches::lab::stats::digits;
use windrow_benches::terminal::markdown;

use crate::asked::Asked;
use crate::part::{Part, Row};

/// Measures what is asked for, and writes the page.
pub(crate) fn write(asked: &Asked) -> Result<(), Box<dyn Error>> {
    let (directory, decades) = (&asked.directory, &asked.decades());
    fs::create_dir_all(directory)?;
    let others = Others::watch();
    let mut sections = String::new();
    let mut pictures = Vec::new();
    for part in asked.parts() {
        let mut progress = Progress::begin(part.title);
        let mut rows = Vec::new();
        for (at, count) in decades.iter().enumerate() {
            progress.step("decade", at, decades.len());
            rows.extend((part.measure)(*count));
        }
        progress.end();
        sections += &section(part, &rows);
        pictures.push((part, rows));
    }
    let rivals: Vec<&str> = pictures.iter().flat_map(|(part, _)| part.rivals).copied().collect();
    let environment = Environment::new(asked.command(), false, &others, Vec::new());
    let environment = environment.with_rivals(&rivals);
    let machine = format!("{}, {} cores", environment.processor, environment.cores);
    let page = format!(
        "# Being many\n\n{}\n\nOf one run. Times are nanoseconds of processor time of one thread, for \
         one of the things. Bytes are\nthose asked of the allocator, for one of the things, counted \
         apart from the times. Columns of\nwindrow's counters are mapped besides, and come to 8 \
         bytes for each core.\n{sections}",
        environment.caption(),
    );
    fs::write(directory.join("many.md"), page)?;
    for (part, rows) in pictures {
        for (at, column) in part.columns.iter().enumerate() {
            let picture = picture(part, at, &machine, decades, &rows);
            fs::write(directory.join(name(part, column.picture)), picture)?;
        }
    }
    Ok(())
}

/// Returns the name of a picture.
fn name(part: &Part, picture: &str) -> String {
    format!("many-{}-{picture}.svg", part.name)
}

fn section(part: &Part, rows: &[Row]) -> String {
    let heads: Vec<&str> =
        [part.name].into_iter().chain(part.columns.iter().map(|column| column.head)).collect();
    let cells = |row: &Row| {
        let name = format!("{}, {}", row.contender, row.count);
        [name].into_iter().chain(row.figures.iter().copied().map(digits)).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let mut text = format!("\n## {}\n\n{}\n\n{}", part.title, part.about, markdown(&heads, &rows));
    for column in part.columns {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\n![{}]({})\n", column.head, name(part, column.picture));
    }
    text
}

/// Returns the picture of a column: a line for each contender.
fn picture(part: &Part, at: usize, machine: &str, decades: &[usize], rows: &[Row]) -> String {
    let mut drawn: Vec<Line> = Vec::new();
    for row in rows {
        let known = drawn.iter().position(|line| line.label == row.contender);
        let known = known.unwrap_or_else(|| {
            let points = vec![None; decades.len()];
            drawn.push(Line { label: row.contender.to_owned(), points });
            drawn.len() - 1
        });
        // A number between two decades is in the table alone.
        if let Some(decade) = decades.iter().position(|count| *count == row.count) {
            drawn[known].points[decade] = Some(row.figures[at]);
        }
    }
    let marks: Vec<String> = decades.iter().map(ToString::to_string).collect();
    let title = format!("{}: {}, by their number", part.title, part.columns[at].head);
    lines(&title, machine, &marks, &drawn)
}
