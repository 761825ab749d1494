//! Writing to a disk that is full, and to one that forgets.

mod forgetful;
mod promises;

use std::time::{Duration, SystemTime};

use fastrand::Rng;

use self::forgetful::Forgetful;
use super::*;
use crate::entry::{Dropped, Entry};
use crate::format::{Facts, GIVEN_UP, Kinds};
use crate::lines;
use crate::order::Ends;
use crate::wall::Wall;

fn run(id: &str) -> Run {
    Run { id: id.to_owned(), started: SystemTime::from(Wall::from_millis(1_000_000)) }
}

fn writer(disk: &Forgetful, id: &str, options: Options) -> Writer<Forgetful> {
    Writer::open(disk.clone(), Path::new("/log"), options, run(id)).unwrap()
}

/// Returns a line of a bucket that begins `millis` after the run. `number` is its name.
fn line(number: u64, millis: i64) -> Line {
    let start = Wall::from_millis(1_000_000 + millis);
    let at = windrow::Timestamp::from_nanos(number);
    let facts = Facts {
        resource: &number.to_string(),
        start,
        length: Duration::ZERO,
        at,
        events: &[],
        distributions: &[],
    };
    let text = Options::default().format.bucket(&facts);
    Line { start, ends: Ends::at(start), text }
}

/// Returns the numbers of all lines on a disk, file by file; and the number of other lines that are
/// not lines of runs.
fn numbers(disk: &Forgetful) -> (Vec<Vec<u64>>, u64) {
    let mut others = 0;
    let mut of = |file: Vec<u8>| {
        let mut numbers = Vec::new();
        let lines = file.split_inclusive(|byte| *byte == b'\n');
        for line in lines {
            let whole = line.strip_suffix(b"\n");
            match whole
                .and_then(|line| Kinds::Json.decode(line))
                .map(|line| line.content.into_entry())
            {
                Some(Entry::Bucket(bucket)) => numbers.push(bucket.resource.parse().unwrap()),
                Some(Entry::Run(_)) => {}
                _ => others += 1,
            }
        }
        numbers
    };
    (disk.files().into_iter().map(&mut of).collect(), others)
}

#[test]
fn files_are_ended_before_others_are_begun() {
    let disk = Forgetful::new();
    let length = line(0, 0).text.len() as u64;
    let options = Options::default().file_size(length * 2).files(2).sync_every(Duration::MAX);
    let mut writer = writer(&disk, "a", options);
    let begin =
        ["make windrow-0000000001.jsonl", "sync directory", "write windrow-0000000001.jsonl"];
    assert_eq!(disk.done(), begin);
    for number in 1..=3 {
        writer.push(line(number, 0));
    }
    assert_eq!(writer.write().unwrap(), 3);
    let done = disk.done();
    let steps: Vec<&str> = done.iter().map(String::as_str).collect();
    // With its run, a file has room for one line.
    let (one, two, three) =
        ("windrow-0000000001.jsonl", "windrow-0000000002.jsonl", "windrow-0000000003.jsonl");
    let expected = [
        format!("write {one}"),
        format!("sync {one}"),
        format!("make {two}"),
        "sync directory".to_owned(),
        format!("write {two}"),
        format!("write {two}"),
        format!("sync {two}"),
        format!("make {three}"),
        "sync directory".to_owned(),
        format!("write {three}"),
        format!("remove {one}"),
        format!("write {three}"),
    ];
    assert_eq!(steps, expected);
    assert_eq!(numbers(&disk), (vec![vec![2], vec![3]], 0));
}

#[test]
fn what_finds_no_room_waits_and_is_written_once() {
    for can_truncate in [true, false] {
        let disk = Forgetful::new();
        disk.set_can_truncate(can_truncate);
        let mut writer = writer(&disk, "a", Options::default());
        let mut rng = Rng::with_seed(1);
        let mut next = 0;
        for round in 0..200 {
            // Room for a part of it, which may end anywhere; every fourth time for all.
            let room = if round % 4 == 3 { None } else { Some(rng.usize(..400)) };
            disk.set_room(room);
            for _ in 0..rng.u64(1..4) {
                next += 1;
                writer.push(line(next, 0));
            }
            let result = writer.write();
            let waiting = writer.pending.lines.len();
            assert_eq!(result.is_ok(), waiting == 0);
            if let Err(error) = result {
                let LogError::Failed { step: Step::Write, path, error } = error else { panic!() };
                assert_eq!(path, Path::new("/log/windrow-0000000001.jsonl"));
                assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            }
            let (there, others) = numbers(&disk);
            let there: Vec<u64> = there.into_iter().flatten().collect();
            // In order, each once, and what does not wait is there.
            assert_eq!(there, (1..=next - waiting as u64).collect::<Vec<_>>());
            assert!(others == 0 || !can_truncate, "a part of a line is left");
        }
        disk.set_room(None);
        writer.write().unwrap();
        assert_eq!(numbers(&disk).0.concat(), (1..=next).collect::<Vec<_>>());
        let text = disk.files().concat();
        let torn = text.windows(2).filter(|bytes| bytes == &[GIVEN_UP, b'\n']).count() as u64;
        assert_eq!(numbers(&disk).1, torn, "each part of a line is marked");
        assert_eq!(torn == 0, can_truncate);
    }
}

