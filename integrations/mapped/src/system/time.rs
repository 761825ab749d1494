//! The monotonic clock of this process, and whether it is the machine's.
//!
//! A time namespace sets `CLOCK_MONOTONIC` off from the machine's, by a difference that the kernel
//! tells. Two processes with different ones would count one pace by two clocks.

use std::io::ErrorKind;
use std::{fs, io};

use super::machine;
use crate::error::MappedError;

const OFFSETS: &str = "/proc/self/timens_offsets";

/// The namespace of this process, and that of its children to come, of which the offsets tell.
const NAMESPACES: [&str; 2] = ["/proc/self/ns/time", "/proc/self/ns/time_for_children"];

/// The boot of the machine whose clock this process has, as a pace's word, which is not zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boot(pub(crate) u64);

impl Boot {
    /// Returns the boot, if the clock of this process is the machine's.
    pub(crate) fn of_this_process() -> Result<Boot, MappedError> {
        check()?;
        let boot = machine::boot();
        match (boot as u64) ^ (boot >> 64) as u64 {
            0 => Err(MappedError::UnknownClock { reason: "the boot id is not known" }),
            boot => Ok(Boot(boot)),
        }
    }
}

/// Checks that the monotonic clock of this process is the machine's.
fn check() -> Result<(), MappedError> {
    let unknown = |reason| Err(MappedError::UnknownClock { reason });
    let text = match fs::read_to_string(OFFSETS) {
        Ok(text) => text,
        // A kernel without time namespaces. (Where `/proc` is missing, the boot id is not known.)
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(_) => return unknown("/proc/self/timens_offsets cannot be read"),
    };
    let [own, of_children] = NAMESPACES.map(fs::read_link);
    if !is_one(own, of_children) {
        return unknown("the process has left its time namespace, or cannot read it");
    }
    match monotonic(&text) {
        Some(0) => Ok(()),
        Some(nanoseconds) => Err(MappedError::ShiftedClock { nanoseconds }),
        None => unknown("/proc/self/timens_offsets has no monotonic clock"),
    }
}

fn is_one<T: PartialEq>(own: io::Result<T>, of_children: io::Result<T>) -> bool {
    matches!((own, of_children), (Ok(own), Ok(of_children)) if own == of_children)
}

/// Returns the offset of the monotonic clock in a text of offsets, in nanoseconds.
fn monotonic(text: &str) -> Option<i128> {
    let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.into_iter().find_map(|words| match words[..] {
        ["monotonic" | "1", seconds, nanoseconds] => {
            let [seconds, nanoseconds] = [seconds, nanoseconds].map(str::parse::<i64>);
            Some(i128::from(seconds.ok()?) * 1_000_000_000 + i128::from(nanoseconds.ok()?))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read() {
        let text = |offset| format!("monotonic  {offset}\nboottime   7   0\n");
        assert_eq!(monotonic(&text("0    0")), Some(0));
        assert_eq!(monotonic(&text("86400 5")), Some(86_400_000_000_005));
        assert_eq!(monotonic(&text("-2 500000000")), Some(-1_500_000_000));
        assert_eq!(monotonic(&text("x 0")), None);
        assert_eq!(monotonic("boottime 0 0\n"), None);
        assert!(is_one(Ok(1), Ok(1)) && !is_one(Ok(1), Ok(2)));
        assert!(!is_one(Ok(1), Err(ErrorKind::PermissionDenied.into())));
    }
}
