//! The places that a rule gives the rooms of its keys.

#[cfg(feature = "serde")]
use crate::rules::fields::{Fields, Readable};
use crate::rules::setting::Setting;

/// A concurrency limit: the number of requests that a [`Room`](crate::Room) holds at once.
///
/// ```
/// use windrow_tower::Places;
///
/// assert_eq!(Places::new(50).places, 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The number of places. A room with 0 places refuses all requests.
    pub places: u64,
}

impl Places {
    /// Returns a number of places.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Places::new(2).places, 2);
    /// ```
    pub const fn new(places: u64) -> Places {
        Places { places }
    }
}

impl Setting for Places {}

/// Reads the fields of an object.
#[cfg(feature = "serde")]
impl Readable for Places {
    const WHAT: &'static str = "an object of places";
    const NAMES: &'static [&'static str] = &["match", "places"];
    const REQUIRED: &'static [&'static str] = &["places"];
    const BLANK: Places = Places::new(0);

    fn with(self, fields: &Fields) -> Places {
        Places::new(fields.places.unwrap_or(self.places))
    }
}
