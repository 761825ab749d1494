//! The answer to a call of a limit.

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer<T> {
    Taken(T),
    /// The moment would be this far away; `None` if the weight never fits, or time ends before.
    Refused {
        wait: Option<u64>,
    },
}
