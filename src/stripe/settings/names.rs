//! The names of the variables with which Linux has started the process, by `/proc/self/environ`.
//!
//! A misspelt variable was set where the process was started. So changes by the process itself need
//! not be known, and `std`, which would copy all names and values into memory, need not be asked. A
//! process that may not read the file has no names.

use std::ffi::CStr;

const FILE: &CStr = c"/proc/self/environ";

/// The size of the pieces in which the file is read.
const PIECE: usize = 2048;

/// The length of the longest name that is handed over whole. More than a message shows: 40
/// characters of at most 4 bytes.
const LONGEST: usize = 160;

/// Hands over the first [`LONGEST`] bytes of each name.
pub(super) fn each(see: &mut dyn FnMut(&[u8])) {
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::open(FILE.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return;
    }
    let (mut piece, mut names) = ([0; PIECE], Names::new());
    loop {
        // SAFETY: the buffer is as long as it is said to be.
        let length = unsafe { libc::read(file, piece.as_mut_ptr().cast(), PIECE) };
        let Some(read) = usize::try_from(length).ok().and_then(|length| piece.get(..length)) else {
            break; // the system refuses to go on
        };
        if read.is_empty() {
            break;
        }
        names.read(read, see);
    }
    // SAFETY: the file was opened above, and is not used after this.
    unsafe { libc::close(file) };
}

/// The part that was read of the variable at which a piece ends.
struct Names {
    name: [u8; LONGEST],
    length: usize,
    is_in_value: bool,
}

impl Names {
    fn new() -> Names {
        Names { name: [0; LONGEST], length: 0, is_in_value: false }
    }

    /// Reads the next piece: names and values, with `=` between them, and a zero after each value.
    fn read(&mut self, piece: &[u8], see: &mut dyn FnMut(&[u8])) {
        for byte in piece {
            if *byte == 0 {
                (self.length, self.is_in_value) = (0, false);
            } else if self.is_in_value {
                // passed over
            } else if *byte == b'=' {
                self.is_in_value = true;
                see(self.name.get(..self.length).unwrap_or_default());
            } else if let Some(place) = self.name.get_mut(self.length) {
                *place = *byte;
                self.length += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_a_piece_ends() {
        let long = "n".repeat(200);
        let text = format!("A=1\0BC=x=y\0=\0NONE\0D=\0{long}=\0E=2");
        let all = ["A", "BC", "", "D", &long[..LONGEST], "E"];
        for size in 1..=text.len() {
            let (mut names, mut found) = (Names::new(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                names.read(piece, &mut |name| {
                    found.push(String::from_utf8(name.to_vec()).expect("ASCII"));
                });
            }
            assert_eq!(found, all, "pieces of {size}");
        }
    }

    #[test]
    fn the_names_of_this_process_are_those_that_std_knows() {
        let mut missing: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
        missing.retain(|name| name.len() <= LONGEST);
        let mut is_read = false;
        each(&mut |name| {
            is_read = true;
            missing.retain(|one| one.as_encoded_bytes() != name);
        });
        assert!(!is_read || missing.is_empty(), "{missing:?}");
    }
}
