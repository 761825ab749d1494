//! The fields of settings, as serde reads them.

use std::time::Duration;

use crate::rules::geometry::Geometry;
use crate::rules::places::Places;
use crate::rules::rate::Rate;

/// The fields of an object as read: each may be there or not.
#[derive(Default)]
pub struct Fields {
    /// The labels and patterns of a rule.
    pub(super) labels: Vec<(String, String)>,
    /// The pattern of a weight's requests.
    pub(super) request: String,
    pub(super) weight: u64,
    pub(super) limit: Option<u64>,
    pub(super) interval_ms: Option<u64>,
    pub(super) buckets: Option<usize>,
    pub(super) strict: Option<bool>,
    pub(super) max_wait_ms: Option<u64>,
    pub(super) burst: Option<u64>,
    pub(super) places: Option<u64>,
}

/// A setting that can be read.
pub trait Readable: Sized {
    /// The object that is expected.
    const WHAT: &'static str;

    /// The names of the fields of a rule: `match`, and those of the setting.
    const NAMES: &'static [&'static str];

    /// The names of the fields that the default setting must have.
    const REQUIRED: &'static [&'static str];

    /// True if rules of this setting have weights of requests, too.
    const HAS_WEIGHTS: bool = false;

    /// The setting whose fields a default setting may leave out.
    const BLANK: Self;

    /// Returns the setting with the fields that are there.
    #[must_use]
    fn with(self, fields: &Fields) -> Self;
}

impl Readable for Rate {
    const WHAT: &'static str = "an object of a rate";
    const NAMES: &'static [&'static str] =
        &["match", "limit", "interval_ms", "buckets", "strict", "max_wait_ms", "burst"];
    const REQUIRED: &'static [&'static str] = &["limit"];
    const HAS_WEIGHTS: bool = true;
    const BLANK: Rate = Rate::new(0);

    fn with(self, fields: &Fields) -> Rate {
        Rate {
            limit: fields.limit.unwrap_or(self.limit),
            interval: fields.interval_ms.map_or(self.interval, Duration::from_millis),
            buckets: fields.buckets.unwrap_or(self.buckets),
            strict: fields.strict.unwrap_or(self.strict),
            max_wait: fields.max_wait_ms.map_or(self.max_wait, Duration::from_millis),
            burst: fields.burst.or(self.burst),
        }
    }
}

impl Readable for Places {
    const WHAT: &'static str = "an object of places";
    const NAMES: &'static [&'static str] = &["match", "places"];
    const REQUIRED: &'static [&'static str] = &["places"];
    const BLANK: Places = Places::new(0);

    fn with(self, fields: &Fields) -> Places {
        Places::new(fields.places.unwrap_or(self.places))
    }
}

impl Readable for Geometry {
    const WHAT: &'static str = "an object of a geometry";
    const NAMES: &'static [&'static str] = &["match", "interval_ms", "buckets"];
    const REQUIRED: &'static [&'static str] = &["interval_ms", "buckets"];
    const BLANK: Geometry = Geometry::new(Duration::ZERO, 0);

    fn with(self, fields: &Fields) -> Geometry {
        Geometry {
            interval: fields.interval_ms.map_or(self.interval, Duration::from_millis),
            buckets: fields.buckets.unwrap_or(self.buckets),
        }
    }
}
