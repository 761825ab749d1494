//! A user's program: counters, windows, snapshots and clocks, with the signatures they promise.
//!
//! The function pointers are the point: a change that keeps the other tests compiling (a receiver,
//! a return type, a bound) does not keep these.

#![allow(
    clippy::duration_suboptimal_units,
    reason = "a test says its times in the units that it compares them in"
)]
#![allow(clippy::type_complexity, reason = "the types are the point")]

mod clocks;

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{AddAssign, Sub, SubAssign};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime};

use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow::export::AnyWindow;
use windrow::kind::{Count, Histogram, Signed, Value};
use windrow::{
    BuildError, Clock, Counter, Event, Events, Gauge, Kind, Maximum, Minimum, SlidingWindow, Stats,
    Timestamp, Typed, WindowBuilder,
    snapshot::{BucketSnapshot, MergeError, Moment, OutOfRangeError, Over, Snapshot, Totals},
};

static HITS: Counter = Counter::new();
static OPEN: Gauge = Gauge::new();
static SLOWEST: Maximum = Maximum::new();
static FASTEST: Minimum = Minimum::new();

mod endpoint {
    //! Events of another module, visible from outside it.

    windrow::events! {
        /// The events of one endpoint.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Http {
            /// Let through.
            Pass: Count,
            Block: Count,
            Exception: Count,
            #[allow(dead_code, reason = "attributes are kept")]
            Success: Count,
            /// Response time.
            Rt: Value,
        }
    }
}

use endpoint::Http;

windrow::events! { enum One { Only: Value } }

type Window<C> = SlidingWindow<Http, C>;
type W<E, C> = SlidingWindow<E, C>;

fn shared<T: Send + Sync + 'static>() {}
fn events<E: Events>() {}
fn ordered<T: Ord + Copy>() {}
fn event<T: Copy + Ord + Hash + Debug + Send + Sync + 'static>() {}
fn error<E: Error + Send + Sync + 'static>() {}

