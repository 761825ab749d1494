//! The lines of a text that is being written.

use std::fmt;

/// Calls a function with each line, without its end.
pub(super) struct Lines<F> {
    see: F,
    /// The beginning of the current line.
    line: String,
}

impl<F: FnMut(&str)> Lines<F> {
    pub(super) fn new(see: F) -> Lines<F> {
        Lines { see, line: String::new() }
    }
}

impl<F: FnMut(&str)> fmt::Write for Lines<F> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((end, next)) = rest.split_once('\n') {
            self.line.push_str(end);
            (self.see)(&self.line);
            self.line.clear();
            rest = next;
        }
        self.line.push_str(rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn lines_are_the_same_however_the_text_comes_in_parts() {
        let text = "a\n\nb c\nthe rest";
        for length in 1..text.len() {
            let mut all = Vec::new();
            let mut lines = Lines::new(|line: &str| all.push(line.to_owned()));
            for part in text.as_bytes().chunks(length) {
                lines.write_str(str::from_utf8(part).unwrap()).unwrap();
            }
            assert_eq!(all, ["a", "", "b c"]);
        }
    }
}
