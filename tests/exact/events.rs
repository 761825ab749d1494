//! Sets of events: the result of `events!` for attributes and names, and sets written by hand. Sets
//! refused at compile time are in `refused`.

#![forbid(unsafe_code)]
#![allow(clippy::large_stack_arrays, reason = "the largest set of events is in constants alone")]

use testkit::count;
use windrow::clock::Manual;
use windrow::{Event, Events, Kind, SlidingWindow, Typed, events, histogram::Scale, kind};

fn window<E: Events>() -> SlidingWindow<E, Manual> {
    SlidingWindow::builder().clock(Manual::default()).build().expect("a valid geometry")
}

fn all<E: Events>() -> impl Iterator<Item = Event<E>> {
    (0..E::EVENTS.len()).map(Event::at)
}

/// Each event in its place, with the name and the kind that stand there.
fn are_all<E: Events, const N: usize>(events: [Event<E>; N]) {
    assert!(all::<E>().eq(events));
    assert!(events.iter().map(|event| event.index()).eq(0..N));
    let said: Vec<_> = events.iter().map(|event| (event.name(), event.kind())).collect();
    assert_eq!(said, E::EVENTS);
    for event in events {
        assert_eq!(Event::<E>::at(event.index()), event);
    }
}

fn names<E: Events>() -> Vec<&'static str> {
    all::<E>().map(Event::name).collect()
}

/// Implements `Events` for a type without values.
macro_rules! by_hand {
    ($name:ident, [$cells:expr], $events:expr) => {
        struct $name;

        impl Events for $name {
            const EVENTS: &'static [(&'static str, Kind)] = $events;
            type Cells = [u64; $cells];
        }
    };
}

by_hand!(Two, [5], &[("Pass", Kind::Count), ("Rt", Kind::Value)]);

const PASS: Event<Two, kind::Count> = Event::at(0);
const RT: Event<Two, kind::Value> = Event::at(1);

#[test]
fn a_set_by_hand_counts_like_one_of_the_macro() {
    let window = window();
    window.add(PASS, 3);
    window.record(RT, 40);
    window.record(RT, 2);
    assert_eq!((window.sum(PASS), window.rate(PASS)), (3, 3.0));
    for stats in [window.stats(RT), window.snapshot().totals().stats(RT), window.lifetime(RT)] {
        assert_eq!((stats.count, stats.sum), (2, 42));
        assert_eq!((stats.min, stats.max), (Some(2), Some(40)));
    }
    assert!(format!("{window:?}").contains("Pass: Stats { count: 3"));
    are_all::<Two, 2>([PASS.into(), RT.into()]);
}

/// With a wrong kind, another event's cells would be changed.
#[test]
fn an_event_has_the_kind_that_its_set_says() {
    assert!(matches!(Event::<Two>::from(PASS).typed(), Typed::Count(event) if event == PASS));
    assert!(matches!(RT.typed(), Typed::Value(event) if event == RT));
    let fails = |make: fn()| assert!(std::panic::catch_unwind(make).is_err());
    fails(|| _ = Event::<Two, kind::Value>::at(0));
    fails(|| _ = Event::<Two, kind::Count>::at(2));
    fails(|| _ = Event::<Two>::at(usize::MAX));
}

#[test]
fn events_are_ordered_and_shown_by_their_place_and_name() {
    assert!(Event::<Two>::from(PASS) < Event::<Two>::from(RT) && PASS < RT && PASS != RT);
    assert_eq!(
        format!("{PASS:?} {:?} {:?}", Event::<Two>::from(RT), RT.typed()),
        "Pass Rt Typed(Value, Rt)"
    );
    let set: std::collections::HashSet<_> = all::<Two>().chain([PASS.into()]).collect();
    assert_eq!(set.len(), 2);
}

#[test]
fn an_event_of_each_kind_is_erased() {
    let [pass, rt]: [Event<Two>; 2] = [PASS.into(), RT.into()];
    assert_eq!((pass, rt), (Event::at(PASS.index()), Event::at(RT.index())));
}

const SCALE: Scale = Scale::fixed::<1, 5, 9>(); // six cells, and two outside of them

// With the finest scale, the rest of a row of 8192 cells.
by_hand!(Widest, [2 * (2_080 + 2) + 2 + 1_944], &{
    let mut events = [("One of many", Kind::Count); 1_945];
    events[1_000] = ("Rt", Kind::Histogram(Scale::fixed::<5, 1, { u64::MAX }>()));
    events
});

#[test]
fn the_finest_histogram_has_room_for_some_counts_beside_it() {
    let window = window();
    let counts = [0, 999, 1_001, 1_944].map(Event::<Widest, kind::Count>::at);
    let values_of = Event::<Widest, kind::Histogram>::at(1_000);
    for event in counts {
        window.add(event, event.index() as u64 + 1);
    }
    let values = [0, 1, 2, 3, 1_000_003, u64::MAX - 1, u64::MAX];
    for value in values {
        window.record(values_of, value);
    }
    for event in counts {
        assert_eq!(window.sum(event), event.index() as u64 + 1);
    }
    let found = window.distribution(values_of);
    assert_eq!((found.count(), found.min(), found.max()), (7, Some(0), Some(u64::MAX)));
    assert!(found.cells().all(|(holds, count)| {
        count == values.iter().filter(|value| holds.contains(value)).count() as u64
    }));
    assert_eq!(window.lifetime(counts[2]).sum, 1_002);
}

