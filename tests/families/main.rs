//! Families of metrics by labels: the counts of each set of labels, their total and the overflow
//! series; removal while handles are kept; user code that panics; bounds of memory. Random
//! schedules are compared with an oracle.

// Lookups.
mod counts;
mod fields;
mod kinds;
mod metrics;
mod near_sets;
mod run_time;
mod schedules;
mod tasks;

// Places, and their end.
mod looks;
mod memory;
mod places;
mod sweeps;

// A user's own code.
mod metric_code;
mod panics;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use testkit::Rng;
use windrow::{
    Counter, Family, events, labels,
    labels::{Label, LabelValue, Labels},
};

labels! {
    /// The method of the request.
    #[derive(PartialOrd, Ord)]
    pub enum Method { Get = "GET", Post = "POST", Other }

    /// A request.
    #[derive(PartialOrd, Ord)]
    struct Request { method: Method, r#type: str, status: u16, cached: bool, delta: i8 }

    struct Switch { method: Method, on: bool }

    struct Text { text: str }

    struct Number { number: u64 }
}

events! { enum Http { Pass: Count, Micros: Value } }

fn request(text: &str) -> Request<'_> {
    Request { method: Method::Post, r#type: text, status: 404, cached: true, delta: -1 }
}

#[test]
fn a_set_of_labels_says_what_it_is() {
    assert_eq!(Request::names(&()), ["method", "type", "status", "cached", "delta"]);
    assert_eq!((Request::COMBINATIONS, Text::COMBINATIONS), (None, None));
    assert_eq!((Switch::names(&()), Switch::COMBINATIONS), (&["method", "on"][..], Some(6)));
    let indexes: BTreeSet<usize> = [Method::Get, Method::Post, Method::Other]
        .into_iter()
        .flat_map(|method| [false, true].map(|on| Switch::index(Switch { method, on })))
        .collect();
    assert_eq!(indexes, (0..6).collect());
    assert_eq!(Method::Other.value(), LabelValue::Text("Other"));
    let stored = Request::store(request("x"));
    assert_eq!(Request::borrow(&stored), request("x"));
    let shown = (0..5).map(|position| Request::value(request("x"), position).to_string());
    assert_eq!(shown.collect::<Vec<_>>(), ["POST", "x", "404", "true", "-1"]);
}

/// Their hashes may be equal; so it matters even where they hardly ever are.
#[test]
fn what_is_kept_of_a_set_is_equal_to_that_set_alone() {
    let text: String = ('a'..='z').chain('A'..='Z').collect();
    for length in 0..text.len() {
        let text = &text[..length];
        let stored = Text::store(Text { text });
        let is = |text: &str| Text::matches(&stored, Text { text });
        assert!(is(text), "{text}");
        assert!(!is(&format!("{text}!")) && !is(&format!("!{text}")), "{text}");
        for position in 0..length {
            let other = format!("{}!{}", &text[..position], &text[position + 1..]);
            assert!(!is(&other), "{text}, {other}");
        }
    }
    let stored = Request::store(request("x"));
    assert!(Request::matches(&stored, request("x")));
    let others = [
        Request { method: Method::Get, ..request("x") },
        request("y"),
        Request { status: 405, ..request("x") },
        Request { cached: false, ..request("x") },
        Request { delta: 1, ..request("x") },
    ];
    assert!(others.iter().all(|other| !Request::matches(&stored, *other)));
}

#[test]
fn a_family_tells_how_many_series_it_has_and_may_have() {
    let family: Family<Text, Counter> = Family::new().with_max_series(3);
    assert_eq!((family.max_series(), family.len()), (3, 0));
    family.with(Text { text: "a" }).increment();
    family.with(Text { text: "b" }).increment();
    assert_eq!((family.max_series(), family.len()), (3, 2));
    let mut walk = family.iter();
    for left in [2, 1, 0] {
        assert_eq!((walk.len(), walk.size_hint()), (left, (left, Some(left))));
        walk.next();
    }
    assert_eq!(Family::<Switch, Counter>::new().with_max_series(3).max_series(), 6);
}

/// Each label alone tells two sets apart, and texts of every length do.
#[test]
fn sets_that_differ_anywhere_have_series_of_their_own() {
    let family: Family<Request, Counter> = Family::new();
    let text: String = ('a'..='z').chain('A'..='Z').collect();
    let others = |text: &str| -> Vec<String> {
        let with =
            |at: usize| text.chars().enumerate().map(move |(i, c)| if i == at { '#' } else { c });
        (0..text.len()).map(|at| with(at).collect()).collect()
    };
    let mut expected = BTreeMap::new();
    let mut count = 0;
    for length in 0..text.len() {
        let text = &text[..length];
        for text in others(text).iter().map(String::as_str).chain([text]).take(8) {
            count += 1;
            expected.insert(text.to_owned(), count);
            family.with(request(text)).add(count);
        }
    }
    for different in [
        Request { method: Method::Get, ..request("a") },
        Request { status: 405, ..request("a") },
        Request { cached: false, ..request("a") },
        Request { delta: 1, ..request("a") },
    ] {
        assert_eq!(family.with(different).sum(), 0);
    }
    for (text, count) in &expected {
        assert_eq!(family.with(request(text)).sum(), *count, "{text}");
    }
    assert_eq!((family.len(), family.refused()), (expected.len() + 4, 0));
    assert_eq!(family.lifetime(), expected.values().sum::<u64>());
    let walked: BTreeMap<String, u64> = family
        .iter()
        .filter(|series| series.sum() > 0)
        .map(|series| (series.labels().unwrap().r#type.to_owned(), series.sum()))
        .collect();
    assert_eq!(walked, expected);
}

/// A set that has the hash of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Same(u64);

impl Hash for Same {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Labels for Same {
    type Names = ();
    const COMBINATIONS: Option<usize> = None;
    type Borrowed<'a> = Same;
    type Stored = Same;

    fn names((): &()) -> &[&str] {
        &["number"]
    }

    fn store(labels: Same) -> Same {
        labels
    }

    fn borrow(stored: &Same) -> Same {
        *stored
    }

    fn matches(stored: &Same, labels: Same) -> bool {
        *stored == labels
    }

    fn value(labels: Self::Borrowed<'_>, _: usize) -> LabelValue<'_> {
        LabelValue::Unsigned(labels.0)
    }

    fn index(_: Same) -> usize {
        0
    }
}

#[test]
fn sets_of_the_same_hash_have_series_of_their_own() {
    let family: Family<Same, Counter> = Family::new();
    for round in 0..3 {
        (0..100).for_each(|number| family.with(Same(number)).add(number));
        assert_eq!(family.len(), 100, "round {round}");
    }
    assert!((0..100).all(|number| family.with(Same(number)).sum() == 3 * number));
    assert!(family.remove(Same(50)) && !family.remove(Same(50)));
    assert_eq!(
        (family.len(), family.with(Same(50)).sum(), family.with(Same(51)).sum()),
        (100 - 1, 0, 153)
    );
}

#[test]
fn sets_beyond_the_limit_count_together_and_no_series_is_made_for_them() {
    let family: Family<Text, Counter> = Family::new().with_max_series(3);
    for n in 0..400_000_u64 {
        family.with(Text { text: &n.to_string() }).increment();
    }
    family.with(Text { text: "1" }).add(10);
    assert_eq!((family.len(), family.refused()), (3, 399_997));
    let sums: BTreeMap<String, u64> = family
        .iter()
        .map(|series| {
            let pairs: Vec<_> =
                series.pairs().map(|(name, value)| format!("{name}={value}")).collect();
            (pairs.join(","), series.sum())
        })
        .collect();
    let expected = [("overflow=true", 399_997), ("text=0", 1), ("text=1", 11), ("text=2", 1)];
    assert_eq!(sums, expected.map(|(pair, sum)| (pair.to_owned(), sum)).into());
    assert_eq!(family.lifetime(), 400_010);
    assert!(family.remove(Text { text: "0" }));
    family.with(Text { text: "new" }).add(5);
    assert_eq!(family.with(Text { text: "new" }).sum(), 5, "there is room again");
    assert_eq!(family.lifetime(), 400_015);
}

#[test]
fn a_series_that_was_removed_begins_anew_and_stays_in_the_lifetime() {
    let family: Family<Text, Counter> = Family::new();
    family.with(Text { text: "a" }).add(3);
    let handle = family.handle(Text { text: "a" });
    assert!(family.remove(Text { text: "a" }));
    assert!(!family.remove(Text { text: "a" }), "it is gone");
    assert!(!family.remove(Text { text: "never" }));
    handle.add(4);
    assert_eq!((family.lifetime(), family.len(), family.iter().count()), (7, 0, 0));
    family.with(Text { text: "a" }).add(5);
    assert_eq!((family.with(Text { text: "a" }).sum(), handle.sum()), (5, 7));
    drop(handle);
    assert_eq!(family.lifetime(), 12);
    (0..20).for_each(|_| assert!(!family.remove(Text { text: "b" }))); // frees the removed series
    assert_eq!(family.lifetime(), 12, "now from the remembered total");
}

/// The memory of a removed series is freed, without its being used again.
#[test]
fn a_removed_series_is_dropped() {
    static DROPPED: AtomicU64 = AtomicU64::new(0);
    #[derive(Default)]
    struct Counted(Counter);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    impl windrow::family::Metric for Counted {
        type Total = u64;
        fn total(&self) -> u64 {
            self.0.lifetime()
        }
        fn merge(one: &mut u64, other: u64) {
            Counter::merge(one, other);
        }
    }
    let family: Family<Number, Counted> = Family::new();
    for number in 0..100 {
        family.with(Number { number }).0.add(number);
    }
    let kept = family.handle(Number { number: 99 });
    assert_eq!(family.retain(|series, _| series.labels().unwrap().number < 50), 49);
    // Other tests of this process may be pinned for a while.
    while DROPPED.load(Ordering::Relaxed) < 49 {
        assert_eq!(family.lifetime(), (0..100).sum::<u64>());
        thread::yield_now();
    }
    assert_eq!((family.lifetime(), family.len()), ((0..100).sum(), 51));
    drop(kept);
    drop(family);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 100);
}

#[test]
fn series_that_are_not_used_are_idle() {
    let family: Family<Text, Counter> = Family::new();
    let nap = Duration::from_millis(20);
    family.with(Text { text: "used" }).increment();
    family.with(Text { text: "idle" }).increment();
    let kept = family.handle(Text { text: "kept" });
    assert_eq!(family.retain(|_, idle| idle.is_zero()), 0, "all were used since they were made");
    let mut uses = 1;
    loop {
        thread::sleep(nap);
        family.with(Text { text: "used" }).increment();
        family.iter().for_each(drop); // to look is not to use
        uses += 1;
        // The clock of idle times may be late by a tick, or several.
        match family.retain(|_, idle| idle < nap) {
            0 => assert!(uses < 100, "none is idle"),
            removed => break assert_eq!(removed, 1),
        }
    }
    let left: BTreeSet<String> =
        family.iter().map(|series| series.labels().unwrap().text.into()).collect();
    assert_eq!(left, ["kept", "used"].map(String::from).into());
    drop(kept);
    let mut turns = 0;
    while family.len() > 0 {
        assert!(turns < 100, "{} are left", family.len());
        thread::sleep(nap);
        family.retain(|_, idle| idle < nap);
        turns += 1;
    }
    assert_eq!(family.lifetime(), 1 + uses);
}

/// A family that finds its series by their index hides one that was removed, until it is used
/// again.
#[test]
fn a_series_of_enums_goes_on_where_it_was() {
    let family: Family<Switch, Counter> = Family::new().with_max_series(1);
    let (on, off) =
        (Switch { method: Method::Get, on: true }, Switch { method: Method::Get, on: false });
    family.with(on).add(3);
    family.with(off).add(4);
    assert_eq!((family.len(), family.refused()), (2, 0), "enums need no limit");
    assert!(family.remove(on));
    assert!(!family.remove(on));
    assert_eq!((family.len(), family.iter().count(), family.lifetime()), (1, 1, 7));
    family.with(on).add(2);
    assert_eq!((family.with(on).sum(), family.len(), family.lifetime()), (5, 2, 9));
    assert_eq!(family.retain(|_, _| false), 2);
    assert_eq!((family.len(), family.lifetime()), (0, 9));
    assert_eq!(family.handle(off).sum(), 4);
    assert_eq!(family.len(), 1);
}

/// Threads make, use, keep, remove and read the same few series. Nothing that was added is missing,
/// and the lifetime never goes back.
#[test]
fn nothing_is_lost_while_series_come_and_go() {
    const ADDS: u64 = 60_000;
    let family: Family<Text, Counter> = Family::new().with_max_series(12);
    let texts: Vec<String> = (0..16).map(|number| format!("/a/route/{number}")).collect();
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..3 {
            let (family, texts, done) = (&family, &texts, &done);
            scope.spawn(move || {
                let mut random = Rng::with_seed(thread);
                let mut kept = None;
                for _ in 0..ADDS {
                    let labels = Text { text: &texts[random.usize(..texts.len())] };
                    match random.u8(..64) {
                        0 => kept = Some(family.handle(labels)),
                        1 => _ = kept.take(),
                        4 => kept = Some(family.with(labels).keep()),
                        2 => _ = family.remove(labels),
                        3 => _ = family.retain(|_, idle| !idle.is_zero()),
                        _ => (),
                    }
                    match &kept {
                        Some(handle) if random.bool() => handle.increment(),
                        _ => family.with(labels).increment(),
                    }
                }
                done.fetch_add(1, Ordering::Release);
            });
        }
        let mut last = 0;
        while done.load(Ordering::Acquire) < 3 {
            let lifetime = family.lifetime();
            assert!((last..=3 * ADDS).contains(&lifetime), "{lifetime} after {last}");
            last = lifetime;
            assert!(family.len() <= 12);
            let all: Vec<_> = family
                .iter()
                .map(|series| series.labels().map(|set| set.text.to_owned()))
                .collect();
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!(distinct.len(), all.len(), "a set has one series");
        }
    });
    assert_eq!(family.lifetime(), 3 * ADDS);
    family.retain(|_, _| false);
    assert_eq!((family.len(), family.lifetime()), (0, 3 * ADDS));
}

/// Threads that race for the same new series all get the one.
#[test]
fn a_set_has_one_series_whoever_makes_it() {
    for round in 0..200 {
        let family: Family<Number, Counter> = Family::new();
        let go = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !go.load(Ordering::Acquire) {
                        std::hint::spin_loop();
                    }
                    (0..32).for_each(|number| family.with(Number { number }).increment());
                });
            }
            go.store(true, Ordering::Release);
        });
        assert_eq!(family.len(), 32, "round {round}");
        assert!((0..32).all(|number| family.with(Number { number }).sum() == 4));
    }
}

mod from_outside {
    windrow::labels! {
        #[derive(PartialOrd)]
        pub struct Public { pub route: String, /** A port. */ pub port: u16, zone: Option<String> }
    }
}

#[test]
fn fields_may_be_written_with_pub() {
    use from_outside::Public;
    let family: Family<Public, Counter> = Family::new();
    family.with(Public { route: "/a", port: 80, zone: None }).increment();
    let series = family.iter().next().expect("one");
    let labels = series.labels().expect("labels");
    assert_eq!((labels.route, labels.port, labels.zone), ("/a", 80, None));
    assert_eq!(Public::names(&()), ["route", "port", "zone"]);
}
