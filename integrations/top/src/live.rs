//! The program on a terminal, until the user quits.

use std::io::{self, IsTerminal};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};

use crate::app::App;
use crate::error::Error;
use crate::follow::follow;
use crate::screen::{self, Theme};
use crate::signals::Signals;
use crate::source::Source;

/// The longest time between two drawings: ages are shown.
const PERIOD: Duration = Duration::from_millis(250);

/// The greatest number of messages that wait, and that are taken between two drawings: a server
/// that sends frames without end waits, too.
const WAITING: usize = 4;

/// Shows the console, or the files, until the user quits.
pub(crate) fn run(source: &Source) -> Result<(), Error> {
    let failed = |error| Error::Terminal { error };
    if !io::stdout().is_terminal() {
        let error = io::Error::other("the output is no terminal: --once prints one frame as text");
        return Err(failed(error));
    }
    let signals = Signals::take().map_err(failed)?;
    // The beginning may fail when it has changed the terminal.
    let shown = ratatui::try_init().and_then(|mut terminal| show(source, &mut terminal, &signals));
    let restored = ratatui::try_restore();
    signals.end().and(shown).and(restored).map_err(failed)
}

fn show(source: &Source, terminal: &mut DefaultTerminal, signals: &Signals) -> io::Result<()> {
    let (sender, messages) = sync_channel(WAITING);
    let of_thread = source.clone();
    let read = move || follow(&of_thread, |message| sender.send(message).is_ok(), thread::sleep);
    // It ends with the process, or with its next message.
    thread::Builder::new().name("windrow-stream".to_owned()).spawn(read)?;
    let mut app = App::new(source.shown());
    let theme = Theme::of(std::env::var("NO_COLOR").ok().as_deref());
    while !signals.have_come() {
        messages.try_iter().take(WAITING).for_each(|message| app.take(message, Instant::now()));
        terminal.draw(|frame| {
            let area = frame.area();
            screen::draw(frame.buffer_mut(), area, &mut app, theme, Instant::now());
        })?;
        let mut wait = PERIOD;
        while event::poll(wait)? {
            wait = Duration::ZERO;
            match event::read()? {
                Event::Key(key) if !app.press(key) => return Ok(()),
                _ => {}
            }
        }
    }
    Ok(())
}
