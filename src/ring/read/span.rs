//! Spans: which buckets a read covers. (`in_span` reads what they hold together.)
//!
//! A read gives a length in nanoseconds. Its view resolves that once: into buckets of the ring, in
//! the geometry that the view has found, or into those of the finest tier that reaches back that
//! far. From there it reads one number, those of one event, or all.

use crate::error::OutOfRangeError;
use crate::ring::order::geometry::{Geometry, OutOfRing};
use crate::ring::order::tier::Tier;
use crate::ring::read::at_once::Part;
use crate::ring::read::tier_view::{Resolved, TierSpan};
use crate::ring::read::view::View;
use crate::timestamp::Timestamp;

/// The buckets that a read covers, side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'g> {
    /// The starts of the oldest and the newest; none before time zero.
    starts: Option<(u64, u64)>,
    /// The number of buckets, with those that would begin before time zero.
    pub(super) buckets: usize,
    length: u64,
    /// The span of a tier; none if the buckets are the ring's own.
    tier: Option<Resolved<'g>>,
}

impl Span<'_> {
    /// Returns the length of all buckets together, in nanoseconds, with those before time zero.
    pub(crate) fn covers(self) -> u64 {
        self.length * self.buckets as u64
    }

    /// Returns the length of a bucket, in nanoseconds.
    pub(crate) fn length(self) -> u64 {
        self.length
    }

    /// Returns the end of the newest bucket; `None` if there is none.
    pub(crate) fn end(self) -> Option<u64> {
        self.starts.map(|(_, newest)| newest.saturating_add(self.length))
    }

    /// Returns the starts of the oldest and the newest bucket; `None` if there is none.
    pub(crate) fn starts(self) -> Option<(u64, u64)> {
        self.starts
    }
}

/// A ring of buckets: the window's own, or a tier.
#[derive(Clone, Copy)]
pub(super) struct Source<'g> {
    tier: Option<&'g Tier>,
    pub(super) geometry: Geometry,
}

impl Source<'_> {
    /// Returns the number of whole buckets that cover `nanos`: at most all there are.
    pub(super) fn covering(self, nanos: u64) -> usize {
        let buckets = nanos.div_ceil(self.geometry.length());
        buckets.min(self.geometry.buckets() as u64) as usize
    }
}

