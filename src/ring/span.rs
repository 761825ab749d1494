//! Spans: which buckets a read covers, and what these hold together.
//!
//! A read says in nanoseconds how much it wants. Its view resolves that once, into buckets of the geometry
//! that the view has found. From there it takes one of three ways to numbers: one number, one event's, or all.
//! Another source of numbers has to be joined in these three, and nowhere else.

use crate::error::OutOfRange;
use crate::event::Stats;
use crate::event::layout::CellIndex;
use crate::ring::geometry::{Geometry, OutOfRing};
use crate::ring::view::View;
use crate::timestamp::Timestamp;

/// The buckets that a read covers, one beside the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Where the oldest and the newest begin. There is none before time zero.
    starts: Option<(u64, u64)>,
    /// How many they are, counting those that would begin before time zero.
    buckets: usize,
    length: u64,
}

impl Span {
    /// The nanoseconds that its buckets cover: those before time zero too.
    pub(crate) fn covers(self) -> u64 {
        self.length * self.buckets as u64
    }

    /// The length of a bucket, in nanoseconds.
    pub(crate) fn length(self) -> u64 {
        self.length
    }

    /// Where the oldest and the newest bucket begin; `None` if there is none.
    pub(crate) fn starts(self) -> Option<(u64, u64)> {
        self.starts
    }
}

/// How many whole buckets cover `nanos`: at most all there are.
fn covering(geometry: Geometry, nanos: u64) -> usize {
    let buckets = nanos.div_ceil(geometry.length());
    buckets.min(geometry.buckets() as u64) as usize
}

/// What is asked for.
impl View<'_> {
    /// All buckets of the interval.
    pub(crate) fn interval(&self) -> Span {
        self.span(Some(self.newest()), self.geometry().buckets())
    }

    /// The newest buckets, as many as cover `nanos`, or all.
    pub(crate) fn recent(&self, nanos: u64) -> Span {
        self.span(Some(self.newest()), covering(self.geometry(), nanos))
    }

    /// As many as cover `nanos` of the buckets before the newest, or all of these.
    pub(crate) fn complete(&self, nanos: u64) -> Span {
        let geometry = self.geometry();
        let buckets = covering(geometry, nanos).min(geometry.buckets() - 1);
        self.span(self.newest().checked_sub(geometry.length()), buckets)
    }

    /// As many buckets as cover `nanos`, or as the interval has, of which the newest is the one that `at` lies
    /// in.
    pub(crate) fn ending_at(&self, nanos: u64, at: u64) -> Result<Span, OutOfRange> {
        let (geometry, now, live) = (self.geometry(), self.now(), self.live());
        let newest = geometry.start_of(at);
        let span = self.span(Some(newest), covering(geometry, nanos));
        let from = span.starts.map_or(newest, |(oldest, _)| oldest);
        let admitted = geometry.admit(at, now, live).and_then(|()| geometry.admit(from, now, live));
        let at = Timestamp::from_nanos(at);
        match admitted {
            Ok(()) => Ok(span),
            Err(OutOfRing::Future) => {
                Err(OutOfRange::AfterNow { at, now: Timestamp::from_nanos(now) })
            }
            Err(OutOfRing::Expired { oldest }) => Err(OutOfRange::SpanBeforeRing {
                at,
                from: Timestamp::from_nanos(from),
                oldest: Timestamp::from_nanos(oldest),
            }),
        }
    }

    /// So many buckets up to the one at `newest`.
    fn span(&self, newest: Option<u64>, buckets: usize) -> Span {
        let geometry = self.geometry();
        let oldest = |newest| Some((geometry.back(newest, buckets.checked_sub(1)?), newest));
        Span { starts: newest.and_then(oldest), buckets, length: geometry.length() }
    }

    /// Whether a span is all that counts at the view's time.
    fn is_whole(&self, span: Span) -> bool {
        span.buckets == self.geometry().buckets()
            && span.starts.is_some_and(|(_, newest)| newest == self.newest())
    }
}