by_hand!(Most, [8192], &[("One of many", Kind::Count); 8192]);
by_hand!(Nothing, [0], &[]);

#[test]
fn sets_of_no_events_and_of_as_many_as_there_can_be() {
    let window = window();
    let some = [0, 1, 4095, 8191].map(Event::<Most, kind::Count>::at);
    for event in some {
        window.add(event, event.index() as u64 + 1);
    }
    for event in some {
        assert_eq!(window.sum(event), event.index() as u64 + 1);
    }
    assert_eq!(window.lifetime(Event::<Most>::at(8190)).sum, 0);
    assert_eq!(self::window::<Nothing>().snapshot().buckets().len(), 1);
    are_all::<Nothing, 0>([]);
}

struct Shards<const N: usize>;

impl<const N: usize> Events for Shards<N> {
    const EVENTS: &'static [(&'static str, Kind)] = &[("Shard", Kind::Count); N];
    type Cells = [u64; N];
}

#[test]
fn a_set_may_be_generic() {
    fn last<const N: usize>() -> u64 {
        let window = window();
        let last = Event::<Shards<N>, kind::Count>::at(N - 1);
        window.add(last, N as u64);
        window.snapshot().totals().sum(last)
    }
    assert_eq!((last::<1>(), last::<100>()), (1, 100));
}

events! {
    /// A set may have attributes of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Hash)]
    #[non_exhaustive]
    enum Attributed {
        /// Documented.
        First: Count,
        #[doc(hidden)]
        #[allow(dead_code)]
        Second: Value,
        #[deprecated = "since always"]
        Third: Count,
    }
}

#[test]
#[allow(deprecated)]
fn attributes_change_no_kinds() {
    use Kind::{Count, Value};

    assert_eq!(Attributed::EVENTS, [("First", Count), ("Second", Value), ("Third", Count)]);
    are_all(Attributed::ALL);
    let window = window();
    window.add(Attributed::First, 5);
    window.record(Attributed::Second, 70);
    window.add(Attributed::Third, 900);
    assert_eq!(Attributed::ALL.map(|event| window.lifetime(event).sum), [5, 70, 900]);
    assert_eq!(Attributed::ALL.map(|event| window.lifetime(event).max), [None, Some(70), None]);
}

/// Sets for one system or another are two sets.
#[test]
fn one_of_two_sets_may_be_left_out() {
    #[cfg(any())]
    events! { enum Chosen { Disk: Count } }
    #[cfg(not(any()))]
    events! { enum Chosen { Sent: Count, Disk: Value } }

    assert_eq!(Chosen::EVENTS, [("Sent", Kind::Count), ("Disk", Kind::Value)]);
}

/// Each attribute is one more step for a macro that goes through them in turn.
#[test]
fn documentation_of_many_lines_meets_no_limit() {
    macro_rules! lines {
        ($($line:tt)*) => {
            events! {
                enum Explained {
                    $(#[doc = stringify!($line)] #[doc = stringify!($line)] #[doc = stringify!($line)] #[doc = stringify!($line)])*
                    It: Count,
                }
            }
        };
    }
    lines!(0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9
           0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9);
    assert_eq!(names::<Explained>(), ["It"]);
    are_all(Explained::ALL);
}

/// And the set as what the macro itself uses.
#[test]
fn names_may_be_those_of_the_parts_of_a_set() {
    events! { enum Position { Cells: Count, ZERO: Value, EVENTS: Count, Kind: Count, Count: Value, Ok: Count } }

    assert_eq!(names::<Position>(), ["Cells", "ZERO", "EVENTS", "Kind", "Count", "Ok"]);
    are_all(Position::ALL);
    let window = window();
    for event in Position::ALL {
        count(&window, event, 1);
    }
    assert!(Position::ALL.iter().all(|event| window.stats(*event).sum == 1));
}

/// Makes a set of events out of the given names.
macro_rules! made {
    ($name:ident { $( $(#[$attribute:meta])* $event:ident: $kind:ident ),* }) => {
        events! { enum $name { $( $(#[$attribute])* $event: $kind ),* } }
    };
}

#[test]
fn another_macro_may_make_a_set() {
    made! { Documented { /** One. */ #[doc(hidden)] One: Count, /** Two. */ Two: Value } }

    assert_eq!(names::<Documented>(), ["One", "Two"]);
    are_all(Documented::ALL);
}

events! {
    enum Spread {
        Pass: Count,
        Rt: Histogram(SCALE),
        Least: Minimum,
        Size: Histogram,
        Took: Value,
        Again: Histogram({ SCALE }),
    }
}

/// In between are events of other kinds.
#[test]
fn several_histograms_stand_beside_one_another() {
    are_all(Spread::ALL);
    assert_eq!(Spread::Size.kind(), Kind::Histogram(Scale::DEFAULT));
    let window = window();
    for (number, event) in (5..).zip(Spread::ALL) {
        for _ in 0..number {
            count(&window, event, number);
        }
    }
    let of = [Spread::Rt, Spread::Size, Spread::Again];
    assert_eq!(of.map(|event| window.distribution(event).count()), [6, 8, 10]);
    let sums = Spread::ALL.map(|event| window.lifetime(event).sum);
    assert_eq!(sums, [25, 36, 0, 64, 81, 100]);
    assert_eq!(
        Spread::ALL.map(|event| window.stats(event).min),
        [None, Some(6), Some(7), Some(8), Some(9), Some(10)]
    );
}
