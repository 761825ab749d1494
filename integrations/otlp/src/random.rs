//! Random numbers, of which an exporter needs few: the standard library's seeds.

use std::env;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// Returns a random number.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// Returns a random number from 0 to 1.
pub(crate) fn fraction() -> f64 {
    random() as f64 / u64::MAX as f64
}

/// Returns a random UUID, of version 4.
pub(crate) fn uuid() -> String {
    let high = random() & !0xf000 | 0x4000;
    let low = random() & !(0b11 << 62) | 0b10 << 62;
    let digits = format!("{high:016x}{low:016x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Returns the name of the program.
pub(crate) fn program() -> String {
    let program = env::current_exe().ok();
    let name = program.as_deref().and_then(Path::file_name);
    name.map_or("rust".to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_uuid_is_another_one_and_of_version_4() {
        let [one, other] = [uuid(), uuid()];
        assert_ne!(one, other);
        let lengths: Vec<_> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&one[14..15], "4");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}
