//! The progress of the lab: a line now and then, on standard error, so that standard output has
//! only the result.

use std::time::{Duration, Instant};

/// The least time between two lines.
const QUIET: Duration = Duration::from_secs(5);

/// One part of the work.
pub struct Progress {
    title: String,
    begin: Instant,
    said: Option<Instant>,
}

impl Progress {
    /// Says what begins.
    pub fn begin(title: &str) -> Progress {
        eprintln!("{title} ...");
        Progress { title: title.to_owned(), begin: Instant::now(), said: None }
    }

    /// `done` of `all` steps are done; `what` is next.
    pub fn step(&mut self, what: &str, done: usize, all: usize) {
        if self.said.is_none_or(|said| said.elapsed() >= QUIET) {
            self.said = Some(Instant::now());
            eprintln!("  {what}, {done} of {all}, {:.0} s", self.begin.elapsed().as_secs_f64());
        }
    }

    /// Says that it is over.
    pub fn end(self) {
        eprintln!("{}: {:.0} s", self.title, self.begin.elapsed().as_secs_f64());
    }
}
