//! The heaviest keys of closed buckets: their lines add up, are read again by time and by key, and
//! keep their bounds.

mod hostile;

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use testkit::Rng;
use windrow::clock::Manual;
use windrow::{HeavyKeys, SlidingWindow, Timestamp, events};
use windrow_log::{Columns, Entry, Format, Heavy, Log, LogError, Options, Skipped};

events! { enum Http { Pass: Count } }

const SECOND: Duration = Duration::from_secs(1);

/// Ten seconds in ten buckets, and their clock.
fn keys<K: windrow::heavy::Key + ?Sized>(capacity: usize) -> (HeavyKeys<K, Manual>, Manual) {
    let clock = Manual::default();
    clock.set(Timestamp::from_secs(100_000));
    let builder = HeavyKeys::builder(capacity).interval(10 * SECOND).buckets(10).shards(2);
    (builder.clock(clock.clone()).build().expect("ten seconds"), clock)
}

/// Returns the lines of heavy keys, of files in which nothing is wrong.
fn lines(directory: &Path) -> Vec<Heavy> {
    let mut entries = windrow_log::read(directory).unwrap().all();
    let heavy = |entry| if let Entry::Heavy(heavy) = entry { Some(heavy) } else { None };
    let all = entries.by_ref().map(Result::unwrap).filter_map(heavy).collect();
    assert_eq!(entries.skipped(), Skipped::default());
    all
}

/// Writes at random times, with fewer keys in a line than there are: totals add up, and each key's
/// weight lies between the sums of its bounds.
#[test]
fn lines_add_up_and_the_bounds_of_every_key_hold() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    let (keys, clock) = keys::<str>(8);
    let mut rng = Rng::with_seed(23);
    let (mut truth, mut open) = (HashMap::<String, u64>::new(), HashMap::<String, u64>::new());
    for round in 0..40 {
        for _ in 0..rng.usize(0..100) {
            let key = format!("key {}", rng.u64(0..rng.clone().u64(1..60)));
            let weight = rng.u64(1..9);
            keys.add(&key, weight);
            *open.entry(key).or_default() += weight;
        }
        clock.advance(SECOND);
        for (key, weight) in open.drain() {
            *truth.entry(key).or_default() += weight;
        }
        if rng.u64(0..3) == 0 || round % 8 == 7 {
            let mut batch = log.batch();
            // Sometimes all that are known, of which some were evicted.
            batch.add_heavy("clients", &keys, if rng.bool() { 5 } else { 100 });
            batch.write().unwrap();
        }
    }
    assert_eq!(log.unwritten().overdue, 0);
    let all = lines(directory.path());
    let total: u64 = all.iter().map(|line| line.total).sum();
    assert_eq!((total, total), (keys.lifetime(), truth.values().sum()));
    let few = all.iter().filter(|line| line.keys.len() == 5 && line.others_at_most > 0);
    let many = all.iter().filter(|line| line.keys.len() > 5 && line.others_at_most > 0);
    let counts = [few.count(), many.count()];
    assert!(counts.iter().all(|count| *count > 2), "keys are left out in {counts:?}");
    for line in &all {
        assert!(line.length == SECOND && line.resource == "clients");
        let listed: u64 = line.keys.iter().map(|key| key.at_least).sum();
        assert!(listed <= line.total);
    }
    assert!(all.is_sorted_by(|one, next| one.at + SECOND <= next.at));
    for (key, weight) in &truth {
        let bounds = all.iter().map(|line| line.bounds(key));
        let (least, most) = bounds
            .fold((0, 0), |(least, most), bounds| (least + bounds.start(), most + bounds.end()));
        assert!((least..=most).contains(weight), "{key}: {weight} in {least}..={most}");
    }
}

/// A span of time has the lines of its buckets, beside those of a window.
#[test]
fn a_span_of_time_is_found_and_lines_of_windows_are_as_without() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut of_each = Vec::new();
    for (directory, is_heavy) in directories.iter().zip([false, true]) {
        let mut log = Log::open(directory.path(), Options::default()).unwrap();
        let (keys, clock) = keys::<u64>(8);
        let builder = SlidingWindow::<Http>::builder().interval(10 * SECOND).buckets(10);
        let window = builder.clock(clock.clone()).build().unwrap();
        for second in 0..9 {
            window.add(Http::Pass, 1);
            keys.add(&second, 7);
            clock.advance(SECOND);
        }
        let mut batch = log.batch();
        batch.add("window", &window);
        if is_heavy {
            batch.add_heavy("clients", &keys, 5);
        }
        batch.write().unwrap();
        drop(log);
        let file = std::fs::read_to_string(directory.path().join("windrow-0000000001.jsonl"));
        let file = file.unwrap();
        // Except for the time of day, which has the digits that it needs.
        let behind = |line: &str| line.split_once("length_ns").map(|(_, behind)| behind.to_owned());
        let of_windows = file.lines().filter(|line| line.starts_with("{\"bucket\""));
        of_each.push(of_windows.map(behind).collect::<Vec<_>>());
    }
    assert_eq!(of_each[0].len(), 9);
    assert_eq!(of_each[0], of_each[1]);
    let all = lines(directories[1].path());
    assert_eq!(all.len(), 9);
    let from = all[3].start + SECOND / 2;
    let files = windrow_log::read(directories[1].path()).unwrap();
    let found = files.between(from, from + 2 * SECOND).map(Result::unwrap);
    let found: Vec<Heavy> = found
        .filter_map(|entry| if let Entry::Heavy(it) = entry { Some(it) } else { None })
        .collect();
    assert_eq!(found, all[3..5], "those that ended in the span");
    assert_eq!(found[0].bounds("3"), 7..=7);
    assert_eq!(found[0].bounds("4"), 0..=0);
    let now = SystemTime::now();
    let age = now.duration_since(all[8].start).unwrap();
    assert!(age >= SECOND && age < 600 * SECOND, "{age:?}");
}

