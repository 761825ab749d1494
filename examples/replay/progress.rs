//! A sign of life on standard error, for logs that take their time.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::numbers::grouped;

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many lines pass between two looks at the time.
const STEP: u64 = 4_096;

/// Rewrites one line of a terminal with how far the replay is.
pub(crate) struct Progress {
    due: Option<Instant>,
    shown: bool,
}

impl Progress {
    /// Says something after two seconds, if there is a terminal to say it to.
    pub(crate) fn start() -> Progress {
        let due = io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Progress { due, shown: false }
    }

    /// So many lines have been read.
    pub(crate) fn at(&mut self, lines: u64) {
        let Some(due) = self.due.filter(|_| lines.is_multiple_of(STEP)) else { return };
        let now = Instant::now();
        if now >= due {
            let _ = write!(io::stderr(), "\r{} lines", grouped(lines));
            self.shown = true;
            self.due = Some(now + PATIENCE / 4);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