/// Resolving spans.
impl<'g> View<'g> {
    /// Returns the span of all buckets of the interval.
    pub(crate) fn interval(&self) -> Span<'g> {
        let ring = self.own();
        self.span(ring, Some(self.newest()), ring.geometry.buckets())
    }

    /// Returns the span of the newest buckets that cover `nanos`, or of all.
    pub(crate) fn recent(&self, nanos: u64) -> Span<'g> {
        let source = self.source(nanos);
        self.span(source, Some(self.newest_of(source)), source.covering(nanos))
    }

    /// Returns the span of the buckets before the newest that cover `nanos`, or of all of these.
    pub(crate) fn complete(&self, nanos: u64) -> Span<'g> {
        let source = self.source(nanos);
        let geometry = source.geometry;
        let buckets = source.covering(nanos).min(geometry.buckets() - 1);
        self.span(source, self.newest_of(source).checked_sub(geometry.length()), buckets)
    }

    /// Returns the span of the buckets that cover `nanos`, or of all, whose newest contains `at`.
    pub(crate) fn ending_at(&self, nanos: u64, at: u64) -> Result<Span<'g>, OutOfRangeError> {
        let source = self.source(nanos);
        let (geometry, now) = (source.geometry, self.now());
        let (newest, live) = (geometry.start_of(at), geometry.start_of(self.live()));
        let buckets = source.covering(nanos);
        let from = geometry.back(newest, buckets - 1); // a span is not empty
        let admitted = geometry.admit(at, now, live).and_then(|()| geometry.admit(from, now, live));
        let at = Timestamp::from_nanos(at);
        match admitted {
            Ok(()) => Ok(self.span(source, Some(newest), buckets)),
            Err(OutOfRing::Future | OutOfRing::Ahead { .. }) => {
                Err(OutOfRangeError::AfterNow { at, now: Timestamp::from_nanos(now) })
            }
            Err(OutOfRing::Expired { oldest }) => Err(OutOfRangeError::SpanBeforeRing {
                at,
                from: Timestamp::from_nanos(from),
                oldest: Timestamp::from_nanos(oldest),
            }),
        }
    }

    /// Returns the ring's own buckets.
    fn own(&self) -> Source<'g> {
        Source { tier: None, geometry: self.geometry() }
    }

    /// Returns the finest buckets that reach back `nanos`; the ring's own if none do.
    pub(super) fn source(&self, nanos: u64) -> Source<'g> {
        let own = self.own();
        if own.geometry.interval() >= nanos {
            return own;
        }
        let mut tiers = self.generation().tiers.iter();
        let tier = tiers.find(|tier| tier.geometry().interval() >= nanos);
        tier.map_or(own, |tier| Source { tier: Some(tier), geometry: tier.geometry() })
    }

    /// Returns the start of the source's bucket that the time lies in.
    pub(super) fn newest_of(&self, source: Source<'_>) -> u64 {
        match source.tier {
            None => self.newest(),
            Some(_) => source.geometry.start_of(self.newest()),
        }
    }

    /// Returns the span of `buckets` buckets up to the one at `newest`. In a tier these may be
    /// more, or fewer, and end with a newer bucket, if the prefixes of its boundaries are not
    /// known.
    pub(super) fn span(&self, source: Source<'g>, newest: Option<u64>, buckets: usize) -> Span<'g> {
        let Source { tier, geometry } = source;
        let length = geometry.length();
        let oldest = |newest| Some((geometry.back(newest, buckets.checked_sub(1)?), newest));
        let span = Span { starts: newest.and_then(oldest), buckets, length, tier: None };
        let (Some(tier), Some((oldest, newest))) = (tier, span.starts) else { return span };
        // If the clock has stepped back, some buckets have left the tier.
        let still_there = geometry.oldest(newest.max(geometry.start_of(self.live())));
        let from = oldest.max(still_there);
        let Some(resolved) = Resolved::of(self, tier, (from, still_there), newest) else {
            return Span { starts: None, buckets: 0, ..span };
        };
        let (known, last) = resolved.starts;
        let buckets = if (known, last) == (oldest, newest) {
            buckets // mostly, for which no division is needed
        } else {
            buckets_between(geometry, (known, last), (oldest, newest), buckets)
        };
        Span { starts: Some((known, last)), buckets, length, tier: Some(resolved) }
    }

    /// Returns the part of the interval at the view's time that a span is, if it can be summed at
    /// once.
    pub(super) fn part(&self, span: Span<'_>) -> Option<Part> {
        let (_, end) = span.starts.filter(|_| span.tier.is_none())?;
        let (all, newest) = (self.geometry().buckets(), self.newest());
        if span.buckets == all && end == newest {
            Some(Part::Whole)
        } else if span.buckets + 1 == all && newest.checked_sub(span.length) == Some(end) {
            Some(Part::Complete)
        } else {
            None
        }
    }

    /// Returns the span as one of a tier, if it is.
    pub(super) fn in_tier<'v>(&'v self, span: Span<'g>) -> Option<TierSpan<'v, 'g>> {
        Some(span.tier?.read(self))
    }
}

/// Returns the number of a tier's buckets from `known` to `last`, where `buckets` were asked for,
/// from `oldest` to `newest`: with those that would begin before time zero, but no more than the
/// tier has.
#[cold]
fn buckets_between(
    geometry: Geometry,
    (known, last): (u64, u64),
    (oldest, newest): (u64, u64),
    buckets: usize,
) -> usize {
    let steps = |from: u64, to: u64| ((to - from) / geometry.length()) as usize;
    if known > oldest {
        steps(known, last) + 1 // none before time zero
    } else {
        (buckets + steps(known, oldest) + steps(newest, last)).min(geometry.buckets())
    }
}
