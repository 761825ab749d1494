//! The progress of the lab: a table that is drawn again in place where the terminal can, and a line
//! now and then where it cannot. On standard error, so that standard output has only the result.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The least time between two lines without a terminal.
const QUIET: Duration = Duration::from_secs(5);

/// One part of the work.
pub struct Progress {
    title: String,
    begin: Instant,
    said: Option<Instant>,
    bar: ProgressBar,
}

impl Progress {
    /// Says what begins.
    ///
    /// # Panics
    /// Never: the template is sound.
    pub fn begin(title: &str) -> Progress {
        eprintln!("{title} ...");
        let style = ProgressStyle::with_template("{msg}").expect("the template is sound");
        let bar = ProgressBar::no_length().with_style(style);
        Progress { title: title.to_owned(), begin: Instant::now(), said: None, bar }
    }

    /// `done` of `all` steps are done; `what` is next.
    pub fn step(&mut self, what: &str, done: usize, all: usize) {
        let line =
            format!("  {what}, {done} of {all}, {:.0} s", self.begin.elapsed().as_secs_f64());
        if !self.bar.is_hidden() {
            self.bar.set_message(line);
        } else if self.due() {
            eprintln!("{line}");
        }
    }

    /// A round has ended; `table` has the figures so far.
    pub fn round(&mut self, round: usize, rounds: usize, table: impl FnOnce() -> Vec<String>) {
        let spent = self.begin.elapsed().as_secs_f64();
        let line = format!("  round {round} of {rounds}, {spent:.0} s");
        if !self.bar.is_hidden() {
            let mut lines = table();
            lines.push(line);
            self.bar.set_message(lines.join("\n"));
        } else if self.due() || round == rounds {
            eprintln!("{line}");
        }
    }

    /// Says that it is over.
    pub fn end(self) {
        self.bar.finish_and_clear();
        eprintln!("{}: {:.0} s", self.title, self.begin.elapsed().as_secs_f64());
    }

    fn due(&mut self) -> bool {
        let due = self.said.is_none_or(|said| said.elapsed() >= QUIET);
        if due {
            self.said = Some(Instant::now());
        }
        due
    }
}
