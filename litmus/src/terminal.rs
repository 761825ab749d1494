//! Tables: redrawn in place where the output is a terminal, printed once where it is not.

use std::io::{self, IsTerminal, Write};
use std::iter::once;

/// Lines that replace one another.
#[derive(Debug)]
pub struct Live {
    is_terminal: bool,
    /// How many lines stand there now.
    drawn: usize,
}

impl Live {
    /// Nothing drawn yet, on standard output.
    pub fn new() -> Live {
        Live { is_terminal: io::stdout().is_terminal(), drawn: 0 }
    }

    /// Whether there is somebody to look.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Draws lines in place of those drawn before. Does nothing where there is no terminal.
    pub fn draw(&mut self, lines: &[String]) {
        if self.is_terminal {
            self.replace(lines);
            self.drawn = lines.len();
        }
    }

    /// Draws lines that stay.
    pub fn settle(&mut self, lines: &[String]) {
        self.replace(lines);
        self.drawn = 0;
    }

    fn replace(&self, lines: &[String]) {
        let over =
            if self.drawn > 0 { format!("\x1b[{}A\x1b[J", self.drawn) } else { String::new() };
        let text: String = once(over.as_str())
            .chain(lines.iter().flat_map(|line| [line.as_str(), "\n"]))
            .collect();
        let mut out = io::stdout().lock();
        // Who has stopped listening does not stop the run.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Default for Live {
    fn default() -> Live {
        Live::new()
    }
}

/// A number with a space after each three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
