//! Tests of the documented promises against random histories: on a disk of which each single call
//! fails once, at each place of a history; on a full disk; and on a disk that loses unsynced data
//! after a failed call.

mod history;
mod model;

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;

use self::history::{BEGIN, Bucket, Event, SECOND, history};
use self::model::{FILE_SIZE, FILES, Model, check_order, dropped_in, number, options};
use crate::entry::Entry;
use crate::options::Options;
use crate::wall::Wall;
use crate::writer::tests::forgetful::{Fault, Forgetful};

/// Plays a history to its end.
fn play(events: &[Event], options: Options, disk: &Forgetful) -> Model {
    let mut model = Model::new(disk.clone(), options);
    let mut writer = model.open();
    for event in events {
        writer = model.play(event, writer);
    }
    model.finish(writer);
    model
}

#[test]
fn histories_keep_what_is_promised() {
    for seed in 0..100 {
        let mut rng = Rng::with_seed(seed);
        let is_set = rng.bool();
        let events = history(&mut rng, is_set);
        let disk = Forgetful::new();
        let model = play(&events, options(&mut rng), &disk);
        assert!(model.errors.is_empty(), "seed {seed}: {:?}", model.errors);
        // No long bucket ends a file, nor does a restart.
        let early = model.ended_early();
        assert!(early == 0 || is_set, "seed {seed}: {early} files were ended early");
        model.read_ranges(&mut rng);
        check_order(&disk.done());
    }
}

