//! Labels whose names are known only when the program runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use testkit::heap::{kept_by, peak_of};
use testkit::{Rng, race};
use windrow::{
    Counter, Family, Gauge, SlidingWindow,
    family::Handle,
    labels::{LabelNamesError, Labels, RuntimeLabels},
};

use crate::Http;

/// The bytes of texts that a family keeps of a series at most.
const LONGEST: usize = 1_024;

pub(crate) type Counters = Family<RuntimeLabels, Counter>;

pub(crate) fn counters(names: &[&str]) -> Counters {
    Family::with_names(names).unwrap()
}

fn shown<M>(series: &Handle<RuntimeLabels, M>) -> String {
    let pairs = series.pairs().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(",")
}

#[test]
fn names_are_those_that_were_given() {
    let owned = ["tenant", "region"].map(String::from);
    for family in [Family::with_names(&owned), Family::with_names(["tenant", "region"])] {
        let family: Counters = family.unwrap();
        assert_eq!(family.names(), ["tenant", "region"]);
        let gauges = Family::<_, Gauge>::with_names(family.names()).unwrap();
        assert_eq!(gauges.names(), family.names());
    }
    assert_ne!(counters(&["a", "b"]).names(), counters(&["b", "a"]).names());
    assert_ne!(counters(&["ab", "c"]).names(), counters(&["a", "bc"]).names());
}

/// The last name that is taken, and the first that is not.
#[test]
fn names_that_no_exporter_could_show_are_refused() {
    fn refused(names: &[impl AsRef<str>]) -> Option<LabelNamesError> {
        Counters::with_names(names).err()
    }
    let error = |names: &[&str]| refused(names).expect("no exporter could show them");
    let many: Vec<String> = (0..=32).map(|number| number.to_string()).collect();
    assert_eq!(refused(&many[..32]), None);
    let too_many = refused(&many).expect("one too many");
    assert_eq!(too_many, LabelNamesError::TooMany { names: 33, most: 32 });
    let long = "x".repeat(1_023);
    assert_eq!(refused(&[&long, "y"]), None);
    let too_long = error(&[&long, "yz"]);
    assert_eq!(too_long, LabelNamesError::TooLong { bytes: 1_025, most: 1_024 });
    let empty = error(&["a", "", "b"]);
    assert_eq!(empty, LabelNamesError::Empty { position: 1 });
    let reserved = error(&["a", "overflow"]);
    assert_eq!(reserved, LabelNamesError::Reserved { name: "overflow".into() });
    let twice = error(&["a", "b", "a"]);
    assert_eq!(twice, LabelNamesError::Twice { name: "a".into() });
    for character in ['\0', '\n', '\u{85}', '"', '\\'] {
        let name = format!("a{character}b");
        let error = error(&["x", &name]);
        assert_eq!(error, LabelNamesError::Character { name: name.clone(), character });
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
    }
    for name in ["Overflow", "overflow ", "größe", "http.route", "a b", "{a=b,c}", "'", "购"] {
        assert_eq!(refused(&[name]), None, "{name}");
    }
    let sentences = [
        (too_many, ["33", "32"]),
        (too_long, ["1025", "1024"]),
        (empty, ["name 1", "empty"]),
        (reserved, ["\"overflow\"", "no room"]),
        (twice, ["\"a\"", "differ"]),
    ];
    for (error, parts) in sentences {
        let sentence = error.to_string();
        assert!(parts.iter().all(|part| sentence.contains(part)), "{sentence}");
        assert!(!sentence.contains('\n'), "{sentence}");
    }
}

#[test]
fn a_set_says_what_it_is() {
    assert_eq!(RuntimeLabels::COMBINATIONS, None);
    let stored = RuntimeLabels::store(&["acme", ""]);
    assert_eq!(RuntimeLabels::borrow(&stored), ["acme", ""]);
    assert!(RuntimeLabels::matches(&stored, &["acme", ""]));
    let others: [&[&str]; 7] = [
        &[],
        &["acme"],
        &["acme", "", ""],
        &["", "acme"],
        &["acm", "e"],
        &["acmé", ""],
        &["acme", " "],
    ];
    assert!(others.iter().all(|other| !RuntimeLabels::matches(&stored, other)));
    let family = counters(&["a", "b"]);
    let fits = |labels| family.handle(labels).labels().is_some();
    assert!(fits(&["", ""]));
    assert_eq!(others.iter().filter(|other| fits(other)).count(), 4);
}

#[test]
fn a_key_has_a_series_of_its_own_which_shows_names_and_values() {
    let family = counters(&["tenant", "region"]);
    family.with(&["acme", "eu"]).add(3);
    let values = vec![String::from("acme"), String::from("us")]; // as they come
    let lent: Vec<&str> = values.iter().map(String::as_str).collect();
    family.with(&lent).add(4);
    family.with(&["acme", "eu"]).add(5);
    drop(values);
    let all: BTreeMap<String, u64> =
        family.iter().map(|series| (shown(&series), series.sum())).collect();
    let expected = [("tenant=acme,region=eu", 8), ("tenant=acme,region=us", 4)];
    assert_eq!(all, expected.map(|(labels, sum)| (labels.to_owned(), sum)).into());
    assert_eq!((family.len(), family.refused(), family.lifetime()), (2, 0, 12));
    // Each series of a walk can be looked up.
    for series in &family {
        let labels = series.labels().unwrap();
        assert_eq!(family.get(labels).map(|counter| counter.sum()), Some(series.sum()));
        assert!(family.remove(labels));
    }
    assert_eq!((family.len(), family.lifetime()), (0, 12));
}

