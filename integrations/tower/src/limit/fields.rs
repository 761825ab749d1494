//! The header fields `RateLimit-Policy` and `RateLimit`, by the draft of the IETF.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

use crate::limiter::Quota;

/// The header fields `RateLimit-Policy` and `RateLimit` of a [`LimitLayer`](crate::LimitLayer) or a
/// [`PaceLayer`](crate::PaceLayer), by the draft [draft-ietf-httpapi-ratelimit-headers-10].
///
/// ```text
/// RateLimit-Policy: "client";q=100;w=60        the limit, and the interval in seconds
/// RateLimit: "client";r=0;t=12                 what is left, and the seconds until more is there
/// ```
///
/// Refused responses have them; those of admitted requests too, if
/// [`on_all`](Self::on_all) says so. `q` is the limit of the key's gate, and `r` what it would
/// admit at that moment: other requests of the key may come first. `w` is there if the gate's
/// interval is a whole number of seconds, and `t` in a refused response that has `Retry-After`,
/// with the same number.
///
/// The item of a pace has the burst as `q`, and as `w` the time in which the whole burst comes
/// back. Several limits have an item each, named `"client-1"`, `"client-2"` and so on, in the order
/// in which they were added; `t` is in the items that have less left than the request's weight.
///
/// ```
/// use windrow::{Gate, labels};
/// use windrow_tower::{LimitFields, LimitLayer, Limits};
///
/// labels! { pub struct Client { client: u32 } }
///
/// static CLIENTS: Limits<Client> =
///     Limits::new(1_000, |_| Gate::builder(100).buckets(10).build().expect("100 a second"));
///
/// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
/// let layer = layer.fields(LimitFields::new("client").on_all());
/// # let _ = tower_layer::Layer::layer(&layer, ());
/// ```
///
/// [draft-ietf-httpapi-ratelimit-headers-10]: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "fields are written by a layer that is given them"]
pub struct LimitFields {
    policy: &'static str,
    is_on_all: bool,
}

/// The two fields of a response.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    policy: HeaderValue,
    limit: HeaderValue,
}

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The greatest integer of a structured field: fifteen digits.
const MOST: u64 = 999_999_999_999_999;

impl LimitFields {
    /// Returns fields of a policy with this name, for refused responses.
    ///
    /// # Panics
    ///
    /// If the name has other characters than printable ASCII ones, or a quotation mark or a
    /// backslash.
    ///
    /// ```
    /// let fields = windrow_tower::LimitFields::new("per-client");
    /// # let _ = fields;
    /// ```
    pub const fn new(policy: &'static str) -> LimitFields {
        let (bytes, mut at) = (policy.as_bytes(), 0);
        while at < bytes.len() {
            let is_plain = matches!(bytes[at], b' '..=b'~') && !matches!(bytes[at], b'"' | b'\\');
            assert!(is_plain, "the policy's name has a character that must be escaped");
            at += 1;
        }
        LimitFields { policy, is_on_all: false }
    }

    /// Returns the fields for all responses: of admitted requests, too. Each costs a read of the
    /// gate's buckets, or of the pace, and three allocations.
    ///
    /// ```
    /// let fields = windrow_tower::LimitFields::new("per-client").on_all();
    /// # let _ = fields;
    /// ```
    pub const fn on_all(self) -> LimitFields {
        LimitFields { is_on_all: true, ..self }
    }

    /// Returns whether a response has the fields.
    pub(crate) fn are_for(self, is_granted: bool) -> bool {
        self.is_on_all || !is_granted
    }

    /// Returns the fields for a response, with an item for each limit. `wait` returns the wait of a
    /// limit that refuses the request.
    pub(crate) fn of(self, quotas: &[Quota], wait: impl Fn(&Quota) -> Option<Duration>) -> Fields {
        use std::fmt::Write;

        let whole = |number: u64| number.min(MOST);
        let (mut policy, mut limit) = (String::new(), String::new());
        for (number, quota) in (1..).zip(quotas) {
            let name = match quotas {
                [_] => format!("\"{}\"", self.policy),
                _ => format!("\"{}-{number}\"", self.policy),
            };
            let comma = if number > 1 { ", " } else { "" };
            let _ = write!(policy, "{comma}{name};q={}", whole(quota.limit));
            if quota.interval.subsec_nanos() == 0 {
                let _ = write!(policy, ";w={}", whole(quota.interval.as_secs()));
            }
            let _ = write!(limit, "{comma}{name};r={}", whole(quota.left));
            if let Some(wait) = wait(quota) {
                let _ = write!(limit, ";t={}", whole(whole_seconds(wait)));
            }
        }
        let value = |text: String| HeaderValue::try_from(text).expect("it is printable ASCII");
        Fields { policy: value(policy), limit: value(limit) }
    }
}

impl Fields {
    /// Writes the fields, in place of those of a layer behind this one.
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        headers.insert(POLICY, self.policy);
        headers.insert(LIMIT, self.limit);
    }
}

/// Returns a wait in whole seconds, at least 1: rounded up, so that a client that comes back then
/// is not too early.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_nanos().div_ceil(1_000_000_000).max(1) as u64
}
