//! Tables: redrawn in place where the output is a terminal, printed once where it is not.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Lines that replace one another.
#[derive(Debug)]
pub struct Live(ProgressBar);

impl Live {
    /// Returns an empty live table, on standard output.
    ///
    /// # Panics
    /// Never: the template is sound.
    pub fn new() -> Live {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        Live(bar.with_style(ProgressStyle::with_template("{msg}").expect("the template is sound")))
    }

    /// Returns whether the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        !self.0.is_hidden()
    }

    /// Draws lines in place of those drawn before. Does nothing where there is no terminal.
    pub fn draw(&self, lines: &[String]) {
        self.0.set_message(lines.join("\n"));
    }

    /// Draws lines that stay.
    pub fn settle(self, lines: &[String]) {
        self.0.finish_and_clear();
        for line in lines {
            println!("{line}");
        }
    }
}

impl Default for Live {
    fn default() -> Live {
        Live::new()
    }
}

/// Returns a number with a comma before each three digits.
pub fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}