/// Its names and values are the series' own.
#[test]
fn a_handle_shows_its_labels_when_the_family_is_gone() {
    let family = counters(&["tenant", "region"]).with_max_series(1);
    let (kept, overflow) = (family.handle(&["acme", "eu"]), family.handle(&["acme", "us"]));
    drop(family);
    let told = thread::spawn(move || {
        kept.increment();
        (shown(&kept), kept.sum(), shown(&overflow))
    });
    let expected = ("tenant=acme,region=eu".to_owned(), 1, "overflow=true".to_owned());
    assert_eq!(told.join().unwrap(), expected);
}

#[test]
fn a_family_without_names_has_one_series() {
    let family = counters(&[]);
    family.with(&[]).add(2);
    family.with(&[]).add(3);
    family.with(&[""]).add(4);
    assert_eq!((family.len(), family.refused(), family.lifetime()), (1, 1, 9));
    assert_eq!(family.get(&[]).map(|counter| counter.sum()), Some(5));
    let mut all: Vec<_> = family.iter().map(|series| (shown(&series), series.sum())).collect();
    all.sort();
    assert_eq!(all, [(String::new(), 5), ("overflow=true".to_owned(), 4)]);
}

#[test]
fn a_static_family_takes_its_names_when_it_is_first_used() {
    static ROUTES: LazyLock<Family<RuntimeLabels, SlidingWindow<Http>>> = LazyLock::new(|| {
        let names = "route".split(',');
        let make = || SlidingWindow::builder().build().unwrap();
        Family::<_, _>::with_names_and_constructor(names, make).unwrap()
    });
    race(3, |_| ROUTES.with(&["/cart"]).add(Http::Pass, 2));
    assert_eq!(ROUTES.lifetime().stats(Http::Pass).sum, 6);
    assert_eq!(ROUTES.with(&["/cart"]).lifetime(Http::Pass).sum, 6);
}

/// A key needs a value for each name, or it counts in the overflow series.
#[test]
fn a_key_with_another_number_of_values_counts_in_the_overflow_series() {
    let many = ["x"; 1_000];
    let wrong: [&[&str]; 6] = [&[], &["a"], &["ab"], &["a", "b", ""], &["", "", ""], &many];
    for limit in [0, 10] {
        let family = counters(&["one", "two"]).with_max_series(limit);
        let before = family.refused();
        assert_eq!(before, 0);
        for (index, key) in wrong.iter().enumerate() {
            family.with(key).add(10);
            assert_eq!(family.refused(), 2 * index as u64 + 1);
            let handle = family.handle(key);
            assert_eq!((handle.labels(), shown(&handle)), (None, "overflow=true".to_owned()));
            assert!(family.get(key).is_none() && !family.remove(key));
            assert!(!family.remove_if(key, |_| panic!("there is none")));
        }
        assert_eq!((family.len(), family.iter().count(), family.lifetime()), (0, 1, 60));
        family.with(&["a", "b"]).add(1);
        assert_eq!(family.len(), limit.min(1), "there is room for another");
    }
}

#[test]
fn the_values_of_a_key_are_measured_together() {
    let family = counters(&["one", "two"]);
    let text = "x".repeat(LONGEST + 1);
    for (lengths, series, refused) in [
        ([LONGEST, 0], 1, 0),
        ([0, LONGEST], 2, 0),
        ([LONGEST / 2, LONGEST / 2], 3, 0),
        ([LONGEST / 2, LONGEST / 2 + 1], 3, 1),
        ([LONGEST + 1, 0], 3, 2),
        ([1, LONGEST], 3, 3),
    ] {
        family.with(&lengths.map(|length| &text[..length])).increment();
        assert_eq!((family.len(), family.refused()), (series, refused), "{lengths:?}");
    }
    assert_eq!(family.lifetime(), 6);
}

/// Texts that a careless key, or a careless text of an exporter, would take for others.
pub(crate) const HOSTILE: [&str; 24] = [
    "",
    "\0",
    "\0\0",
    "\n",
    "\r\n",
    "\"",
    "\\",
    "\\\"",
    "\\n",
    ",",
    "=",
    "a=\"b\"",
    "\",b=\"",
    "}",
    "a",
    "b",
    "ab",
    "abc",
    "bc",
    "c",
    "ÿ",
    "\u{fffd}",
    "购物车",
    " ",
];

