//! The page and its pictures.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use windrow_benches::lab::chart::{Line, lines};
use windrow_benches::lab::environment::{Environment, Others};
use windrow_benches::lab::progress::Progress;
use windrow_benches::terminal::markdown;

use crate::{Part, Row};

/// Measures the parts, and writes the page.
pub(crate) fn write<'p>(
    directory: &Path,
    decades: &[usize],
    parts: impl Iterator<Item = &'p Part>,
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory)?;
    let others = Others::watch();
    let mut sections = String::new();
    let mut pictures = Vec::new();
    for part in parts {
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
    let command =
        "cargo run --release -p windrow-benches --features limits --bin many -- DIRECTORY";
    let environment = Environment::new(command.to_owned(), false, &others, Vec::new());
    let Environment { processor, cores, kernel, rustc, strategy, .. } = &environment;
    let machine = format!("{processor}, {cores} cores");
    let busy = environment.others.map_or(String::new(), |share| {
        format!(" Others used {:.0} % of the processors.", 100.0 * share)
    });
    let page = format!(
        "# Being many\n\n{machine}, {kernel}; {rustc}; strategy {strategy}. `{command}`\n\nOf one \
         run. Times are nanoseconds of processor time of one thread, for one of the things. Bytes \
         are\nthose asked of the allocator, for one of the things; columns of windrow's counters \
         are mapped\nbesides, and come to 8 bytes for each core.{busy}\n{sections}"
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
        [name].into_iter().chain(row.figures.iter().map(|figure| format!("{figure:.0}"))).collect()
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
        let decade = decades.iter().position(|count| *count == row.count);
        drawn[known].points[decade.expect("a row for a decade")] = Some(row.figures[at]);
    }
    let marks: Vec<String> = decades.iter().map(ToString::to_string).collect();
    let title = format!("{}: {}, by their number", part.title, part.columns[at].head);
    lines(&title, machine, &marks, &drawn)
}
