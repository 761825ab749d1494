//! Random histories: geometries, times and operations.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

/// A valid geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) length: u64,
    pub(crate) buckets: u64,
}

impl Geometry {
    pub(crate) fn interval(self) -> Duration {
        Duration::from_nanos(self.length * self.buckets)
    }
}

/// A time, told from the clock's time, the newest bucket or the ends of time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    /// So many buckets after the clock's bucket, and so far into that one.
    Buckets(i64, u64),
    /// So many buckets after the newest bucket, and so far into that one.
    FromNewest(i64, u64),
    /// So many intervals after the clock's time, and so many nanoseconds.
    Intervals(i64, i64),
    /// This soon after zero.
    Early(u64),
    /// This long before the end of time.
    Final(u64),
    /// Anywhere at all.
    Any(u64),
}

impl Time {
    pub(crate) fn resolve(self, now: u64, newest: u64, length: u64, interval: u64) -> u64 {
        let place = |from: u64, buckets: i64, offset: u64| {
            let start = i128::from(from - from % length);
            clamp(start + i128::from(buckets) * i128::from(length) + i128::from(offset % length))
        };
        match self {
            Time::Buckets(buckets, offset) => place(now, buckets, offset),
            Time::FromNewest(buckets, offset) => place(newest, buckets, offset),
            Time::Intervals(intervals, offset) => clamp(
                i128::from(now) + i128::from(intervals) * i128::from(interval) + i128::from(offset),
            ),
            Time::Final(nanos) => u64::MAX - nanos,
            Time::Early(nanos) | Time::Any(nanos) => nanos,
        }
    }
}

fn clamp(time: i128) -> u64 {
    u64::try_from(time.max(0)).unwrap_or(u64::MAX)
}

/// One step of a history. Events are told by their index.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Add(usize, u64),
    Record(usize, u64),
    AddAt(Time, usize, u64),
    RecordAt(Time, usize, u64),
    Set(Time),
    Advance(Duration),
    Reconfigure(Geometry),
    /// A geometry that need not be valid.
    TryReconfigure(Duration, usize),
    /// A span that need not be valid.
    Last(Duration),
    /// A span of nearly, exactly or just over so many buckets.
    LastBuckets(u64, i64),
}

/// Geometries of every kind, the extremes among them.
pub(crate) fn any_geometry() -> impl Strategy<Value = Geometry> {
    let geometry = |(length, buckets)| Geometry { length, buckets };
    let huge = |(buckets, less)| Geometry { length: u64::MAX / buckets - less, buckets };
    prop_oneof![
        4 => (1..=6_u64, 1..=8_u64).prop_map(geometry),
        2 => (1..=1_000_u64, 1..=20_u64).prop_map(geometry),
        1 => (Just(1), 1..=40_u64).prop_map(geometry),
        2 => (prop_oneof![Just(1_000_000), Just(20_000_000), Just(100_000_000)], 1..=12_u64)
            .prop_map(geometry),
        1 => (1..=6_u64, 0..=3_u64).prop_map(huge),
    ]
}

/// Short intervals whose lengths seldom divide one another.
pub(crate) fn small_geometry() -> impl Strategy<Value = Geometry> {
    (1..=12_u64, 1..=9_u64).prop_map(|(length, buckets)| Geometry { length, buckets })
}

/// Times that mostly stay near the ring.
pub(crate) fn time() -> impl Strategy<Value = Time> {
    prop_oneof![
        8 => (-3..=4_i64, any::<u64>()).prop_map(|(k, by)| Time::Buckets(k, by)),
        4 => (-10..=3_i64, any::<u64>()).prop_map(|(k, by)| Time::FromNewest(k, by)),
        3 => (-2..=2_i64, -2..=2_i64).prop_map(|(k, by)| Time::Intervals(k, by)),
        1 => (0..=40_u64).prop_map(Time::Early),
        1 => (0..=40_u64).prop_map(Time::Final),
        1 => any::<u64>().prop_map(Time::Any),
    ]
}

/// Times that leave neither the neighbourhood of the ring nor that of zero.
pub(crate) fn near_time() -> impl Strategy<Value = Time> {
    prop_oneof![
        8 => (-3..=4_i64, any::<u64>()).prop_map(|(k, by)| Time::Buckets(k, by)),
        4 => (-10..=3_i64, any::<u64>()).prop_map(|(k, by)| Time::FromNewest(k, by)),
        1 => (0..=40_u64).prop_map(Time::Early),
    ]
}

fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0..=9_u64,
        1 => any::<u64>(),
        1 => (0..=2_u64).prop_map(|less| u64::MAX - less),
    ]
}

fn loose_duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0..=40_u64).prop_map(Duration::from_nanos),
        any::<u64>().prop_map(Duration::from_nanos),
        Just(Duration::from_nanos(u64::MAX) + Duration::from_nanos(1)),
        Just(Duration::MAX),
    ]
}

/// A step over `events` events, with times and geometries of the given kinds.
fn op(
    events: usize,
    time: impl Strategy<Value = Time> + Clone + 'static,
    geometry: impl Strategy<Value = Geometry> + 'static,
) -> impl Strategy<Value = Op> {
    let event = 0..events;
    let moment = time.clone();
    prop_oneof![
        6 => (event.clone(), amount()).prop_map(|(e, n)| Op::Add(e, n)),
        4 => (event.clone(), amount()).prop_map(|(e, v)| Op::Record(e, v)),
        4 => (time.clone(), event.clone(), amount()).prop_map(|(t, e, n)| Op::AddAt(t, e, n)),
        3 => (time, event, amount()).prop_map(|(t, e, v)| Op::RecordAt(t, e, v)),
        7 => moment.prop_map(Op::Set),
        1 => loose_duration().prop_map(Op::Advance),
        2 => geometry.prop_map(Op::Reconfigure),
        1 => (loose_duration(), prop_oneof![Just(0), 1..=9_usize])
            .prop_map(|(interval, buckets)| Op::TryReconfigure(interval, buckets)),
        1 => loose_duration().prop_map(Op::Last),
        1 => (0..=9_u64, -1..=1_i64).prop_map(|(k, by)| Op::LastBuckets(k, by)),
    ]
}

/// Where a history begins: a geometry and the clock's time at build.
pub(crate) type History = (Geometry, u64, Vec<Op>);

/// Histories with every kind of geometry and time.
pub(crate) fn wild(events: usize) -> impl Strategy<Value = History> {
    let begin = prop_oneof![
        2 => 0..=100_u64,
        2 => 0..=10_000_000_000_u64,
        1 => any::<u64>(),
        1 => (0..=100_u64).prop_map(|less| u64::MAX - less),
    ];
    (any_geometry(), begin, vec(op(events, time().boxed(), any_geometry()), 1..100))
}

/// Histories that stay small, so that buckets meet, merge and leave all the time.
pub(crate) fn local(events: usize) -> impl Strategy<Value = History> {
    (small_geometry(), 0..=200_u64, vec(op(events, near_time().boxed(), small_geometry()), 1..100))
}
