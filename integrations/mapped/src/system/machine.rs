//! The kernel and the machine: the boot id, and the numbers of processors.

use std::fs;

/// More than any kernel has (8192).
const MOST: u32 = 8192;

/// Returns the boot id of the running kernel; zero if it is not known.
///
/// Two processes with the same id run under one kernel, which numbers processors alike for both:
/// namespaces and control groups do not change the numbers.
pub(crate) fn boot() -> u128 {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    u128::from_str_radix(&text.trim().replace('-', ""), 16).unwrap_or(0)
}

/// Returns one more than the highest number that a processor of this machine can ever have.
///
/// If the system does not say, it is the number of processors that the process may use: then adds
/// on processors of higher numbers are locked.
pub(crate) fn processors() -> u32 {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let listed = end(&text).filter(|end| *end <= MOST);
    listed.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, |number| number.get() as u32).min(MOST)
    })
}

/// Returns one more than the last number of a list such as `0-3,8-11`.
fn end(list: &str) -> Option<u32> {
    list.trim().rsplit([',', '-']).next()?.parse::<u32>().ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(end("0\n"), Some(1));
        assert_eq!(end("0-3,8-11\n"), Some(12));
        assert_eq!(end("4294967295"), None);
        assert_eq!(end(""), None);
        assert!(processors() > 0 && boot() != 0);
    }
}
