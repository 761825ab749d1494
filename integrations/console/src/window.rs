//! What the console reads of a window.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windrow::{
    BucketSnapshot, Clock, Distribution, Event, Events, Kind, SlidingWindow, Snapshot, Stats,
    Typed, kind,
};

use crate::ledger::{Audit, Ledger};
use crate::number::Number;
use crate::panels::panels;
use crate::percentiles;
use crate::series::{History, Series, cores};

/// How far back a row's small plot goes.
const MINUTE: Duration = Duration::from_secs(60);

/// How many points it has at most.
const POINTS: usize = 60;

impl<E: Events, C: Clock + Send + Sync + 'static> Series for SlidingWindow<E, C> {
    /// In the closed buckets of the interval, but for lifetimes. By event:
    ///
    /// | kind | |
    /// |---|---|
    /// | `Count`, `Signed` | lifetime, count |
    /// | `Value` | lifetime, count, sum, least, greatest |
    /// | `Histogram` | the same, and the percentiles |
    /// | `Maximum` | greatest |
    /// | `Minimum` | least |
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        // No span, if the geometry has just changed to a shorter interval: the next frame has it.
        let closed = self.over(self.interval()).ok().map(|window| window.complete());
        for event in Event::<E>::all() {
            let lifetime = || self.lifetime(event);
            let stats =
                || closed.as_ref().map_or_else(Stats::default, |closed| closed.stats(event));
            match event.typed() {
                Typed::Count(_) => {
                    into.extend([lifetime().count, stats().count].map(Number::Unsigned));
                }
                Typed::Signed(_) => {
                    into.extend([lifetime(), stats()].map(|of| Number::Signed(of.signed_sum())));
                }
                Typed::Value(_) => {
                    let Stats { count, sum, min, max } = stats();
                    into.extend([lifetime().count, count, sum].map(Number::Unsigned));
                    into.extend([min, max].map(Number::from));
                }
                Typed::Histogram(event) => {
                    let values = closed.as_ref().map(|closed| closed.distribution(event));
                    percentiles::numbers(lifetime().count, &values.unwrap_or_default(), into);
                }
                Typed::Maximum(_) => into.push(stats().max.into()),
                Typed::Minimum(_) => into.push(stats().min.into()),
                _ => {} // not known here
            }
        }
        closed.map_or(0, |closed| nanos(known_span(self, closed.interval())))
    }

    fn history(&self) -> Option<History> {
        let event = first_counted()?;
        let snapshot = reaching(self, MINUTE);
        let (newest, closed) = snapshot.buckets().split_last()?;
        let length = snapshot_length(&snapshot);
        let wanted = usize::try_from(MINUTE.as_nanos() / length.as_nanos().max(1));
        let from = closed.len().saturating_sub(wanted.unwrap_or(usize::MAX).max(1));
        let each = closed[from..].len().div_ceil(POINTS).max(1);
        // From the newest on, so that the oldest slice alone may be left out.
        let slices = closed[from..].rchunks_exact(each);
        let count = |slice: &[BucketSnapshot<E>]| {
            slice.iter().fold(0_u64, |all, bucket| all.wrapping_add(bucket.stats(event).count))
        };
        let is_known = |slice: &&[BucketSnapshot<E>]| slice[0].start() >= self.built();
        let mut counts: Vec<(bool, u64)> =
            slices.map(|slice| (is_known(&slice), count(slice))).collect();
        counts.reverse();
        let counts = known(counts, |(is_known, count)| *is_known || *count > 0);
        let counts = counts.into_iter().map(|(_, count)| count).collect();
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let age = millis(snapshot.at() - newest.start());
        Some(History { age, step: millis(length * u32::try_from(each).unwrap_or(1)), counts })
    }

    fn audit(&self, ledger: &mut Ledger) -> Audit {
        ledger.window(self)
    }

    fn all(&self) -> Value {
        let totals = self.totals();
        let closed = self.over(self.interval()).ok().map(|window| window.complete());
        let mut events = Map::new();
        for event in Event::<E>::all() {
            let mut shown = numbers_of(event, |it| totals.stats(it), |it| totals.distribution(it));
            if let Some(closed) = &closed {
                shown["closed"] =
                    numbers_of(event, |it| closed.stats(it), |it| closed.distribution(it));
                if !matches!(event.kind(), Kind::Maximum | Kind::Minimum) {
                    let known = known_span(self, closed.interval());
                    shown["closed"]["per_second"] =
                        per_second(event.kind(), &closed.stats(event), known).into();
                }
            }
            shown["lifetime"] =
                numbers_of(event, |it| self.lifetime(it), |it| self.lifetime_distribution(it));
            shown["late"] = stats(event.kind(), &self.late(event));
            events.insert(event.name().to_owned(), shown);
        }
        json!({
            "interval_ns": nanos(self.interval()),
            "buckets": self.buckets(),
            "closed_ns": closed.map_or(0, |closed| nanos(known_span(self, closed.interval()))),
            "events": events,
        })
    }

    fn detail(&self) -> Value {
        let mut all = self.all();
        let walk = self.snapshot();
        for event in Event::<E>::all() {
            let shown = &mut all["events"][event.name()];
            shown["walk"] = stats(event.kind(), &walk.stats(event));
            if let Some(event) = event.downcast::<kind::Histogram>() {
                shown["cells"] = percentiles::cells(&self.distribution(event));
            }
        }
        all["panels"] = panels(self);
        if let Some(event) = first_counted() {
            all["cores"] = cores(Some(event.name()), &self.by_row(event));
        }
        all
    }
}

