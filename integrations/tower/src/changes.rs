//! The changes that a swap of rules has made.

use std::fmt::{self, Display, Formatter};

/// The changes that a swap of rules has made: from [`Limits::replace`](crate::Limits::replace),
/// [`Rooms::replace`](crate::Rooms::replace) and [`Routes::replace`](crate::Routes::replace).
///
/// ```
/// use windrow_tower::Changes;
///
/// assert_eq!(Changes::default().to_string(), "changed keys: 0");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The number of keys (in [`Routes`](crate::Routes), of series) whose setting has changed.
    /// (Waits are not compared.)
    pub keys: usize,
    /// The number of keys that could not be changed, because there is no memory for their buckets.
    /// They keep their interval and buckets, and of two limits they have the lower one. All other
    /// keys follow the rules. When there is memory, replace the rules again.
    pub failed: usize,
}

impl Changes {
    /// Adds one key: whether it has changed, or `None` if it could not be changed.
    pub(crate) fn note(&mut self, has_changed: Option<bool>) {
        self.keys += usize::from(has_changed == Some(true));
        self.failed += usize::from(has_changed.is_none());
    }
}

impl Display for Changes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "changed keys: {}", self.keys)?;
        if self.failed > 0 {
            write!(f, "; keys that could not be changed: {}", self.failed)?;
        }
        Ok(())
    }
}
