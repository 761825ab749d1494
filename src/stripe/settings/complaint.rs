//! The line about variables that are misspelt.
//!
//! It is written into a fixed piece of memory, because the first use of the library may be in an
//! allocator. (And so it does not bring the code of `format!` to programs that never format.)

use super::values::{LEASES, MOST_ROWS, NAMES, PREFIX, ROWS, STRATEGY, leases, number, wish};

/// The maximum number of variables of which the line speaks.
const MOST_FLAWS: usize = 4;
/// The maximum number of characters that it shows of a name or a value.
const MOST_SHOWN: usize = 40;
/// The maximum length of the line, in bytes.
const LONGEST: usize = 600;

const _: () = assert!(MOST_ROWS == 256); // as the line says

/// The line, as far as it is written.
pub(super) struct Complaint {
    text: [u8; LONGEST],
    length: usize,
    /// The number of variables that are wrong.
    flaws: usize,
}

impl Complaint {
    pub(super) fn new() -> Complaint {
        Complaint { text: [0; LONGEST], length: 0, flaws: 0 }
    }

    /// Says that a name is unknown, if it begins as the names of the library's variables do.
    pub(super) fn look_at_name(&mut self, name: &[u8]) {
        let is_foreign = !name.starts_with(PREFIX.as_bytes());
        if is_foreign || NAMES.iter().any(|known| known.as_bytes() == name) || !self.begins() {
            return;
        }
        self.push("`");
        self.show(name);
        self.push("` is unknown, there are WINDROW_STRATEGY, WINDROW_ROWS and WINDROW_LEASES");
    }

    /// Says which values the variable at a place of [`NAMES`] may have, if this is none of them.
    pub(super) fn look_at_value(&mut self, which: usize, value: &[u8]) {
        let (name, is_right, values) = match which {
            0 => (STRATEGY, wish(value).is_some(), "portable, fenced, epochs or cpu-id"),
            1 => {
                let is_right = number(value).is_some_and(|rows| (1..=MOST_ROWS).contains(&rows));
                (ROWS, is_right, "a number from 1 to 256")
            }
            _ => (LEASES, leases(value).is_some(), "on or off"),
        };
        if !is_right && !value.is_empty() && self.begins() {
            self.push(name);
            self.push(" must be ");
            self.push(values);
            self.push(", and is `");
            self.show(value);
            self.push("`");
        }
    }

    /// Returns the line, if there is anything to say. It has at most [`LONGEST`] bytes, which can
    /// all be printed.
    pub(super) fn line(&mut self) -> Option<&[u8]> {
        if self.flaws == 0 {
            return None;
        }
        self.push(if self.flaws > MOST_FLAWS { "; and others\n" } else { "\n" });
        Some(&self.text[..self.length])
    }

    /// Counts a variable that is wrong, and returns whether the line speaks of it.
    fn begins(&mut self) -> bool {
        self.flaws += 1;
        if self.flaws <= MOST_FLAWS {
            self.push(if self.flaws == 1 { "windrow: " } else { "; " });
        }
        self.flaws <= MOST_FLAWS
    }

    #[inline(never)] // its code once
    fn push(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.push_byte(byte));
    }

    /// Writes the beginning of a text, without what a terminal might obey.
    #[inline(never)] // as above
    fn show(&mut self, text: &[u8]) {
        // UTF-8 has one byte of another kind for each character.
        let characters = text.iter().filter(|byte| **byte & 0xc0 != 0x80);
        for byte in characters.take(MOST_SHOWN) {
            let is_plain = byte.is_ascii_graphic() || *byte == b' ';
            self.push_byte(if is_plain { *byte } else { b'?' });
        }
    }

    /// Writes a byte, if the line has room. (It has: see the test of the longest line.)
    #[inline(never)] // as above
    fn push_byte(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(variables: &[(&str, &str)]) -> Option<String> {
        let mut complaint = Complaint::new();
        for (name, value) in variables {
            if let Some(which) = NAMES.iter().position(|known| known == name) {
                complaint.look_at_value(which, value.as_bytes());
            }
            complaint.look_at_name(name.as_bytes());
        }
        complaint.line().map(|line| String::from_utf8(line.to_vec()).unwrap())
    }

    #[test]
    fn right_and_foreign_variables_are_passed_over() {
        let right = [
            ("PATH", "/bin"),
            ("windrow_strategy", "fencd"),
            ("MY_WINDROW_ROWS", "x"),
            (STRATEGY, "cpu-id"),
            (STRATEGY, ""),
            (ROWS, "256"),
            (ROWS, ""),
            (LEASES, "off"),
        ];
        assert_eq!(line(&right), None);
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn a_value_that_is_none_is_said_with_those_there_are() {
        for (name, value, must) in [
            (STRATEGY, "Portable", "portable, fenced, epochs or cpu-id"),
            (ROWS, "0", "a number from 1 to 256"),
            (ROWS, "257", "a number from 1 to 256"),
            (ROWS, "two", "a number from 1 to 256"),
            (LEASES, "yes", "on or off"),
        ] {
            let said = format!("windrow: {name} must be {must}, and is `{value}`\n");
            assert_eq!(line(&[(name, value)]), Some(said));
        }
    }

    #[test]
    fn a_name_that_is_none_is_said_with_those_there_are() {
        let said = line(&[("WINDROW_STRATGY", "portable")]).unwrap();
        assert!(said.starts_with("windrow: `WINDROW_STRATGY` is unknown"), "{said}");
        assert!([STRATEGY, ROWS, LEASES].iter().all(|name| said.contains(name)), "{said}");
    }

    #[test]
    fn whatever_the_variables_are_there_is_one_short_line_of_plain_signs() {
        let long = "\u{1b}[2J\n\u{202e}".repeat(10_000);
        let name = format!("{PREFIX}{long}");
        let all = [(name.as_str(), long.as_str()), (STRATEGY, &long), (ROWS, &long)];
        for count in 1..10 {
            let said = line(&all.repeat(count)).unwrap();
            assert!(said.ends_with('\n') && said.len() <= 600, "{} bytes", said.len());
            let plain = said.trim_end_matches('\n').bytes();
            assert!(
                plain.into_iter().all(|byte| byte.is_ascii_graphic() || byte == b' '),
                "{said}"
            );
        }
    }
}
