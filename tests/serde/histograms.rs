//! Histogram events by serde: their shape, that they come back from every read of a window, and the
//! inputs that are refused.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::{Finish, Rng, clock_at, ms, window};
use windrow::clock::Manual;
use windrow::{
    Clock, Events, SlidingWindow, Typed,
    histogram::Scale,
    snapshot::{BucketSnapshot, Snapshot},
};

use crate::returns;

const SCALE: Scale = Scale::fixed::<0, 1, 16>();

windrow::events! { enum Timing { Pass: Count, Took: Histogram(SCALE), Size: Histogram, Rt: Value } }

type Window = SlidingWindow<Timing, Manual>;

const SHAPE: &str = concat!(
    r#"{"start":1000000000,"end":1500000000,"is_closed":false,"events":{"Pass":{"Count":0},"#,
    r#""Took":{"Histogram":{"scale":[0,1,16],"sum":103,"extremes":[0,100,true],"#,
    r#""cells":[[0,1],[4,1],[18446744073709551615,1]]}},"#,
    r#""Size":{"Histogram":{"scale":[3,513,68719476736],"sum":0,"extremes":null,"cells":[]}},"#,
    r#""Rt":{"Value":{"count":0,"sum":0,"min":null,"max":null}}}}"#,
);

#[test]
fn a_histogram_is_a_distribution_under_the_name_of_its_kind() {
    let window: Window = window(ms(500), 2, &clock_at(1_000));
    for value in [0, 3, 100] {
        window.record(Timing::Took, value);
    }
    let snapshot = window.snapshot();
    let bucket = snapshot.buckets().last().expect("the newest");
    assert_eq!(serde_json::to_string(bucket).expect("JSON"), SHAPE);
    assert_eq!(&serde_json::from_str::<BucketSnapshot<Timing>>(SHAPE).expect("JSON"), bucket);
    returns(&snapshot);
}

windrow::events! { enum OtherKind { Pass: Count, Took: Value, Size: Histogram, Rt: Value } }
windrow::events! { enum OtherScale { Pass: Count, Took: Histogram(SCALE), Size: Histogram(SCALE), Rt: Value } }

fn refused<E: Events>(text: &str) -> String {
    serde_json::from_str::<BucketSnapshot<E>>(text).expect_err(text).to_string()
}

#[test]
fn an_error_names_the_event_and_the_rule() {
    let value = r#"{"Value":{"count":0,"sum":0,"min":null,"max":null}}"#;
    for (found, instead, words) in [
        (
            "[0,1,16]",
            "[0,1,32]",
            "of the event `Took` has a scale of Scale { schema: 0, range: 1..=32, .. }; it must be Scale { schema: 0, range: 1..=16",
        ),
        (
            "[3,513,68719476736]",
            "[2,513,68719476736]",
            "of the event `Size` has a scale of Scale { schema: 2",
        ),
        ("[0,1,16]", "[0,1,17]", "the range from 1 to 17 does not begin"),
        ("[4,1]", "[3,1]", "no cell of the scale ends at 3"),
        ("[4,1]", "[4,0]", "ends at 4 has no values"),
        ("[0,1],[4,1]", "[4,1],[0,1]", "ends at 0 does not come after"),
        ("[0,100,true]", "[0,100,false]", "`Took` has extremes that are not exact"),
        ("[0,100,true]", "[0,16,true]", "the extremes 0 and 16"),
        ("[0,100,true]", "null", "there are values, but no extremes"),
        (r#"{"Histogram":{"scale":[3"#, r#"{"Quantile":{"scale":[3"#, "unknown variant `Quantile`"),
        (value, r#"{"Histogram":{}}"#, "`Rt` is a Histogram; it must be a Value"),
    ] {
        let text = SHAPE.replace(found, instead);
        assert_ne!(text, SHAPE, "{found}");
        let error = refused::<Timing>(&text);
        assert!(error.contains(words), "{error}, and not: {words}");
    }
    let error = refused::<OtherKind>(SHAPE);
    assert!(error.contains("`Took` is a Histogram; it must be a Value"), "{error}");
    let error = refused::<OtherScale>(SHAPE);
    assert!(error.contains("of the event `Size` has a scale of Scale { schema: 3"), "{error}");
    // As compact, it says as little; but is as safe.
    let bucket: BucketSnapshot<Timing> = serde_json::from_str(SHAPE).expect("JSON");
    let bytes = postcard::to_stdvec(&bucket).expect("bytes");
    assert!(postcard::from_bytes::<BucketSnapshot<OtherKind>>(&bytes).is_err());
    assert!(postcard::from_bytes::<BucketSnapshot<OtherScale>>(&bytes).is_err());
}

/// Checks that a snapshot that was read is as good as a window's own.
fn is_sound(snapshot: &Snapshot<Timing>) {
    returns(snapshot);
    let read: Snapshot<Timing> =
        serde_json::from_str(&serde_json::to_string(snapshot).expect("JSON")).expect("JSON");
    let mut both = snapshot.clone();
    both.merge(&read).expect("the same times");
    for event in Timing::ALL {
        let (stats, twice) = (snapshot.totals().stats(event), both.totals().stats(event));
        assert_eq!((twice.min, twice.max), (stats.min, stats.max));
        assert_eq!((twice.count, twice.sum), (2 * stats.count, stats.sum.wrapping_mul(2)));
        let Typed::Histogram(event) = event.typed() else { continue };
        let mut distribution = snapshot.totals().distribution(event);
        distribution.merge(&read.totals().distribution(event)).expect("one scale");
        assert_eq!(both.totals().distribution(event), distribution);
    }
}

#[test]
fn all_that_a_window_gives_comes_back() {
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let clock = clock_at(random.u64(..1_000));
        let window: Window = window(ms(50), random.u32(1..8), &clock);
        for _ in 0..random.usize(..60) {
            match random.u8(..10) {
                0..6 => {
                    let value = random.u64(..) >> random.u32(..64);
                    window.record(Timing::Took, value);
                    window.record(Timing::Size, value);
                    window.record(Timing::Rt, value);
                }
                6..8 => clock.advance(ms(random.u64(..200))),
                8 => clock.set(window.clock().now() - ms(random.u64(..100))),
                _ => {
                    let buckets = random.u32(1..8);
                    window.reconfigure(ms(60) * buckets, buckets as usize).expect("a geometry");
                }
            }
        }
        is_sound(&window.snapshot());
        returns(&window.previous());
        window.drain_closed(|bucket| returns(&bucket));
    }
}

/// This also holds for reads while values are recorded: in a live bucket the extremes may be ahead
/// of the count.
#[test]
fn what_is_read_of_a_live_bucket_comes_back() {
    let window = SlidingWindow::<Timing>::builder().build().expect("a geometry");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&is_over);
        scope.spawn(|| {
            let mut random = Rng::with_seed(1);
            while !is_over.load(Ordering::Acquire) {
                window.record(Timing::Took, random.u64(..) >> random.u32(..64));
            }
        });
        for _ in 0..200 {
            is_sound(&window.snapshot());
        }
        drop(finish);
    });
}
