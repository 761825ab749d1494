//! One frame as text, for pipes.

use std::io::{self, Write};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::error::Error;
use crate::model::Model;
use crate::screen::{Theme, table, words};
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
    lines.extend(words::news(model, None, theme));
    lines.extend(words::unusual(model, words::Moments::of(model, None), width, theme));
    lines.extend(table::sums(model, &listed, theme));
    lines.push(table::titles(&columns, &view, theme));
    lines.extend(listed.iter().map(|row| table::row(row, &columns, model, false, theme)));
    lines.extend(words::heavy(model, theme));
    lines.iter().map(|line| plain(line, width) + "\n").collect()
}

/// Returns a line as a terminal shows it, without spaces at its end.
fn plain(line: &Line<'_>, width: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
    buffer.set_line(0, 0, line, width);
    // A wide character has the next cell, too.
    let (mut shown, mut at) = (String::new(), 0);
    while let Some(cell) = buffer.content.get(at) {
        shown.push_str(cell.symbol());
        at += Line::raw(cell.symbol()).width().max(1);
    }
    shown.trim_end().to_owned()
}

/// Writes a text to the standard output. A reader that has left is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Terminal { error }),
        _ => Ok(()),
    }
}