/// What it holds.
impl View<'_> {
    /// What a span holds at a position.
    pub(crate) fn total_in(&self, span: Span, position: usize) -> u64 {
        match span.starts {
            Some(_) if self.is_whole(span) => self.total(position),
            Some((oldest, newest)) => self.total_between(oldest, newest, position),
            None => 0,
        }
    }

    /// What is known of an event in a span.
    pub(crate) fn stats_in(&self, span: Span, cells: CellIndex) -> Stats {
        let stats = cells.stats(|position| self.total_in(span, position));
        // Each number was read from all buckets before the next: of a bucket that has left in between, some
        // would be there and some not.
        if self.is_overtaken() { self.stats_by_bucket(span, cells) } else { stats }
    }

    /// As [`stats_in`](Self::stats_in), each bucket as a whole or not at all.
    #[cold]
    fn stats_by_bucket(&self, span: Span, cells: CellIndex) -> Stats {
        let mut all = Stats::default();
        let Some((oldest, newest)) = span.starts else { return all };
        self.each(oldest, newest, |_, data| {
            let bucket = cells.stats(|position| self.number(data, position));
            if self.is_valid(data) {
                all = all.with(bucket);
            }
        });
        all
    }

    /// What a span holds at every position. `zero` has that many cells, all zero.
    pub(crate) fn cells_in<T: AsMut<[u64]> + Clone>(&self, span: Span, zero: &T) -> T {
        let at_once = self.cells_at_once(span, zero.clone());
        at_once.unwrap_or_else(|| self.cells_by_bucket(span, zero))
    }

    /// Everything that adds up at once, and then, in one walk, what rises. In this order, because a record
    /// raises the extremes first.
    fn cells_at_once<T: AsMut<[u64]>>(&self, span: Span, mut cells: T) -> Option<T> {
        let (oldest, newest) = span.starts.filter(|_| self.is_whole(span))?;
        let (additive, rising) = cells.as_mut().split_at_mut(self.layout().additive());
        for (position, cell) in additive.iter_mut().enumerate() {
            *cell = self.total_at_once(position)?;
        }
        if !rising.is_empty() {
            self.each(oldest, newest, |_, data| {
                for (position, cell) in (additive.len()..).zip(rising.iter_mut()) {
                    self.merge(data, position, cell);
                }
            });
        }
        // As in `stats_in`.
        (!self.is_overtaken()).then_some(cells)
    }

    /// In one walk, each bucket as a whole or not at all.
    fn cells_by_bucket<T: AsMut<[u64]> + Clone>(&self, span: Span, zero: &T) -> T {
        let mut all = zero.clone();
        let Some((oldest, newest)) = span.starts else { return all };
        self.each(oldest, newest, |_, data| {
            let mut with = all.clone();
            for (position, cell) in with.as_mut().iter_mut().enumerate() {
                self.merge(data, position, cell);
            }
            if self.is_valid(data) {
                all = with;
            }
        });
        all
    }

    /// What the sliding interval of `nanos` holds at a position that adds up, and the nanoseconds that it
    /// covers: whole buckets, one less than there are at most. It begins within a bucket, of which it
    /// takes the share that it covers.
    pub(crate) fn weighted(&self, nanos: u64, position: usize) -> (f64, u64) {
        let (geometry, newest) = (self.geometry(), self.newest());
        let buckets = covering(geometry, nanos).min(geometry.buckets() - 1);
        let span = self.span(Some(newest), buckets);
        let mut sum = self.total_in(span, position) as f64;
        let before = span.starts.and_then(|(oldest, _)| oldest.checked_sub(span.length));
        if before.is_some() {
            let share = 1.0 - (self.now() - newest) as f64 / span.length as f64;
            sum += share * self.total_in(self.span(before, 1), position) as f64;
        }
        (sum, span.covers())
    }
}