/// The first event with a count that only grows.
fn first_counted<E: Events>() -> Option<Event<E>> {
    Event::all().find(|event| only_grows(event.kind()))
}

/// Whether an event of this kind has a count that never goes back.
pub(crate) fn only_grows(kind: Kind) -> bool {
    matches!(kind, Kind::Count | Kind::Value | Kind::Histogram(_))
}

/// What there is of an event: of its stats or, where there are percentiles, of its distribution.
fn numbers_of<E: Events>(
    event: Event<E>,
    stats: impl FnOnce(Event<E>) -> Stats,
    distribution: impl FnOnce(Event<E, kind::Histogram>) -> Distribution,
) -> Value {
    match event.downcast::<kind::Histogram>() {
        Some(event) => percentiles::summary(&distribution(event)),
        None => self::stats(event.kind(), &stats(event)),
    }
}

/// What was counted of an event of this kind, per second of a span: of values, how many there were;
/// of a `Signed` event, with its sign. `None` if there is no span.
fn per_second(kind: Kind, stats: &Stats, span: Duration) -> Option<f64> {
    let count = if kind == Kind::Signed { stats.signed_sum() as f64 } else { stats.count as f64 };
    (!span.is_zero()).then(|| count / span.as_secs_f64())
}

/// What there is of an event of this kind.
fn stats(kind: Kind, stats: &Stats) -> Value {
    let Stats { count, sum, min, max } = *stats;
    match kind {
        Kind::Count => json!({ "count": count }),
        Kind::Signed => json!({ "sum": stats.signed_sum() }),
        Kind::Value | Kind::Histogram(_) => {
            json!({ "count": count, "sum": sum, "min": min, "max": max, "mean": stats.mean() })
        }
        Kind::Maximum => json!({ "max": max }),
        Kind::Minimum => json!({ "min": min }),
        _ => json!({}), // not known here
    }
}

/// The finest buckets that reach back so far, or else the farthest.
pub(crate) fn reaching<E: Events, C: Clock>(
    window: &SlidingWindow<E, C>,
    span: Duration,
) -> Snapshot<E> {
    let mut best = window.snapshot();
    for tier in 0.. {
        if best.interval() >= span {
            break;
        }
        match window.series(tier) {
            Some(coarser) if coarser.interval() > best.interval() => best = coarser,
            Some(_) => {}
            None => break,
        }
    }
    best
}

/// How much is known of the closed buckets, which cover a span: what lies after the window was
/// built. Adds that were back-dated to before that make known what lies after them.
fn known_span<E: Events, C: Clock>(window: &SlidingWindow<E, C>, span: Duration) -> Duration {
    let length = nanos(window.interval()) / window.buckets().max(1) as u64;
    let now = window.now();
    let mut since = window.built();
    if now - since < window.interval() {
        let walk = window.snapshot();
        let is_older = |bucket: &&BucketSnapshot<E>| bucket.end() <= since && holds_any(bucket);
        since = walk.buckets().iter().find(is_older).map_or(since, BucketSnapshot::start);
    }
    let closed = now.as_nanos() - now.as_nanos() % length.max(1);
    span.min(Duration::from_nanos(closed.saturating_sub(since.as_nanos())))
}

pub(crate) fn holds_any<E: Events>(bucket: &BucketSnapshot<E>) -> bool {
    Event::all().any(|event| bucket.stats(event) != Stats::default())
}

/// Leaves out what is before the first of these that is known.
pub(crate) fn known<T>(mut all: Vec<T>, is_known: impl Fn(&T) -> bool) -> Vec<T> {
    let first = all.iter().position(is_known).unwrap_or(all.len());
    all.drain(..first);
    all
}

/// The length of its buckets.
pub(crate) fn snapshot_length<E: Events>(snapshot: &Snapshot<E>) -> Duration {
    let newest = snapshot.buckets().last();
    newest.map_or(snapshot.interval(), |bucket| bucket.end() - bucket.start())
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