/// A call fails once. That costs at most one error and one file, and no line.
#[test]
fn each_call_may_fail_once() {
    let (mut runs, mut failures) = (0, Vec::new());
    for seed in 0..4 {
        let mut rng = Rng::with_seed(seed);
        let events = history(&mut rng, false);
        let options = options(&mut rng);
        let disk = Forgetful::new();
        play(&events, options.clone(), &disk);
        for call in 1..=disk.calls().0 {
            for fault in [
                Fault::Refused(ErrorKind::PermissionDenied),
                Fault::Refused(ErrorKind::StorageFull),
                Fault::Halfway(ErrorKind::Other),
            ] {
                let disk = Forgetful::new();
                disk.fail(call..call + 1, fault);
                let check = AssertUnwindSafe(|| {
                    let model = play(&events, options.clone(), &disk);
                    assert!(model.errors.len() <= 1, "{:?}", model.errors);
                    assert!(model.ended_early() <= 1, "{} files", model.ended_early());
                    if call % 8 == 0 {
                        model.read_ranges(&mut Rng::with_seed(seed));
                    }
                    check_order(&disk.done());
                });
                runs += 1;
                if catch_unwind(check).is_err() {
                    failures.push((seed, call, disk.calls().1, fault));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {runs} runs: {failures:?}", failures.len());
    assert!(runs > 2_000, "{runs} runs");
}

/// All calls fail for a while, and memory is small: each line is present, or counted in a line that
/// stands where it is missing.
#[test]
fn an_outage_loses_what_has_no_room_and_says_so() {
    let mut dropped_in_all = 0;
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let disk = Forgetful::new();
        let begin = rng.usize(10..150);
        let fault = match rng.u8(..3) {
            0 => Fault::Refused(ErrorKind::PermissionDenied),
            1 => Fault::Refused(ErrorKind::NotFound),
            _ => Fault::Halfway(ErrorKind::Other),
        };
        disk.fail(begin..begin + rng.usize(2..60), fault);
        let options = options(&mut rng).files(1_000).memory(1_000);
        let mut model = Model::new(disk.clone(), options);
        let mut writer = model.open();
        for number in 1..=150 {
            writer.push(model.line(bucket(number, BEGIN)));
            let _ = writer.write();
        }
        writer.write().unwrap();
        let (mut next, mut dropped) = (1, 0);
        for file in disk.files() {
            for line in file.split_inclusive(|byte| *byte == b'\n') {
                let line = str::from_utf8(line).unwrap();
                let missing = dropped_in(line);
                dropped += missing;
                next += missing;
                if let Some(number) = number(line) {
                    assert_eq!(number, next, "seed {seed}");
                    next += 1;
                }
            }
        }
        assert_eq!((next, dropped), (151, writer.pending.dropped_ever), "seed {seed}");
        dropped_in_all += dropped;
    }
    assert!(dropped_in_all > 1_000, "{dropped_in_all}");
}

/// A dropped bucket may have ended long before the line ahead of it, if its window had its first
/// turn late. Every range that the gap touches reports it.
#[test]
fn what_was_dropped_is_told_however_far_it_goes_back() {
    let disk = Forgetful::new();
    let mut model = Model::new(disk.clone(), Options::default().memory(1_000));
    let mut writer = model.open();
    disk.set_room(Some(0));
    // Memory is full of present lines. Then come those of an hour ago.
    for number in 1..=60_u64 {
        let minutes = if number < 30 { 0 } else { number.cast_signed() - 90 };
        writer.push(model.line(bucket(number, BEGIN + minutes * 60 * SECOND)));
    }
    assert!(writer.write().is_err() && writer.pending.dropped_ever > 50);
    disk.set_room(None);
    writer.write().unwrap();
    writer.push(model.line(bucket(61, BEGIN + 10 * SECOND)));
    writer.write().unwrap();
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in disk.by_name() {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    let at = |minutes: i64| Wall::from_millis(BEGIN + minutes * 60 * SECOND).into();
    for (from, to, is_told) in
        [(-90, -70, false), (-70, -59, true), (-40, -39, true), (1, 2, false)]
    {
        let entries = crate::read(directory.path()).unwrap().between(at(from), at(to));
        let told = entries.map(Result::unwrap).any(|entry| matches!(entry, Entry::Dropped(_)));
        assert_eq!(told, is_told, "{from} to {to}");
    }
}

/// A call fails, and some time later the system fails. All lines reported as synced before the
/// error are present; only the end of what was written may be missing.
#[test]
fn a_system_may_fail_after_a_call_has() {
    for seed in 0..2_000 {
        let mut rng = Rng::with_seed(seed);
        let events = history(&mut rng, false);
        let disk = Forgetful::new();
        let call = rng.usize(1..200);
        disk.fail(call..call + 1, Fault::Halfway(ErrorKind::Other));
        let mut model = Model::new(disk.clone(), options(&mut rng).files(1_000));
        let mut writer = model.open();
        for event in &events[..rng.usize(..events.len())] {
            if matches!(event, Event::Kill) && rng.bool() {
                model.switch_format();
            }
            writer = model.play(event, writer);
        }
        let left = disk.after_failure(&mut rng).files();
        let lines = left.iter().flat_map(|file| file.split_inclusive(|byte| *byte == b'\n'));
        let there: Vec<u64> = lines.filter_map(|line| number(str::from_utf8(line).ok()?)).collect();
        let told: Vec<u64> = model.told.iter().map(|bucket| bucket.number).collect();
        assert!(told.starts_with(&there), "seed {seed}: {there:?} of {told:?}");
        assert!(there.len() >= model.synced, "seed {seed}: {} of {}", there.len(), model.synced);
    }
}

/// Returns a bucket of a second.
fn bucket(number: u64, end: i64) -> Bucket {
    Bucket { number, end, length: SECOND }
}

/// A disk that the log alone fills: it goes on, and has the newest lines.
#[test]
fn a_full_disk_loses_the_oldest_and_says_so() {
    for capacity in [10_000, 20_000, 100_000] {
        let disk = Forgetful::new();
        disk.set_room(Some(capacity));
        let mut model = Model::new(disk.clone(), Options::default());
        let mut writer = model.open();
        for number in 1..4_000 {
            let event = Event::Write(BEGIN, vec![bucket(number, BEGIN)]);
            writer = model.play_unbounded(&event, writer);
            assert_eq!(writer.pending.lines.len(), 0, "line {number} waits");
        }
        assert!(model.errors.is_empty(), "{:?}", model.errors);
        let (there, line) = (model.numbers(), 150);
        // Three quarters, less the bytes that are not lines.
        assert!(there.len() * line > capacity / 2, "{} lines in {capacity} bytes", there.len());
        assert!(writer.removed >= 4_000 * line as u64 / capacity as u64, "{}", writer.removed);
    }
}

/// A disk that other programs fill: the log's last file stays as long as new lines can wait in
/// memory, and after that the newest lines are kept.
#[test]
fn a_disk_that_others_have_filled_does_not_take_the_last_file() {
    let disk = Forgetful::new();
    let mut model = Model::new(disk.clone(), Options::default().memory(30_000));
    let mut writer = model.open();
    for number in 1..=100 {
        writer = model.play_unbounded(&Event::Write(BEGIN, vec![bucket(number, BEGIN)]), writer);
    }
    disk.set_room(Some(0));
    let mut number = 100;
    while writer.removed == 0 {
        number += 1;
        writer = model.play_unbounded(&Event::Write(BEGIN, vec![bucket(number, BEGIN)]), writer);
        let bytes = writer.pending.bytes;
        assert!(bytes < 15_000 + 200, "{bytes} bytes wait, and the file is there");
    }
    assert!(number > 180, "the file went when {number} lines were there");
    assert_eq!(writer.pending.dropped_ever, 0);
}

/// The clock is set back and forth by an hour with each write, or begins anew with each run, as
/// where no battery keeps it. That costs a file or two, and no history.
#[test]
fn a_clock_that_goes_back_and_forth_ends_few_files() {
    for does_restart in [false, true] {
        let disk = Forgetful::new();
        let options = Options::default().file_size(FILE_SIZE * 10).files(FILES);
        let mut model = Model::new(disk.clone(), options);
        let mut writer = model.open();
        for number in 1..=100 {
            let now = if number % 2 == 0 { BEGIN } else { BEGIN + 3_600 * SECOND };
            if does_restart {
                writer = model.play_unbounded(&Event::Kill, writer);
            }
            let event = Event::Write(now, vec![bucket(number, now)]);
            writer = model.play_unbounded(&event, writer);
        }
        let files = disk.files();
        let bytes: usize = files.iter().map(Vec::len).sum();
        let full = bytes / (FILE_SIZE as usize * 10);
        assert!(files.len() <= full + 3, "{} files of {bytes} bytes", files.len());
        assert_eq!(model.numbers().len(), 100);
    }
}
