//! Sets of events: what `events!` makes of attributes and names, and sets that are written by hand.
//! What is refused when it is compiled is in `refused`.

#![forbid(unsafe_code)]
#![allow(clippy::large_stack_arrays, reason = "the largest set of events is in constants alone")]

use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use windrow::clock::Manual;
use windrow::{Counter, Event, Kind, Scale, SlidingWindow, Timestamp, events};

fn window<E: Event>() -> SlidingWindow<E, Manual> {
    SlidingWindow::builder().clock(Manual::default()).build().expect("a valid geometry")
}

/// Implements `Event` for a newtype of its index.
macro_rules! by_hand {
    ($name:ident, [$cells:expr], $events:expr) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        struct $name(usize);

        impl Event for $name {
            const EVENTS: &'static [(&'static str, Kind)] = $events;
            const ALL: &'static [$name] = &{
                let mut all = [$name(0); <$name as Event>::EVENTS.len()];
                let mut index = 0;
                while index < all.len() {
                    all[index] = $name(index);
                    index += 1;
                }
                all
            };
            type Cells = [u64; $cells];
            const ZERO: [u64; $cells] = [0; $cells];

            fn index(self) -> usize {
                self.0
            }
        }
    };
}

by_hand!(Two, [5], &[("Pass", Kind::Count), ("Rt", Kind::Value)]);

#[test]
fn a_set_by_hand_counts_like_one_of_the_macro() {
    let window = window();
    window.add(Two(0), 3);
    window.record(Two(1), 40);
    window.record(Two(1), 2);
    assert_eq!((window.sum(Two(0)), window.rate(Two(0))), (3, 3.0));
    for stats in [window.stats(Two(1)), window.snapshot().stats(Two(1)), window.lifetime(Two(1))] {
        assert_eq!((stats.count, stats.sum), (2, 42));
        assert_eq!((stats.min, stats.max), (Some(2), Some(40)));
    }
    assert!(format!("{window:?}").contains("Pass: Stats { count: 3"));
}

/// An index beyond the events was an address: where its cell would have been, other numbers stood.
#[test]
fn an_index_beyond_the_events_panics_and_changes_no_other_numbers() {
    type Act = fn(&SlidingWindow<Two, Manual>, Two);
    const ALL: [Act; 11] = [
        |window, event| window.add(event, 7),
        |window, event| window.record(event, 7),
        |window, event| drop(window.add_at(Timestamp::from_nanos(0), event, 7)),
        |window, event| _ = window.sum(event),
        |window, event| _ = window.rate(event),
        |window, event| _ = window.stats(event),
        |window, event| _ = window.lifetime(event),
        |window, event| _ = window.late(event),
        |window, event| _ = window.snapshot().stats(event),
        |window, event| _ = window.totals().stats(event),
        |window, event| _ = window.over(window.interval()).map(|over| over.sum(event)),
    ];
    let counters = || -> Vec<Counter> {
        let counter = |_| {
            let counter = Counter::new();
            counter.add(1); // so that it has a column
            counter
        };
        (0..64).map(counter).collect()
    };
    // Columns on both sides of the window's.
    let (before, window, after) = (counters(), window(), counters());
    window.add(Two(0), 1);
    for index in [2, 4, 5, 63, 65_000, usize::MAX] {
        for act in ALL {
            let act = AssertUnwindSafe(|| act(&window, Two(index)));
            assert!(catch_unwind(act).is_err(), "index {index}");
        }
    }
    assert!(before.iter().chain(&after).all(|counter| counter.sum() == 1));
    assert_eq!((window.lifetime(Two(0)).sum, window.lifetime(Two(1)).count), (1, 0));
}

const SCALE: Scale = Scale::fixed::<1, 5, 9>(); // six cells, and two outside of them

/// Between a `Count` and a histogram: another one each time it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Fickle;

static ASKED: AtomicUsize = AtomicUsize::new(0);

impl Event for Fickle {
    const EVENTS: &'static [(&'static str, Kind)] = &[
        ("Pass", Kind::Count),
        ("Rt", Kind::Histogram(SCALE)),
        ("Size", Kind::Histogram(Scale::DEFAULT)),
    ];
    const ALL: &'static [Fickle] = &[Fickle; 3];
    type Cells = [u64; CELLS];
    const ZERO: [u64; CELLS] = [0; CELLS];

    fn index(self) -> usize {
        ASKED.fetch_add(1, Ordering::Relaxed) % 3
    }
}

const CELLS: usize = 1 + Kind::Histogram(SCALE).cells() + Kind::Histogram(Scale::DEFAULT).cells();

