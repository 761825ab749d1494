//! One frame as text, for pipes.

use std::io::{self, Write};

use ratatui::text::Line;

use crate::error::Error;
use crate::model::Model;
use crate::screen::{Theme, table, texts, words};
use crate::source::Source;
use crate::view::View;

/// The width without `COLUMNS`, and the least and the greatest one.
const WIDTH: u16 = 100;
const LEAST: u16 = 20;
const MOST: u16 = 500;

/// Prints the first frame of a console; or the second one of files, which has what was added in a
/// second.
pub(crate) fn run(source: &Source) -> Result<(), Error> {
    let mut frames = source.open()?;
    let mut model = Model::default();
    model.take(frames()?);
    if matches!(source, Source::Files(_)) {
        model.take(frames()?);
    }
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    print(&text(&model, asked.unwrap_or(WIDTH).clamp(LEAST, MOST)))
}

/// Returns the frame as text, with all rows.
pub(crate) fn text(model: &Model, width: u16) -> String {
    let (view, theme) = (View::default(), Theme::plain());
    let listed = view.listed(model);
    let columns = table::columns(width, model);
    let mut lines = vec![words::head(model, None, theme)];
    lines.extend(words::news(model, theme));
    lines.extend(words::unusual(model, words::Moments::of(model, None), width, theme));
    lines.extend(table::sums(model, &listed, theme));
    lines.push(table::titles(&columns, &view, theme));
    lines.extend(listed.iter().map(|row| table::row(row, &columns, model, false, theme)));
    lines.extend(words::heavy(model, theme));
    let cut = |line: &Line<'_>| texts::cut(line.to_string().trim_end(), usize::from(width)) + "\n";
    lines.iter().map(cut).collect()
}

/// Writes a text to the standard output. A reader that has left is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Terminal { error }),
        _ => Ok(()),
    }
}