#[test]
fn what_finds_no_room_in_memory_is_dropped_and_that_is_said() {
    let disk = Forgetful::new();
    let room = (10..15).map(|number| line(number, number.cast_signed()).text.len()).sum();
    let mut writer = writer(&disk, "a", Options::default().memory(room));
    disk.set_room(Some(0));
    for number in 10..30 {
        writer.push(line(number, number.cast_signed()));
        assert!(writer.write().is_err());
        let (waiting, bytes) = (writer.pending.lines.len(), writer.pending.bytes);
        assert!(waiting <= 5 && bytes <= room);
    }
    assert_eq!(writer.pending.dropped_ever, 15);
    disk.set_room(None);
    assert_eq!(writer.write().unwrap(), 6);
    writer.push(line(30, 30));
    assert_eq!(writer.write().unwrap(), 1);
    assert_eq!(numbers(&disk).0, [[10, 11, 12, 13, 14, 30]]);
    let text = String::from_utf8(disk.files().concat()).unwrap();
    let said = text.lines().nth(6).unwrap();
    let Some(Entry::Dropped(dropped)) =
        Kinds::Json.decode(said.as_bytes()).map(|line| line.content.into_entry())
    else {
        panic!("{text}")
    };
    let at = |millis: i64| SystemTime::from(Wall::from_millis(1_000_000 + millis));
    assert_eq!(dropped, Dropped { lines: 15, from: at(15), to: at(29) });
}

/// Such a line is dropped even if memory is free: no reader would take it.
#[test]
fn a_line_that_is_too_long_is_dropped_and_that_is_said() {
    let disk = Forgetful::new();
    let mut writer = writer(&disk, "a", Options::default().memory(usize::MAX));
    writer.push(line(1, 1));
    writer.push(Line { text: vec![b'x'; lines::LONGEST + 1], ..line(2, 2) });
    writer.push(line(3, 3));
    assert_eq!(writer.write().unwrap(), 3);
    assert_eq!(writer.pending.dropped_ever, 1);
    assert_eq!(numbers(&disk), (vec![vec![1, 3]], 1));
}

/// The system fails at a random moment and loses unsynced data. All lines acknowledged as synced
/// are present; only the end is missing; no line occurs twice; and the next run continues behind
/// it.
#[test]
fn a_failing_system_takes_only_the_end_of_what_was_not_synced() {
    let mut torn = 0;
    for seed in 0..400 {
        let mut rng = Rng::with_seed(seed);
        let mut disk = Forgetful::new();
        let (mut next, mut expected) = (0, Vec::new());
        for run in 0..4 {
            let options = Options::default().file_size(600).files(1_000);
            let sync_every = if rng.bool() { Duration::ZERO } else { Duration::MAX };
            let mut writer = writer(&disk, &run.to_string(), options.sync_every(sync_every));
            let mut acknowledged = expected.len();
            for _ in 0..rng.usize(..12) {
                for _ in 0..rng.usize(1..4) {
                    next += 1;
                    expected.push(next);
                    writer.push(line(next, 0));
                }
                writer.write().unwrap();
                if sync_every.is_zero() {
                    assert_eq!(writer.unsynced(), 0);
                }
                if writer.unsynced() == 0 {
                    acknowledged = expected.len();
                }
            }
            disk = disk.after_failure(&mut rng);
            let (files, others) = numbers(&disk);
            torn += others;
            let there = files.concat();
            assert!(there.len() >= acknowledged, "seed {seed}: {acknowledged} of {there:?}");
            assert_eq!(there, expected[..there.len()], "seed {seed}: a gap");
            expected = there;
        }
    }
    assert!(torn > 100, "{torn} parts of lines");
}

/// A file that was moved away has its lines on the disk before the next has any.
#[test]
fn a_file_that_is_gone_is_synced_before_another_is_begun() {
    let disk = Forgetful::new();
    let mut writer = writer(&disk, "a", Options::default().sync_every(Duration::MAX));
    writer.push(line(1, 0));
    writer.write().unwrap();
    let _ = disk.done();
    disk.remove(Path::new("/log/windrow-0000000001.jsonl")).unwrap();
    writer.push(line(2, 0));
    writer.write().unwrap();
    let done = disk.done();
    let [_, synced, made, ..] = &done[..] else { panic!("{done:?}") };
    assert!(synced.starts_with("sync windrow") && made.starts_with("make"), "{done:?}");
}

