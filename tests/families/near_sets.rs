//! Sets whose texts are nearly equal, of the lengths at which a text is stored, hashed or compared
//! in another way: each has a series of its own, on many threads, while series come and go.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use testkit::Rng;
use windrow::labels::{Labels, RuntimeLabels};
use windrow::{Counter, Family, labels};

labels! { struct Near { one: str, two: Option<str>, three: str } }

/// The lengths of texts, on both sides of each limit.
const LENGTHS: [usize; 19] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 31, 32, 33, 48, 49, 330];

/// The texts of a set.
type Set = [String; 3];

/// Returns sets that are hard to tell apart.
fn sets() -> Vec<Set> {
    let of = |parts: [&str; 3]| parts.map(str::to_owned);
    // Boundaries that are moved, and bytes that could pass for padding or for a length.
    let mut sets: Vec<Set> = [
        ["ab", "c", ""],
        ["a", "bc", ""],
        ["", "abc", ""],
        ["", "", "abc"],
        ["abc", "", ""],
        ["a\0", "", ""],
        ["a", "\0", ""],
        ["a\0\0\0\0\0\0\u{1}", "", ""],
        ["\u{3}", "", ""],
        ["abcdefgh", "ijklmno", ""],
        ["abcdefghijklmno", "", ""],
        ["abcdefghijklmn", "o", ""],
        ["abcdefghijklmnop", "", ""],
        ["abcdefghijklmno", "p", ""],
    ]
    .map(of)
    .into();
    for length in LENGTHS {
        let text = |last: &str| "x".repeat(length.saturating_sub(last.len())) + last;
        for [one, two] in [["a", "b"], ["b", "a"], ["a", "a"], ["\0", "a"], ["é", "è"]] {
            sets.push([text(one), "same".to_owned(), text(two)]);
            sets.push(["GET".to_owned(), text(one), text(two)]);
        }
    }
    sets.sort();
    sets.dedup();
    sets
}

/// A family by either kind of names.
trait Kind: Labels {
    fn family() -> Family<Self, Counter>;
    /// Calls `act` with the set as this kind borrows it.
    fn lend<R>(set: &Set, act: impl for<'a> FnOnce(Self::Borrowed<'a>) -> R) -> R;
}

impl Kind for Near<'static> {
    fn family() -> Family<Self, Counter> {
        Family::new()
    }

    fn lend<R>([one, two, three]: &Set, act: impl for<'a> FnOnce(Self::Borrowed<'a>) -> R) -> R {
        act(Near { one, two: Some(two), three })
    }
}

impl Kind for RuntimeLabels {
    fn family() -> Family<Self, Counter> {
        Family::with_names(["one", "two", "three"]).unwrap()
    }

    fn lend<R>(set: &Set, act: impl for<'a> FnOnce(Self::Borrowed<'a>) -> R) -> R {
        act(&set.each_ref().map(String::as_str))
    }
}

/// Adds at random on several threads, and compares with counts under a lock.
fn every_set_counts_for_itself<L: Kind>() {
    let (sets, family) = (sets(), L::family());
    let oracle = Mutex::new(HashMap::<usize, u64>::new());
    thread::scope(|scope| {
        for seed in 0..4 {
            let (sets, family, oracle) = (&sets, &family, &oracle);
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed + 1);
                for _ in 0..5_000 {
                    let number = random.usize(..sets.len());
                    // A copy, at another place than the stored one or the one before.
                    let set = sets[number].clone();
                    L::lend(&set, |labels| family.with(labels).add(number as u64 + 1));
                    *oracle.lock().unwrap().entry(number).or_default() += number as u64 + 1;
                }
            });
        }
    });
    let oracle = oracle.into_inner().unwrap();
    assert_eq!((family.len(), family.refused()), (oracle.len(), 0));
    for (number, count) in oracle {
        let found = L::lend(&sets[number], |labels| family.get(labels).map(|it| it.sum()));
        assert_eq!(found, Some(count), "{:?}", sets[number]);
    }
}

/// Adds, removes and makes again on several threads. A series that is found has the labels that
/// were asked for, and no add is lost.
fn series_that_come_and_go_keep_their_labels<L: Kind>() {
    let (sets, family, added) = (sets(), L::family(), AtomicU64::new(0));
    let shown = |set: &Set| set.join("|");
    thread::scope(|scope| {
        for seed in 0..4 {
            let (sets, family, added) = (&sets, &family, &added);
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed + 11);
                for round in 0..4_000 {
                    // Few, so that threads meet.
                    let set = sets[random.usize(..16) * 7 % sets.len()].clone();
                    L::lend(&set, |labels| {
                        if random.u8(..4) == 0 {
                            family.remove(labels);
                            return;
                        }
                        family.with(labels).increment();
                        added.fetch_add(1, Ordering::Relaxed);
                        if round % 8 == 0 {
                            let kept = family.with(labels).keep();
                            let values = kept.pairs().map(|(_, value)| value.to_string());
                            assert_eq!(values.collect::<Vec<_>>().join("|"), shown(&set));
                        }
                    });
                }
            });
        }
    });
    assert_eq!((family.lifetime(), family.refused()), (added.into_inner(), 0));
}

#[test]
fn near_sets_of_declared_labels_count_for_themselves() {
    every_set_counts_for_itself::<Near<'static>>();
}

#[test]
fn near_sets_with_names_of_run_time_count_for_themselves() {
    every_set_counts_for_itself::<RuntimeLabels>();
}

#[test]
fn near_series_of_declared_labels_come_and_go() {
    series_that_come_and_go_keep_their_labels::<Near<'static>>();
}

#[test]
fn near_series_with_names_of_run_time_come_and_go() {
    series_that_come_and_go_keep_their_labels::<RuntimeLabels>();
}

/// Nine texts: the words of eight are kept from the hash to the comparison.
#[test]
fn the_last_of_many_texts_tells_sets_apart() {
    labels! {
        struct Many {
            a: str, b: str, c: str, d: str, e: str, f: str, g: str, h: str, i: str, j: u8
        }
    }
    let family: Family<Many, Counter> = Family::new();
    let set = |i, j| Many { a: "", b: "b", c: "c", d: "d", e: "e", f: "f", g: "g", h: "h", i, j };
    let long = "a text of more than 15 bytes";
    for (n, (i, j)) in [("", 1), ("i", 1), ("i", 2), ("j", 2), (long, 2)].into_iter().enumerate() {
        assert_eq!(family.with(set(i, j)).sum(), 0, "{i}, {j}");
        family.with(set(i, j)).add(n as u64 + 1);
        assert_eq!((family.with(set(i, j)).sum(), family.len()), (n as u64 + 1, n + 1));
    }
    let names: Vec<String> = (0..9).map(|n| n.to_string()).collect();
    let family: Family<RuntimeLabels, Counter> = Family::with_names(names).unwrap();
    for (n, last) in ["", "i", "j", long].into_iter().enumerate() {
        let set = ["", "b", "c", "d", "e", "f", "g", "h", last];
        family.with(&set).add(n as u64 + 1);
        assert_eq!((family.with(&set).sum(), family.len()), (n as u64 + 1, n + 1), "{last}");
    }
}