#[test]
fn everything_can_be_shared() {
    shared::<(Counter, Gauge, Maximum, Minimum, Stats)>();
    shared::<(SlidingWindow<Http>, Window<Manual>, Window<Precise>, Window<Ticker>)>();
    shared::<(Snapshot<Http>, BucketSnapshot<Http>, Totals<Http>, Over<'static, Http>)>();
    shared::<Moment<Http>>();
    events::<Http>();
    event::<Event<One>>();
    event::<Event<One, Value>>();
    error::<BuildError>();
    error::<OutOfRangeError>();
    error::<MergeError>();
}

/// A panic that is caught leaves all of them whole.
#[test]
fn everything_may_be_used_after_a_caught_panic() {
    fn whole<T: UnwindSafe + RefUnwindSafe>() {}

    whole::<Counter>();
    whole::<Gauge>();
    whole::<Maximum>();
    whole::<Minimum>();
    whole::<SlidingWindow<Http>>();
    whole::<Window<Manual>>();
    whole::<Window<Precise>>();
    whole::<Window<Ticker>>();
    whole::<Window<(fn() -> Timestamp, Duration)>>();
    whole::<WindowBuilder<Http, Ticker>>();
    whole::<Snapshot<Http>>();
    whole::<BucketSnapshot<Http>>();
}

#[test]
fn counters_have_their_signatures() {
    let _: fn() -> Counter = Counter::new;
    let _: fn(&Counter, u64) = Counter::add;
    let _: fn(&Counter) = Counter::increment;
    let _: fn(&Counter) -> u64 = Counter::sum;
    let _: fn(&Counter) -> u64 = Counter::take;
    let _: fn(&Counter, u64, Ordering) = Counter::fetch_add;
    let _: fn(&Counter, Ordering) -> u64 = Counter::load;

    let _: fn() -> Gauge = Gauge::new;
    let _: fn(&Gauge, i64) = Gauge::add;
    let _: fn(&Gauge) = Gauge::increment;
    let _: fn(&Gauge) = Gauge::decrement;
    let _: fn(&Gauge) -> i64 = Gauge::sum;
    let _: fn(&Gauge, i64, Ordering) = Gauge::fetch_add;
    let _: fn(&Gauge, i64, Ordering) = Gauge::fetch_sub;
    let _: fn(&Gauge, Ordering) -> i64 = Gauge::load;

    let _: fn() -> Maximum = Maximum::new;
    let _: fn(&Maximum, u64) = Maximum::record;
    let _: fn(&Maximum) -> Option<u64> = Maximum::get;
    let _: fn(&Maximum) -> Option<u64> = Maximum::take;
    let _: fn() -> Minimum = Minimum::new;
    let _: fn(&Minimum, u64) = Minimum::record;
    let _: fn(&Minimum) -> Option<u64> = Minimum::get;
    let _: fn(&Minimum) -> Option<u64> = Minimum::take;

    let _: fn(u64) -> Counter = Counter::from;
    let _: fn(i64) -> Gauge = Gauge::from;
}

#[test]
fn windows_have_their_signatures() {
    fn of<E: Events, C: Clock + Send + Sync + 'static>() {
        let _: fn(&W<E, C>, Event<E, Count>, u64) = W::add;
        let _: fn(&W<E, C>, Event<E, Signed>, i64) = W::add;
        let _: fn(&W<E, C>, Event<E, Value>, u64) = W::record;
        let _: fn(&W<E, C>, Event<E, Histogram>, Duration) = W::record;
        let _: fn(&W<E, C>, Timestamp, Event<E, Count>, u64) -> Result<(), OutOfRangeError> =
            W::add_at;
        let _: fn(&W<E, C>, Timestamp, Event<E, Signed>, i64) -> Result<(), OutOfRangeError> =
            W::add_at;
        let _: fn(&W<E, C>, Timestamp, Event<E, Value>, u64) -> Result<(), OutOfRangeError> =
            W::record_at;
        let _: fn(&W<E, C>, Event<E, Count>) -> u64 = W::sum;
        let _: fn(&W<E, C>, Event<E, Signed>) -> i64 = W::sum;
        let _: fn(&W<E, C>, Event<E, Count>) -> f64 = W::rate;
        let _: fn(&W<E, C>, Event<E>) -> Stats = W::stats;
        let _: fn(&W<E, C>) -> Totals<E> = W::totals;
        let _: for<'a> fn(&'a W<E, C>, Duration) -> Result<Over<'a, E, C>, OutOfRangeError> =
            W::over;
        let _: fn(&W<E, C>) -> Snapshot<E> = W::snapshot;
        let _: fn(&W<E, C>) -> BucketSnapshot<E> = W::previous;
        let _: fn(&W<E, C>, Event<E>) -> Stats = W::lifetime;
        let _: fn(&W<E, C>, Event<E>) -> Stats = W::late;
        let _: fn(&W<E, C>, Duration, usize) -> Result<(), BuildError> = W::reconfigure;
        let _: fn(&W<E, C>) -> Duration = W::interval;
        let _: fn(&W<E, C>) -> usize = W::buckets;
        let _: fn(&W<E, C>) -> Duration = AnyWindow::bucket_length;
        let _: for<'a> fn(&'a W<E, C>) -> &'a C = W::clock;
        let _: fn(&W<E, C>, Timestamp) -> SystemTime = AnyWindow::system_time;
        let _: fn(WindowBuilder<E, C>) -> WindowBuilder<E, C> = WindowBuilder::allow_coarse_clock;

        let _: fn(Event<E>) -> &'static str = Event::name;
        let _: fn(Event<E, Count>) -> Kind = Event::kind;
        let _: fn(usize) -> Event<E> = Event::at;
        let _: fn(Event<E, Value>) -> Event<E> = Event::from;
        let _: fn(Event<E>) -> Typed<E> = Event::typed;

        let _: fn(&W<E, C>) -> Moment<E> = W::moment;
        let _: fn(&Moment<E>, &Moment<E>) -> Option<Totals<E>> = Moment::since;

        let _: fn(&Totals<E>) -> Timestamp = Totals::at;
        let _: fn(&Totals<E>) -> Duration = Totals::interval;
        let _: fn(&Totals<E>, Event<E, Count>) -> u64 = Totals::sum;
        let _: fn(&Totals<E>, Event<E>) -> Stats = Totals::stats;
        let _: fn(&Totals<E>, Event<E, Count>) -> f64 = Totals::rate;

        let _: fn(&Over<'static, E, C>, Event<E, Count>) -> u64 = Over::sum;
        let _: fn(&Over<'static, E, C>, Event<E>) -> Stats = Over::stats;
        let _: fn(&Over<'static, E, C>, Event<E, Count>) -> f64 = Over::rate;
        let _: fn(&Over<'static, E, C>) -> Totals<E> = Over::totals;
        let _: fn(&Over<'static, E, C>, Timestamp) -> Result<Totals<E>, OutOfRangeError> =
            Over::totals_at;
        let _: fn(&Over<'static, E, C>) -> Totals<E> = Over::complete;
        let _: fn(&Over<'static, E, C>, Event<E, Count>) -> f64 = Over::weighted_rate;

        let _: for<'a> fn(&'a Snapshot<E>) -> &'a [BucketSnapshot<E>] = Snapshot::buckets;
        let _: fn(&Snapshot<E>) -> Totals<E> = Snapshot::totals;
        let _: fn(&mut Snapshot<E>, &Snapshot<E>) -> Result<(), MergeError> = Snapshot::merge;
        let _: fn(&BucketSnapshot<E>) -> Timestamp = BucketSnapshot::start;
        let _: fn(&BucketSnapshot<E>) -> Timestamp = BucketSnapshot::end;
        let _: fn(&BucketSnapshot<E>, Event<E, Count>) -> u64 = BucketSnapshot::sum;
        let _: fn(&BucketSnapshot<E>, Event<E>) -> Stats = BucketSnapshot::stats;
        let _: fn(&BucketSnapshot<E>) -> bool = BucketSnapshot::is_closed;
    }
    of::<Http, Coarse>();
    of::<One, Manual>();
    let _: fn(&Stats) -> Option<f64> = Stats::mean;
    let Stats { count, sum, min, max } = Stats { count: 1, sum: 2, min: Some(3), max: None };
    let _: (u64, u64, Option<u64>, Option<u64>) = (count, sum, min, max);
}

#[test]
fn clocks_and_timestamps_have_their_signatures() {
    let _: fn() -> Coarse = Coarse::default;
    let _: fn() -> Precise = Precise::default;
    let _: fn(Duration) -> Ticker = Ticker::start;
    let _: fn() -> Manual = Manual::default;
    let _: fn(&Manual, Timestamp) = Manual::set;
    let _: fn(&Manual, Duration) = Manual::advance;
    let _: fn(&Manual) -> Manual = Manual::clone;
    let _: fn(&Coarse) -> Timestamp = Coarse::now;
    let _: fn(&Precise) -> Duration = Precise::resolution;

    let _: fn(u64) -> Timestamp = Timestamp::from_nanos;
    let _: fn(u64) -> Timestamp = Timestamp::from_millis;
    let _: fn(u64) -> Timestamp = Timestamp::from_secs;
    let _: fn(Timestamp) -> u64 = Timestamp::as_nanos;
    let _: fn(Timestamp, Timestamp) -> Duration = Timestamp::sub;
    let _: fn(&mut Timestamp, Duration) = Timestamp::add_assign;
    let _: fn(&mut Timestamp, Duration) = Timestamp::sub_assign;
    let (early, day) = (Timestamp::from_nanos(5), Duration::from_secs(86_400));
    assert_eq!(early - day, Timestamp::from_nanos(0), "saturates");
    assert_eq!(Timestamp::from_nanos(u64::MAX) + day, Timestamp::from_nanos(u64::MAX));
    assert_eq!(early + Duration::MAX, Timestamp::from_nanos(u64::MAX));
    assert_eq!(Timestamp::from_millis(2) - Duration::from_millis(1), Timestamp::from_millis(1));
    assert!(early < early + Duration::from_nanos(1));

    let manual = Manual::default();
    assert_eq!((manual.now(), manual.resolution()), (Timestamp::from_nanos(0), Duration::ZERO));
    manual.clone().set(early);
    manual.clone().advance(Duration::from_nanos(2));
    assert_eq!(manual.now().as_nanos(), 7, "clones share one time");
    let ticker = Ticker::start(Duration::from_millis(3));
    assert_eq!(ticker.resolution(), Duration::from_millis(3));
}

#[test]
fn counters_live_in_statics() {
    // `AtomicU64` by another name, but for the value that a striped counter does not have.
    let () = HITS.fetch_add(1, Ordering::Relaxed);
    let threads = [1_u32, 2, 3].map(|n| {
        thread::spawn(move || {
            HITS.add(u64::from(n));
            OPEN.increment();
            OPEN.add(i64::from(n));
            SLOWEST.record(u64::from(n));
            FASTEST.record(u64::from(n));
        })
    });
    for thread in threads {
        thread.join().expect("adds never panic");
    }
    HITS.increment();
    let () = OPEN.fetch_add(10, Ordering::AcqRel);
    let () = OPEN.fetch_sub(30, Ordering::SeqCst);
    OPEN.decrement();
    assert_eq!((HITS.sum(), HITS.load(Ordering::Acquire)), (8, 8));
    assert_eq!((OPEN.sum(), OPEN.load(Ordering::SeqCst)), (-12, -12));
    assert_eq!((SLOWEST.get(), FASTEST.get()), (Some(3), Some(1)));
    assert_eq!((HITS.take(), HITS.sum()), (8, 0));
    HITS.add(2);
    _ = HITS.take();
    assert_eq!(HITS.sum(), 0);

    for order in [Ordering::Relaxed, Ordering::Release, Ordering::Acquire, Ordering::AcqRel] {
        HITS.fetch_add(1, order);
        let _ = (HITS.load(order), OPEN.load(order));
    }
    assert_eq!(HITS.load(Ordering::Relaxed), 4);
}

#[test]
fn events_are_plain_values() {
    let all = [Event::<Http>::from(Http::Rt), Http::Pass.into()];
    let set: std::collections::BTreeSet<Event<Http>> = all.into();
    assert_eq!(set.first(), Some(&Event::<Http>::from(Http::Pass)));
    ordered::<Http>(); // attributes are kept
    let copy = Http::Rt;
    assert_eq!((copy, format!("{copy:?}")), (Http::Rt, "Rt".to_string()));
    assert_eq!((Http::Pass.index(), Http::Rt.index(), One::Only.index()), (0, 4, 0));
}

#[test]
fn errors_travel_as_boxes() {
    fn fails(buckets: usize, span: Duration, at: Timestamp) -> Result<(), Box<dyn Error>> {
        let clock = Manual::default();
        clock.set(Timestamp::from_millis(5_000));
        let window = SlidingWindow::<Http>::builder()
            .interval(Duration::from_secs(1))
            .buckets(buckets)
            .clock(clock)
            .build()?;
        let _ = window.over(span)?;
        window.add_at(at, Http::Pass, 1)?;
        Ok(())
    }
    let (second, now) = (Duration::from_secs(1), Timestamp::from_millis(5_000));
    assert!(fails(2, second, now).is_ok());
    assert!(fails(0, second, now).unwrap_err().is::<BuildError>());
    assert!(fails(2, second * 2, now).unwrap_err().is::<OutOfRangeError>());
    assert!(fails(2, second, now + second).unwrap_err().is::<OutOfRangeError>());
    assert!(fails(2, second, now - second * 2).unwrap_err().is::<OutOfRangeError>());
}