#[test]
fn a_bucket_that_begins_too_early_for_its_file_is_in_another() {
    let disk = Forgetful::new();
    let mut writer = writer(&disk, "a", Options::default());
    // A minute back is in order. More is not; and two minutes are, in the file after it.
    for (number, millis) in
        [(1, 100_000), (2, 40_000), (3, 39_999), (4, 200_000), (5, 80_000), (6, 79_999)]
    {
        writer.push(line(number, millis));
    }
    writer.write().unwrap();
    assert_eq!(numbers(&disk).0, [vec![1, 2], vec![3, 4, 5], vec![6]]);
    let slacks = disk.files().into_iter().map(|file| {
        let first = file.split(|byte| *byte == b'\n').next().unwrap();
        Kinds::Json.decode(first).unwrap().slack.unwrap().as_secs()
    });
    assert_eq!(slacks.collect::<Vec<_>>(), [60, 120, 240]);
}

/// Only the end of a long file is read.
#[test]
fn a_run_goes_on_in_a_file_only_where_that_keeps_its_order() {
    for (count, last, first, goes_on) in [
        (3, 0, -60_000, true),
        (3, 0, -60_001, false),
        // Lines that were not read may end a minute after the last.
        (2_000, 0, 0, true),
        (2_000, 0, -1, false),
    ] {
        let disk = Forgetful::new();
        let mut first_run = writer(&disk, "a", Options::default());
        for number in 0..count {
            first_run.push(line(number, last));
        }
        first_run.write().unwrap();
        drop(first_run);
        let mut second_run = writer(&disk, "b", Options::default());
        second_run.push(line(count, first));
        second_run.write().unwrap();
        let files = numbers(&disk).0;
        assert_eq!(files.len() == 1, goes_on, "{count} lines, then one at {first}");
        assert_eq!(files.concat().len() as u64, count + 1);
    }
}

/// The line of a run is of the time when it was opened. Buckets may have ended long before, if
/// windows are older than their log.
#[test]
fn lines_that_ended_before_their_run_are_found() {
    let disk = Forgetful::new();
    for (number, id) in [(1, "a"), (2, "b")] {
        let mut writer = writer(&disk, id, Options::default());
        writer.push(line(number, -200_000));
        writer.write().unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in disk.by_name() {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    let at = |millis: i64| Wall::from_millis(1_000_000 + millis).into();
    let found = crate::read(directory.path()).unwrap().between(at(-200_001), at(-200_000));
    let is_bucket = |entry: &Entry| matches!(entry, Entry::Bucket(_));
    assert_eq!(found.map(Result::unwrap).filter(is_bucket).count(), 2);
}

#[test]
fn what_was_written_is_synced_when_that_is_due() {
    let disk = Forgetful::new();
    let span = Duration::from_millis(20);
    let mut writer = writer(&disk, "a", Options::default().sync_every(span));
    let begun = Instant::now();
    writer.push(line(1, 0));
    writer.write().unwrap();
    let unsynced = writer.unsynced();
    assert!(unsynced == 1 || begun.elapsed() >= span, "synced too early");
    std::thread::sleep(span);
    writer.write().unwrap(); // although it writes nothing
    assert_eq!(writer.unsynced(), 0);
}

/// Waiting lines do not keep written lines from the disk.
#[test]
fn what_was_written_is_synced_though_lines_wait() {
    let disk = Forgetful::new();
    let mut writer = writer(&disk, "a", Options::default().sync_every(Duration::ZERO));
    disk.set_room(Some(200));
    for number in 1..=5 {
        writer.push(line(number, 0));
    }
    assert!(writer.write().is_err());
    let waiting = writer.pending.lines.len();
    assert!((1..5).contains(&waiting) && writer.unsynced() == 0, "{waiting} wait");
}

/// No file is begun behind one that may be incomplete, either.
#[test]
fn a_sync_that_fails_is_told_and_no_line_is_written_again() {
    let disk = Forgetful::new();
    let options = Options::default().file_size(400).sync_every(Duration::ZERO);
    let mut writer = writer(&disk, "a", options);
    disk.set_can_sync(false);
    for number in 1..=5 {
        writer.push(line(number, 0));
        let error = writer.write().unwrap_err();
        assert!(matches!(error, LogError::Failed { step: Step::Sync, .. }), "{error}");
    }
    let waiting = writer.pending.lines.len();
    assert_eq!(numbers(&disk).0, [(1..=5 - waiting as u64).collect::<Vec<_>>()]);
    assert!(waiting > 0, "the file is full");
    disk.set_can_sync(true);
    assert_eq!(writer.write().unwrap(), waiting);
    assert_eq!(numbers(&disk).0.concat(), [1, 2, 3, 4, 5]);
}

/// A process that ends as soon as it has begun, many times, fills files with runs: none of them
/// beyond its size.
#[test]
fn runs_without_lines_keep_to_the_size_of_files() {
    let disk = Forgetful::new();
    for number in 0..20 {
        drop(writer(&disk, &number.to_string(), Options::default().file_size(400).files(100)));
    }
    let files = disk.files();
    assert!(files.len() > 3 && files.iter().all(|file| file.len() <= 400), "{files:?}");
}