#[test]
fn an_index_that_is_another_each_time_changes_no_other_numbers() {
    let counters = || -> Vec<Counter> {
        let counter = |_| {
            let counter = Counter::new();
            counter.add(1);
            counter
        };
        (0..64).map(counter).collect()
    };
    let (before, window, after) = (counters(), window::<Fickle>(), counters());
    for value in [0, 3, 8, 9, 1_000, u64::MAX] {
        for _ in 0..7 {
            window.record(Fickle, value);
            window.record_at(window.now(), Fickle, value).expect("now");
            let moment = window.moment();
            let count = window.distribution(Fickle).count()
                + window.snapshot().distribution(Fickle).count();
            assert!(count < 1_000, "{count}");
            let since = window.since(&moment).map(|since| since.distribution(Fickle).count());
            assert_eq!(since, Some(0));
            assert!(!format!("{window:?}{:?}", window.totals().stats(Fickle)).is_empty());
        }
    }
    assert!(before.iter().chain(&after).all(|counter| counter.sum() == 1));
}

// With the finest scale that there is, what is left of a row of 8192 cells.
by_hand!(Widest, [2 * (2_080 + 2) + 2 + 1_944], &{
    let mut events = [("One of many", Kind::Count); 1_945];
    events[1_000] = ("Rt", Kind::Histogram(Scale::fixed::<5, 1, { u64::MAX }>()));
    events
});

#[test]
fn the_finest_histogram_has_room_for_some_counts_beside_it() {
    let window = window();
    for index in [0, 999, 1_001, 1_944] {
        window.add(Widest(index), index as u64 + 1);
    }
    let values = [0, 1, 2, 3, 1_000_003, u64::MAX - 1, u64::MAX];
    for value in values {
        window.record(Widest(1_000), value);
    }
    for index in [0, 999, 1_001, 1_944] {
        assert_eq!(window.sum(Widest(index)), index as u64 + 1);
    }
    let found = window.distribution(Widest(1_000));
    assert_eq!((found.count(), found.min(), found.max()), (7, Some(0), Some(u64::MAX)));
    assert!(found.cells().all(|(holds, count)| {
        count == values.iter().filter(|value| holds.contains(value)).count() as u64
    }));
    assert_eq!(window.lifetime(Widest(1_001)).sum, 1_002);
}

by_hand!(Most, [8192], &[("One of many", Kind::Count); 8192]);
by_hand!(Nothing, [0], &[]);

#[test]
fn sets_of_no_events_and_of_as_many_as_there_can_be() {
    let window = window();
    for index in [0, 1, 4095, 8191] {
        window.add(Most(index), index as u64 + 1);
    }
    for index in [0, 1, 4095, 8191] {
        assert_eq!(window.sum(Most(index)), index as u64 + 1);
    }
    assert_eq!(window.lifetime(Most(8190)).sum, 0);
    assert_eq!(self::window::<Nothing>().snapshot().buckets().len(), 1);
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Shard<const N: usize>(usize);

impl<const N: usize> Event for Shard<N> {
    const EVENTS: &'static [(&'static str, Kind)] = &[("Shard", Kind::Count); N];
    const ALL: &'static [Shard<N>] = &{
        let mut all = [Shard(0); N];
        let mut index = 0;
        while index < N {
            all[index] = Shard(index);
            index += 1;
        }
        all
    };
    type Cells = [u64; N];
    const ZERO: [u64; N] = [0; N];

    fn index(self) -> usize {
        self.0
    }
}

#[test]
fn a_set_may_be_generic() {
    fn last<const N: usize>() -> u64 {
        let window = window();
        window.add(Shard::<N>(N - 1), N as u64);
        window.snapshot().sum(Shard(N - 1))
    }
    assert_eq!((last::<1>(), last::<100>()), (1, 100));
}

fn names<E: Event>() -> Vec<&'static str> {
    E::EVENTS.iter().map(|(name, _)| *name).collect()
}

/// Each event in its place, with the name and the kind that stand there.
fn are_all<E: Event, const N: usize>(events: [E; N]) {
    assert_eq!(E::ALL, events);
    assert!(E::ALL.iter().map(|event| event.index()).eq(0..N));
    let said: Vec<_> = E::ALL.iter().map(|event| (event.name(), event.kind())).collect();
    assert_eq!(said, E::EVENTS);
}

events! {
    #[derive(Default, PartialOrd)]
    enum Attributed {
        #[cfg(any())]
        Gone: Value,
        /// Kept.
        #[default]
        #[cfg(all())]
        First: Count,
        #[cfg(all())]
        #[doc(hidden)]
        #[cfg(any())]
        GoneToo: Value,
        #[cfg_attr(all(), doc = "cfg(any()) is only said here.")]
        #[allow(dead_code)]
        Second: Value,
        #[r#cfg(any())]
        GoneAsWell: Count,
        Third: Count,
        #[cfg(not(all()))]
        GoneAtLast: Value,
    }
}

/// The names and kinds of all that were written stood against the indexes of those that were there: a
/// `Count` was counted as the `Value` before it.
#[test]
fn a_variant_that_its_cfg_takes_away_shifts_no_kinds() {
    use Kind::{Count, Value};

    assert_eq!(Attributed::EVENTS, [("First", Count), ("Second", Value), ("Third", Count)]);
    assert_eq!(<Attributed as Event>::ZERO, [0; 6]);
    let all = [Attributed::First, Attributed::Second, Attributed::Third];
    are_all(all);
    assert_eq!(Attributed::default(), Attributed::First);
    let window = window();
    for (event, number) in all.into_iter().zip([5, 70, 900]) {
        window.add(event, number);
    }
    assert_eq!(all.map(|event| window.lifetime(event).sum), [5, 70, 900]);
    assert_eq!(all.map(|event| window.lifetime(event).max), [None, Some(70), None]);
}

