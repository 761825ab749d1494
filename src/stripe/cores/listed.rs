//! The list of cores that Linux has or may have: `/sys/devices/system/cpu/possible`, such as
//! `0-3,8-11`.

use std::ffi::CStr;

const FILE: &CStr = c"/sys/devices/system/cpu/possible";

/// The maximum length of the list, which usually has one range.
const LONGEST: usize = 1024;

/// More than any kernel has (8192). A greater number is none of a core.
const MOST: usize = 1 << 16;

/// Returns the number of cores in the list, and one more than the highest number of a core; `None`
/// if there is no such file, or no such list in it.
pub(super) fn listed() -> Option<[usize; 2]> {
    let mut text = [0; LONGEST];
    let length = read(&mut text)?;
    // A text that fills the buffer may have been cut off.
    if length < LONGEST { parse(&text[..length]) } else { None }
}

/// Reads the file's beginning, and returns its length. (By the system's calls: `std` would take
/// memory for longer names, and promises nothing.)
fn read(text: &mut [u8; LONGEST]) -> Option<usize> {
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::open(FILE.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: the buffer is as long as it is said to be. The file was opened above, and is not used
    // after it is closed.
    let length = unsafe {
        let length = libc::read(file, text.as_mut_ptr().cast(), LONGEST);
        libc::close(file);
        length
    };
    usize::try_from(length).ok()
}

/// Reads a list of numbers and ranges, which rise. (Sign by sign: each counter of a program brings
/// this code.)
fn parse(text: &[u8]) -> Option<[usize; 2]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let (mut count, mut end) = (0, 0);
    // The first number of the range that is being read, and the number that is.
    let (mut first, mut number) = (None, None);
    for place in 0..=text.len() {
        match text.get(place).copied().unwrap_or(b',') {
            digit @ b'0'..=b'9' => {
                let read = 10 * number.unwrap_or(0) + usize::from(digit - b'0');
                number = Some(read).filter(|read| *read < MOST);
                number?;
            }
            b'-' if first.is_none() => first = Some(number.take()?),
            b',' => {
                let last = number.take()?;
                let first = first.take().unwrap_or(last);
                if first < end || last < first {
                    return None;
                }
                (count, end) = (count + (last - first + 1), last + 1);
            }
            _ => return None,
        }
    }
    Some([count, end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
        for (text, count, end) in [
            ("0", 1, 1),
            ("0\n", 1, 1),
            ("0-1\n", 2, 2),
            ("0-255\n", 256, 256),
            ("0-3,8-11\n", 8, 12),
            ("0,2,4-5,7", 5, 8),
            ("3\n", 1, 4),
            ("0-8191", 8192, 8192),
        ] {
            assert_eq!(parse(text.as_bytes()), Some([count, end]), "{text:?}");
        }
    }

    #[test]
    fn any_other_text_is_refused() {
        for text in [
            "",
            "\n",
            "\n\n",
            "0\n\n",
            " 0",
            "0 ",
            "-",
            "-1",
            "0-",
            "0--1",
            "0-1-2",
            ",",
            "0,",
            ",0",
            "0,,1",
            "1,0",
            "0,0",
            "0-3,3",
            "3-1",
            "a",
            "0x1",
            "+1",
            "0-\u{663}",
            "0\0",
            "65536",
            "0-65536",
            "18446744073709551616",
            "99999999999999999999999999999999999999",
            "0-3:1/2",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parse(&[0xff; LONGEST]), None);
        assert_eq!(parse("0,".repeat(LONGEST).as_bytes()), None);
    }

    #[test]
    fn the_list_of_this_machine_has_the_cores_that_this_process_may_use() {
        let Some([count, end]) = listed() else {
            return; // a sandbox without `/sys`
        };
        assert!((1..=end).contains(&count), "{count} below {end}");
        assert!(std::thread::available_parallelism().is_ok_and(|few| few.get() <= count));
    }
}