#[test]
fn hostile_keys_have_series_of_their_own() {
    let family = counters(&["one", "two", "three"]).with_max_series(HOSTILE.len().pow(3));
    let mut expected = HashMap::new();
    for (one, a) in HOSTILE.iter().enumerate() {
        for (two, b) in HOSTILE.iter().enumerate() {
            for (three, c) in HOSTILE.iter().enumerate() {
                let count = (one * 10_000 + two * 100 + three + 1) as u64;
                family.with(&[a, b, c]).add(count);
                assert!(expected.insert([*a, *b, *c], count).is_none());
            }
        }
    }
    assert_eq!((family.len(), family.refused()), (expected.len(), 0));
    let mut walked = HashMap::new();
    for series in &family {
        let key: [&str; 3] = series.labels().unwrap().try_into().unwrap();
        let key = key.map(|text| *HOSTILE.iter().find(|hostile| **hostile == text).unwrap());
        assert!(walked.insert(key, series.sum()).is_none(), "{key:?} twice");
    }
    assert_eq!(walked, expected);
}

/// Texts of each length, which are compared in different ways, that differ in one byte.
#[test]
fn values_that_differ_anywhere_have_series_of_their_own() {
    let family = counters(&["one", "two"]).with_max_series(10_000);
    let text = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
    let mut count = 0;
    for length in 0..text.len() {
        let text = &text[..length];
        let others = (0..length).map(|at| format!("{}#{}", &text[..at], &text[at + 1..]));
        for other in others.chain([text.to_owned()]) {
            family.with(&[&other, ""]).increment();
            family.with(&["", &other]).increment();
            count += if other.is_empty() { 1 } else { 2 };
        }
    }
    assert_eq!((family.len(), family.refused()), (count, 0));
    let ones = family.iter().filter(|series| series.sum() == 1).count();
    assert_eq!(ones, count - 1, "all but that of two empty texts");
}

/// A lookup that finds a series, or the overflow series.
#[test]
fn a_lookup_allocates_nothing() {
    let family = counters(&["one", "two"]).with_max_series(2);
    let long = "x".repeat(LONGEST);
    let keys: [&[&str]; 6] =
        [&["a", "b"], &["", &long], &["no", "room"], &["a"], &["a", "b", "c"], &[&long, "x"]];
    let all = || keys.iter().for_each(|key| family.with(key).increment());
    all(); // the first use of each
    // A pin now and then frees what other threads have left, which may be a bag of its own.
    let least = (0..50).map(|_| peak_of(|| (0..100).for_each(|_| all())).1).min();
    assert_eq!(least, Some(0));
    let (sum, peak) = peak_of(|| family.get(keys[0]).map(|counter| counter.sum()));
    assert_eq!((sum, peak), (Some(5_001), 0));
    assert_eq!(family.refused(), 4 * 5_001);
}

#[test]
fn strange_keys_do_not_fill_the_memory() {
    let family = counters(&["one", "two"]);
    let ((), kept) = kept_by(|| {
        let filler = "x".repeat(1 << 20); // a mebibyte
        for number in 0..1_000 {
            let (number, filler) = (number.to_string(), filler.as_str());
            family.with(&[&number, filler]).increment();
            family.with(&[&number]).increment();
            family.with(&[&number, "", ""]).increment();
            family.with(&[&number, &filler[..1_000]]).increment();
        }
    });
    // At most 1 000 series, of which each has a kibibyte of texts, a counter, and a place.
    assert!(kept < 2_000_000, "{kept} bytes are kept");
    assert_eq!((family.len(), family.refused(), family.lifetime()), (1_000, 3_000, 4_000));
}

/// Threads count, keep and remove the same keys at once, and give wrong ones: nothing is lost, and
/// a key that no thread removes has exactly its own.
#[test]
fn nothing_is_lost_while_keys_come_and_go() {
    const ADDS: u64 = 40_000;
    let family = counters(&["one", "two"]).with_max_series(20);
    let stays = ["ab", "c"];
    let kept = family.handle(&stays); // found room, and keeps it
    let added = AtomicU64::new(0);
    race(3, |thread| {
        let mut random = Rng::with_seed(thread as u64);
        let mut held = None;
        for _ in 0..ADDS {
            let key = [HOSTILE[random.usize(..6)], HOSTILE[14 + random.usize(..6)]];
            match random.u8(..16) {
                0 => _ = family.remove(&key),
                1 => _ = family.retain(|_, idle| !idle.is_zero()),
                2 => held = Some(family.handle(&key)),
                3 => _ = held.take(),
                4 => family.iter().for_each(drop),
                _ => {}
            }
            match (random.u8(..8), &held) {
                (0, _) => {
                    family.with(&stays).increment();
                    added.fetch_add(1, Ordering::Relaxed);
                }
                (1, _) => family.with(&key[..1]).increment(),
                (2, Some(held)) => held.increment(),
                _ => family.with(&key).increment(),
            }
        }
    });
    assert_eq!(family.lifetime(), 3 * ADDS);
    assert_eq!(kept.sum(), added.into_inner());
    assert_eq!(family.with(&stays).sum(), kept.sum());
    drop(kept);
    family.retain(|_, _| false);
    assert_eq!((family.len(), family.lifetime()), (0, 3 * ADDS));
}
