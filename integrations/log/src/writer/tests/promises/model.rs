//! A model of the documented promises about a log's files: it has the lines that were handed over,
//! the number of waiting lines, and the contents of the disk. It knows nothing of how the writer
//! works.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fastrand::Rng;

use super::history::{BEGIN, Bucket, Event, SECOND};
use crate::entry::{Entry, Run};
use crate::error::LogError;
use crate::format::{Columns, Facts, Format, Kinds};
use crate::options::Options;
use crate::order::Ends;
use crate::pending::Line;
use crate::wall::Wall;
use crate::writer::Writer;
use crate::writer::tests::forgetful::Forgetful;

pub(super) const FILES: usize = 6;
pub(super) const FILE_SIZE: u64 = 900;

pub(super) fn options(rng: &mut Rng) -> Options {
    let sync_every = if rng.bool() { Duration::ZERO } else { Duration::MAX };
    let format = if rng.bool() { Format::Json } else { Format::Sentinel(Columns::default()) };
    let options = Options::default().file_size(FILE_SIZE).files(FILES);
    options.sync_every(sync_every).format(format)
}

/// A log of one history.
pub(super) struct Model {
    pub(super) disk: Forgetful,
    options: Options,
    now: i64,
    runs: u64,
    /// Lines that have left the memory for the disk.
    pub(super) told: Vec<Bucket>,
    /// The number of such lines when the run began.
    told_before: usize,
    /// Lines that were handed over and wait.
    waiting: Vec<Bucket>,
    pub(super) errors: Vec<LogError>,
    /// The number of lines on the disk that were reported as synced, since the beginning.
    pub(super) synced: usize,
    /// The number of files removed because the disk was full, as reported by all writers.
    removed: u64,
    files: BTreeMap<String, Vec<u8>>,
}

impl Model {
    pub(super) fn new(disk: Forgetful, options: Options) -> Model {
        Model {
            disk,
            options,
            now: BEGIN,
            runs: 0,
            told: Vec::new(),
            told_before: 0,
            waiting: Vec::new(),
            errors: Vec::new(),
            synced: 0,
            removed: 0,
            files: BTreeMap::new(),
        }
    }

    /// Makes the next run write the other format.
    pub(super) fn switch_format(&mut self) {
        self.options.format = match self.options.format.kind() {
            Kinds::Json => Format::Sentinel(Columns::default()),
            Kinds::Sentinel => Format::Json,
        };
    }

