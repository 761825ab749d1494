//! The names of a limit's keys on the engine.
//!
//! All keys of a limit share one hash tag, so a cluster has them in one slot. The tag is the
//! limit's name, in which neither a brace nor a slash may stand. A key that comes from a stranger
//! stands last, after parts of fixed form: whatever bytes it has, it is the end of a key of its own
//! limit, and of no other.
//!
//! | key | holds |
//! |---|---|
//! | `{NAME}:l:KEY` | the ledger |
//! | `{NAME}:e` | the epoch |
//!
//! `NAME` of a limit by key ends with a slash, `KEY` of any other is empty.

use crate::error::SharedError;

/// The greatest length of a limit's name, in bytes.
const MAX_NAME: usize = 64;

/// The names of the keys that one limit uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) ledger: Box<[u8]>,
    pub(crate) epoch: Box<[u8]>,
}

/// The hash tag of a limit's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag(String);

impl Tag {
    /// Returns the tag of the limit with this name, which ends with `suffix`.
    pub(crate) fn of(name: &str, suffix: &str) -> Result<Tag, SharedError> {
        check(name)?;
        Ok(Tag(format!("{{{name}{suffix}}}")))
    }

    /// Returns the names for a key.
    pub(crate) fn keys(&self, key: &[u8]) -> Keys {
        let tag = self.0.as_bytes();
        Keys { ledger: [tag, b":l:", key].concat().into(), epoch: [tag, b":e"].concat().into() }
    }
}

/// Checks the name of a limit.
fn check(name: &str) -> Result<(), SharedError> {
    let shown = || name.chars().take(2 * MAX_NAME).collect();
    let wrong = |reason| Err(SharedError::Name { name: shown(), reason });
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if name.is_empty() {
        return wrong("it is empty");
    }
    if name.len() > MAX_NAME {
        return wrong("it has more than 64 bytes");
    }
    if !name.bytes().all(allowed) {
        return wrong("only letters, digits, `_`, `-` and `.` of ASCII may stand in it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_bounded_and_has_no_brace() {
        for wrong in ["", "a b", "{a}", "a/", "a:e", "ä", &"n".repeat(65)] {
            assert!(Tag::of(wrong, "").is_err(), "{wrong}");
        }
        let Err(SharedError::Name { name, .. }) = check(&"n".repeat(10_000)) else {
            panic!("named")
        };
        assert_eq!(name.len(), 2 * MAX_NAME, "an error repeats no text of any length");
        for right in ["a", "orders.v2", "a-b_C9", &"n".repeat(64)] {
            assert!(Tag::of(right, "/").is_ok(), "{right}");
        }
    }

    #[test]
    fn no_key_reaches_another_limits_key() {
        let strange: &[&[u8]] = &[b"", b":e", b"e", b"}:e", b"{b}:l:", b":l:", b"/", b"\x00"];
        let mut seen = std::collections::HashMap::new();
        for name in ["a", "b", "a.b"] {
            for suffix in ["", "/"] {
                let tag = Tag::of(name, suffix).unwrap();
                for key in strange {
                    let keys = tag.keys(key);
                    let owner = (name, suffix, "l", *key);
                    assert_eq!(seen.insert(keys.ledger, owner), None, "{owner:?}");
                    let epoch = seen.insert(keys.epoch, (name, suffix, "e", b""));
                    assert!(matches!(epoch, None | Some((_, _, "e", _))));
                }
            }
        }
    }
}