events! {
    /// One of two variants of a name is there.
    enum Chosen {
        #[cfg(any())]
        Disk: Count,
        Sent: Count,
        #[cfg(all())]
        Disk: Value,
        #[cfg(any())]
        Last: Count,
    }
}

#[test]
fn a_cfg_may_choose_between_variants_of_one_name() {
    assert_eq!(Chosen::EVENTS, [("Sent", Kind::Count), ("Disk", Kind::Value)]);
    are_all([Chosen::Sent, Chosen::Disk]);
}

#[test]
fn an_event_beyond_all_has_neither_name_nor_kind() {
    are_all([Two(0), Two(1)]);
    are_all([Shard::<3>(0), Shard(1), Shard(2)]);
    are_all::<Nothing, 0>([]);
    assert!(catch_unwind(|| Two(2).name()).is_err());
    assert!(catch_unwind(|| Two(2).kind()).is_err());
}

/// Each attribute is one more step for a macro that goes through them in turn.
#[test]
fn documentation_of_many_lines_meets_no_limit() {
    macro_rules! lines {
        ($($line:tt)*) => {
            events! {
                enum Explained {
                    $(#[doc = stringify!($line)] #[doc = stringify!($line)] #[doc = stringify!($line)] #[doc = stringify!($line)])*
                    #[cfg(any())]
                    Gone: Value,
                    $(#[doc = stringify!($line)] #[doc = stringify!($line)] #[doc = stringify!($line)] #[doc = stringify!($line)])*
                    It: Count,
                }
            }
        };
    }
    lines!(0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9
           0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9);
    assert_eq!(names::<Explained>(), ["It"]);
    are_all([Explained::It]);
}

/// `Self::Cells` may be either, where a variant is called `Cells`.
#[test]
fn variants_may_be_called_as_the_parts_of_an_event_are() {
    events! { enum Parts { Cells: Count, ZERO: Value, EVENTS: Count, Kind: Count, Count: Value, Ok: Count } }

    assert_eq!(names::<Parts>(), ["Cells", "ZERO", "EVENTS", "Kind", "Count", "Ok"]);
    let all = [Parts::Cells, Parts::ZERO, Parts::EVENTS, Parts::Kind, Parts::Count, Parts::Ok];
    are_all(all);
    let window = window();
    for event in all {
        window.add(event, 1);
    }
    assert!(all.iter().all(|event| window.sum(*event) == 1));
}

/// Makes a set of events out of what it is given.
macro_rules! made {
    ($name:ident { $( $(#[$attribute:meta])* $event:ident: $kind:ident ),* }) => {
        events! { enum $name { $( $(#[$attribute])* $event: $kind ),* } }
    };
}

/// As `made`, but takes attributes apart.
macro_rules! made_of_tokens {
    ($name:ident { $( $(#[$($attribute:tt)*])* $event:ident: $kind:ident ),* }) => {
        events! { enum $name { $( $(#[$($attribute)*])* $event: $kind ),* } }
    };
}

#[test]
fn another_macro_may_make_a_set() {
    made! { Documented { /** One. */ #[doc(hidden)] One: Count, /** Two. */ Two: Value } }
    made_of_tokens! { Chosen { #[cfg(any())] One: Value, #[cfg(all())] Two: Count } }

    assert_eq!(names::<Documented>(), ["One", "Two"]);
    are_all([Documented::One, Documented::Two]);
    assert_eq!(names::<Chosen>(), ["Two"]);
    are_all([Chosen::Two]);
}

events! {
    enum Spread {
        #[cfg(any())]
        Gone: Histogram,
        Pass: Count,
        #[cfg(all())]
        Rt: Histogram(SCALE),
        Least: Minimum,
        #[cfg(any())]
        GoneToo: Histogram(SCALE),
        Size: Histogram,
        Took: Value,
        Again: Histogram({ SCALE }),
    }
}

/// In between are events of other kinds, and some that are not there.
#[test]
fn several_histograms_stand_beside_one_another() {
    let all = [Spread::Pass, Spread::Rt, Spread::Least, Spread::Size, Spread::Took, Spread::Again];
    are_all(all);
    assert_eq!(Spread::Size.kind(), Kind::Histogram(Scale::DEFAULT));
    let window = window();
    for (number, event) in (5..).zip(all) {
        for _ in 0..number {
            window.record(event, number);
        }
    }
    let counts = all.map(|event| window.distribution(event).count());
    assert_eq!(counts, [0, 6, 0, 8, 0, 10]);
    let sums = all.map(|event| window.lifetime(event).sum);
    assert_eq!(sums, [25, 36, 0, 64, 81, 100]);
    assert_eq!(
        all.map(|event| window.stats(event).min),
        [None, Some(6), Some(7), Some(8), Some(9), Some(10)]
    );
}