    /// Begins a run; again, as long as that fails.
    pub(super) fn open(&mut self) -> Writer<Forgetful> {
        self.told_before = self.told.len();
        loop {
            self.runs += 1;
            let started = SystemTime::from(Wall::from_millis(self.now));
            let run = Run { id: format!("{:016x}", self.runs), started };
            let (disk, options) = (self.disk.clone(), self.options.clone());
            match Writer::open(disk, Path::new("/log"), options, run) {
                Ok(writer) => return writer,
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// Plays an event, and checks the promises about files of [`FILE_SIZE`].
    pub(super) fn play(&mut self, event: &Event, writer: Writer<Forgetful>) -> Writer<Forgetful> {
        let writer = self.play_unbounded(event, writer);
        let longest = self.files.values().map(Vec::len).max().unwrap_or(0);
        assert!(longest <= FILE_SIZE as usize, "a file of {longest} bytes");
        writer
    }

    /// Plays an event. The process that was killed has taken what waited with it.
    pub(super) fn play_unbounded(
        &mut self,
        event: &Event,
        mut writer: Writer<Forgetful>,
    ) -> Writer<Forgetful> {
        let result = match event {
            Event::Write(now, over) => {
                self.now = *now;
                self.waiting.extend(over);
                for bucket in over {
                    writer.push(self.line(*bucket));
                }
                writer.write().map(drop)
            }
            Event::Flush => writer.write().and_then(|_| writer.sync()),
            Event::Kill => {
                self.look(&writer);
                self.waiting.clear();
                self.removed += writer.removed;
                std::mem::forget(writer);
                self.disk.kill();
                writer = self.open();
                Ok(())
            }
        };
        self.errors.extend(result.err());
        self.look(&writer);
        writer
    }

    pub(super) fn line(&self, bucket: Bucket) -> Line {
        let start = Wall::from_millis(bucket.end - bucket.length);
        let facts = Facts {
            resource: &bucket.number.to_string(),
            start,
            length: Duration::from_millis(bucket.length.unsigned_abs()),
            at: windrow::Timestamp::from_nanos(bucket.number),
            events: &[],
            distributions: &[],
        };
        let format = &self.options.format;
        Line { start, ends: Ends::at(format.end(&facts)), text: format.bucket(&facts) }
    }

    /// Checks the promises that hold after each call.
    pub(super) fn look(&mut self, writer: &Writer<Forgetful>) {
        let waiting = writer.pending.lines.len();
        self.told.extend(self.waiting.drain(..self.waiting.len() - waiting));
        // A writer does not know what the one before it has left.
        let has_written = self.told.len() > self.told_before;
        if has_written && writer.unsynced() == 0 && self.errors.is_empty() {
            self.synced = self.told.len();
        }
        let files = self.disk.by_name();
        let removed = writer.removed + self.removed;
        // Names are of consecutive numbers.
        let newer = |name: &str| {
            let number = |name: &str| name[8..18].parse::<usize>().unwrap();
            files.last_key_value().map_or(0, |(last, _)| number(last) - number(name))
        };
        let gone = self.files.keys().filter(|name| !files.contains_key(*name));
        let early = gone.filter(|name| newer(name) < self.options.files).count() as u64;
        assert!(early <= removed, "{early} files are gone too early, and {removed} are reported");
        self.files = files;
        // One may not have been removed; then it goes with the next.
        let most = self.options.files + usize::from(self.disk.calls().1.is_some());
        assert!(self.files.len() <= most, "{} files", self.files.len());
        for (name, file) in &self.files {
            let runs: Vec<&str> =
                str::from_utf8(file).map_or(vec![], |text| text.lines().filter_map(run).collect());
            let once = runs.windows(2).all(|pair| pair[0] != pair[1]);
            assert!(
                once || self.disk.calls().1.is_some(),
                "a run begins twice in {name}: {runs:?}"
            );
        }
        // Each line occurs once, in order; and the missing lines are the oldest of all that were
        // reported.
        let there = self.numbers();
        let told: Vec<u64> = self.told.iter().map(|bucket| bucket.number).collect();
        assert!(told.ends_with(&there), "{there:?} of {told:?}");
        assert!(!there.is_empty() || told.is_empty(), "nothing is left of {told:?}");
    }

    /// Returns the numbers of all lines of buckets on the disk.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let lines =
            self.files.values().flat_map(|file| file.split_inclusive(|byte| *byte == b'\n'));
        lines.filter_map(|line| number(str::from_utf8(line).ok()?)).collect()
    }

    /// Finishes without further faults: all lines are written.
    pub(super) fn finish(&mut self, mut writer: Writer<Forgetful>) {
        let errors = self.errors.len();
        self.errors.extend(writer.write().err());
        if self.errors.len() > errors {
            writer.write().expect("a second call fails");
        }
        self.look(&writer);
        assert!(self.waiting.is_empty(), "{} lines wait", self.waiting.len());
    }

    /// Returns the number of files that were ended although the first line of the next file would
    /// have fitted. A line in Sentinel's format does not have the length of its bucket, so long
    /// buckets end files there.
    pub(super) fn ended_early(&self) -> usize {
        if self.options.format.kind() == Kinds::Sentinel {
            return 0;
        }
        let files: Vec<&Vec<u8>> = self.files.values().collect();
        let is_early = |pair: &&[&Vec<u8>]| {
            let next = pair[1].split_inclusive(|byte| *byte == b'\n').take(2);
            pair[0].len() + next.map(<[u8]>::len).sum::<usize>() <= FILE_SIZE as usize
        };
        files.windows(2).filter(is_early).count()
    }

    /// Checks that a range has the same entries as a full read, filtered by the ends of the
    /// buckets.
    pub(super) fn read_ranges(&self, rng: &mut Rng) {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in &self.files {
            std::fs::write(directory.path().join(name), bytes).unwrap();
        }
        let is_json = self.options.format.kind() == Kinds::Json;
        // A line of Sentinel's is a second's.
        let end = |bucket: &Bucket| {
            if is_json { bucket.end } else { bucket.end - bucket.length + SECOND }
        };
        let there: Vec<&Bucket> =
            self.told[self.told.len() - self.numbers().len()..].iter().collect();
        for _ in 0..4 {
            let any = |rng: &mut Rng| match there.get(rng.usize(..=there.len())) {
                Some(bucket) => {
                    end(bucket) + rng.i64(-1..=1) - if rng.bool() { bucket.length } else { 0 }
                }
                None => BEGIN + rng.i64(-4_000..4_000) * SECOND,
            };
            let (from, to) = (any(rng), any(rng));
            let is_in = |bucket: &&&Bucket| from < end(bucket) && end(bucket) <= to;
            let expected: Vec<u64> =
                there.iter().filter(is_in).map(|bucket| bucket.number).collect();
            let (from, to) = (Wall::from_millis(from).into(), Wall::from_millis(to).into());
            let entries = crate::read(directory.path()).unwrap().between(from, to);
            let found: Vec<u64> = entries
                .filter_map(|entry| match entry.unwrap() {
                    Entry::Bucket(bucket) => bucket.resource.parse().ok(),
                    Entry::Second(second) => second.resource.parse().ok(),
                    _ => None,
                })
                .collect();
            assert_eq!(found, expected, "{from:?} to {to:?}");
        }
    }
}

/// Returns the number in a whole line of a bucket, in either format.
pub(super) fn number(line: &str) -> Option<u64> {
    let name = match line.strip_prefix("{\"bucket\":{\"resource\":\"") {
        Some(behind) => behind.strip_suffix("}}}\n")?.split('"').next()?,
        None => line.strip_suffix("|0\n")?.split('|').nth(2)?,
    };
    name.parse().ok()
}

/// Returns the name of the run that begins with a line.
fn run(line: &str) -> Option<&str> {
    let json = line.strip_prefix("{\"run\":{\"windrow\":1,\"id\":\"");
    json.or(line.split("%run 1 ").nth(1))?.get(..16)
}

/// Returns the number of missing lines that a line records.
pub(super) fn dropped_in(line: &str) -> u64 {
    let json =
        line.strip_prefix("{\"dropped\":{\"lines\":").and_then(|behind| behind.split(',').next());
    let sentinel = line.split("%dropped ").nth(1).and_then(|behind| behind.split(' ').next());
    json.or(sentinel).map_or(0, |lines| lines.parse().unwrap())
}

/// Each file is synced before the next is made, and the directory after that, before the file has a
/// line and before another is removed.
pub(super) fn check_order(done: &[String]) {
    let (mut unsynced, mut is_listed) = (None, true);
    for step in done {
        match step.split_once(' ') {
            Some(("write", file)) => {
                assert!(is_listed, "{step}, and the directory was not synced");
                unsynced = Some(file);
            }
            Some(("sync", "directory")) => is_listed = true,
            Some(("sync", _)) => unsynced = None,
            Some(("make", _)) => {
                assert_eq!(unsynced, None, "{step}");
                is_listed = false;
            }
            Some(("remove", _)) => assert!(is_listed, "{step}"),
            _ => {}
        }
    }
}
