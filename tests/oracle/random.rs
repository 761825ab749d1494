//! Random histories.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use testkit::oracle::{Geometry, Op, Plan, Time};

/// A history: the plan, the clock's time at its beginning, and the operations.
pub(crate) type History = (Plan, u64, Vec<Op>);

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

/// Windows of such a geometry, most of them with tiers.
fn plan(ring: impl Strategy<Value = Geometry>) -> impl Strategy<Value = Plan> {
    with_tiers(ring, 1..=6_u64)
}

/// Windows of such a geometry, of which some have tiers with several levels.
fn long_plan(ring: impl Strategy<Value = Geometry>) -> impl Strategy<Value = Plan> {
    with_tiers(ring, prop_oneof![5 => 1..=6_u64, 1 => 7..=600_u64])
}

fn with_tiers(
    ring: impl Strategy<Value = Geometry>,
    buckets: impl Strategy<Value = u64>,
) -> impl Strategy<Value = Plan> {
    let tiers = vec((1..=5_u64, buckets), 0..=3);
    (ring, tiers).prop_map(|(ring, tiers)| Plan::new(ring, &tiers))
}

/// Returns where a tier's bucket begins, or in it.
fn coarse_time() -> impl Strategy<Value = Time> {
    let offset = prop_oneof![Just(0), any::<u64>()];
    let steps = prop_oneof![4 => -4..=4_i64, 1 => -600..=-5_i64];
    (0..=3_usize, steps, offset).prop_map(|(tier, k, by)| Time::Coarse(tier, k, by))
}

/// Times that mostly stay near the ring.
pub(crate) fn time() -> impl Strategy<Value = Time> {
    prop_oneof![
        8 => (-3..=4_i64, any::<u64>()).prop_map(|(k, by)| Time::Buckets(k, by)),
        4 => (-10..=3_i64, any::<u64>()).prop_map(|(k, by)| Time::FromNewest(k, by)),
        3 => coarse_time(),
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
        3 => coarse_time(),
        1 => (0..=40_u64).prop_map(Time::Early),
    ]
}

/// Small mostly, sometimes so large that sums wrap.
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

/// Returns a step over `events` events, with times and geometries of the given kinds.
fn op(
    events: usize,
    time: impl Strategy<Value = Time> + Clone + 'static,
    geometry: impl Strategy<Value = Geometry> + 'static,
    amount: impl Strategy<Value = u64> + Clone + 'static,
) -> impl Strategy<Value = Op> {
    let event = 0..events;
    let (moment, geometry) = (time.clone(), geometry.boxed());
    prop_oneof![
        10 => (event.clone(), amount.clone()).prop_map(|(e, n)| Op::Add(e, n)),
        7 => (time, event, amount).prop_map(|(t, e, n)| Op::AddAt(t, e, n)),
        7 => moment.prop_map(Op::Set),
        1 => loose_duration().prop_map(Op::Advance),
        2 => geometry.clone().prop_map(Op::Reconfigure),
        1 => plan(geometry).prop_map(Op::Renew),
        3 => Just(Op::Drain),
        1 => Just(Op::Clear),
        1 => (loose_duration(), prop_oneof![Just(0), 1..=9_usize])
            .prop_map(|(interval, buckets)| Op::TryReconfigure(interval, buckets)),
        1 => loose_duration().prop_map(Op::Last),
        1 => (0..=9_u64, -1..=1_i64).prop_map(|(k, by)| Op::LastBuckets(k, by)),
        1 => (1..=3_usize, 0..=7_u64, -1..=1_i64)
            .prop_map(|(tier, k, by)| Op::LastCoarse(tier, k, by)),
    ]
}

/// Histories with every kind of geometry and time.
pub(crate) fn wild(events: usize) -> impl Strategy<Value = History> {
    let begin = prop_oneof![
        2 => 0..=100_u64,
        2 => 0..=10_000_000_000_u64,
        1 => any::<u64>(),
        1 => (0..=100_u64).prop_map(|less| u64::MAX - less),
    ];
    let ops = vec(op(events, time().boxed(), any_geometry(), amount().boxed()), 1..100);
    (long_plan(any_geometry()), begin, ops)
}

/// Histories that stay small, so that buckets meet, merge and leave all the time.
pub(crate) fn local(events: usize) -> impl Strategy<Value = History> {
    let ops = vec(op(events, near_time().boxed(), small_geometry(), amount().boxed()), 1..100);
    (long_plan(small_geometry()), 0..=200_u64, ops)
}

/// Returns histories in two parts, with amounts that do not wrap, and far from the end of time.
pub(crate) fn in_two_parts(events: usize) -> impl Strategy<Value = (History, Vec<Op>)> {
    let ops = |count| {
        let ops =
            vec(op(events, near_time().boxed(), small_geometry(), (0..=9_u64).boxed()), count);
        ops.prop_map(|mut ops| {
            ops.retain(|op| !matches!(op, Op::Advance(_)));
            ops
        })
    };
    let begin = (plan(small_geometry()), 0..=200_u64, ops(0..30));
    (begin, ops(1..30))
}
