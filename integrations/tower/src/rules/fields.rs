//! The fields of settings, as serde reads them.

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