#[test]
fn keys_that_strangers_choose_come_back_and_have_a_bounded_length() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    let (keys, clock) = keys::<str>(20);
    let hostile = ["", "\"}\n{\"run\":{", "\u{0}\u{18}\r\n\t\u{7f}\u{9b}\u{2028}", "\\", "购物车"];
    for key in hostile {
        keys.increment(key);
    }
    keys.add(&"é".repeat(1_000), 9);
    clock.advance(SECOND);
    let mut batch = log.batch();
    batch.add_heavy("a \"name\"\n", &keys, 100);
    batch.write().unwrap();
    let [line] = &lines(directory.path())[..] else { panic!("one bucket") };
    assert_eq!((line.resource.as_str(), line.keys.len()), ("a \"name\"\n", 6));
    assert_eq!((&*line.keys[0].key, line.keys[0].at_least), (&*"é".repeat(128), 9));
    for key in hostile {
        assert_eq!(line.bounds(key), 1..=1, "{key:?}");
    }
}

/// A key whose text is longer than any text that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Long(u8);

impl std::fmt::Display for Long {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "x{}{}", "é".repeat(200), self.0)
    }
}

#[test]
fn the_text_of_any_key_has_a_bounded_length() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    let (keys, clock) = keys::<Long>(20);
    keys.add(&Long(7), 3);
    clock.advance(SECOND);
    let mut batch = log.batch();
    batch.add_heavy("clients", &keys, 100);
    batch.write().unwrap();
    let [line] = &lines(directory.path())[..] else { panic!("one bucket") };
    assert_eq!(line.bounds(&format!("x{}", "é".repeat(127))), 3..=3);
}

#[test]
fn each_bucket_has_one_line_and_late_turns_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    let (keys, clock) = keys::<u64>(8);
    let write = |log: &mut Log| {
        let mut batch = log.batch();
        batch.add_heavy("clients", &keys, 0);
        batch.write().unwrap()
    };
    keys.increment(&1);
    assert_eq!(write(&mut log), 0, "the bucket is open");
    clock.advance(SECOND);
    assert_eq!(write(&mut log), 1);
    assert_eq!(write(&mut log), 0);
    clock.advance(9 * SECOND);
    assert_eq!((write(&mut log), log.unwritten().overdue), (0, 0));
    keys.increment(&2);
    clock.advance(10 * SECOND);
    assert_eq!((write(&mut log), log.unwritten().overdue), (0, 1));
    let [line] = &lines(directory.path())[..] else { panic!("one line") };
    assert_eq!((line.total, line.others_at_most, line.keys.len()), (1, 1, 0));
}

#[test]
fn sentinels_format_has_no_such_lines() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().format(Format::Sentinel(Columns::default()));
    let mut log = Log::open(directory.path(), options).unwrap();
    let (keys, clock) = keys::<u64>(8);
    keys.increment(&1);
    clock.advance(SECOND);
    let mut batch = log.batch();
    batch.add_heavy("clients", &keys, 3);
    let error = batch.write().unwrap_err();
    assert!(matches!(&error, LogError::NoLines { resource, .. } if resource == "clients"));
    assert_eq!(
        error.to_string(),
        "`clients` has no lines: Sentinel's format has none for heavy keys"
    );
}

/// Numbers that no log writes make a line unreadable.
#[test]
fn damaged_numbers_are_skipped_and_counted() {
    let line = |numbers: &str| {
        format!(
            "{{\"heavy\":{{\"resource\":\"a\",\"start\":\"2026-11-22T08:00:00Z\",\"length_ns\":1,\
             \"at_ns\":1,{numbers}}}}}\n"
        )
    };
    let sound = r#""total":9,"others_at_most":2,"keys":[["x",3,5]]"#;
    let head = "{\"run\":{\"windrow\":1,\"id\":\"a\",\"started\":\"1970-01-01T00:00:00Z\"}}\n";
    for (found, instead, is_read) in [
        ("3,5", "3,5", true),
        ("3,5", "6,5", false),
        ("3,5", "3,10", false),
        ("most\":2", "most\":10", false),
        ("3,5", "3", false),
        ("\"total\":9,", "", false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let text = head.to_owned() + &line(&sound.replace(found, instead));
        std::fs::write(directory.path().join("windrow-0000000001.jsonl"), text).unwrap();
        let mut entries = windrow_log::read(directory.path()).unwrap().all();
        let read = entries.by_ref().map(Result::unwrap);
        assert_eq!(
            read.filter(|it| matches!(it, Entry::Heavy(_))).count() == 1,
            is_read,
            "{instead}"
        );
        assert_eq!(entries.skipped().unreadable == 0, is_read, "{instead}");
    }
}
