//! Sums of a log by time: each number is the sum of the lines whose buckets ended in its bin.

mod changed;
#[cfg(target_os = "linux")]
mod failed;
mod hostile;
mod week;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use testkit::Rng;
use windrow::{Clock, SlidingWindow, events};
use windrow_log::{Columns, Entry, Format, Log, Options, Past, Span};

events! { enum Http { Pass: Count, Open: Signed, Rt: Value } }

const SECOND: u64 = 1_000_000_000;

/// Returns a time of the wall clock, in nanoseconds since 1970.
fn at(nanos: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)
}

fn nanos(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

fn file(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("windrow-{number:010}.jsonl"))
}

/// Returns the first line of a file whose lines may end `slack` seconds before one ahead of them.
fn head(id: &str, started: u64, slack: u64) -> String {
    let started = jiff::Timestamp::try_from(at(started)).unwrap();
    let slack = slack * SECOND;
    format!(
        "{{\"run\":{{\"windrow\":1,\"id\":\"{id}\",\"started\":\"{started}\",\"slack_ns\":{slack}}}}}\n"
    )
}

/// A line of a bucket, and what it adds.
#[derive(Clone, Debug)]
struct Line {
    resource: String,
    end: u64,
    length: u64,
    /// The count and the sum of each event.
    events: Vec<(&'static str, i128, i128)>,
}

impl Line {
    fn text(&self) -> String {
        let start = jiff::Timestamp::try_from(at(self.end - self.length)).unwrap();
        let resource = json(&self.resource);
        let mut text = format!(
            "{{\"bucket\":{{\"resource\":{resource},\"start\":\"{start}\",\"length_ns\":{},\"at_ns\":7,\"events\":{{",
            self.length
        );
        for (place, (name, count, sum)) in self.events.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            let extremes = if *name == "Rt" {
                let value = u64::try_from(*sum / *count).unwrap();
                format!(",\"min\":{value},\"max\":{}", value + 1)
            } else {
                String::new()
            };
            write!(text, "{comma}\"{name}\":{{\"count\":{count},\"sum\":{sum}{extremes}}}")
                .unwrap();
        }
        text.push_str("}}}\n");
        text
    }
}

/// Returns a text of JSON, as the log writes it.
fn json(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', r#"\""#))
}

/// The numbers of an event in a bin: count, sum, lowest and highest value.
type Numbers = (i128, i128, Option<u64>, Option<u64>);

/// Returns the sums of lines by event and bin, of a resource in the bins of a span.
fn book(lines: &[Line], resource: &str, span: &Span) -> BTreeMap<String, BTreeMap<usize, Numbers>> {
    let (start, bin) = (nanos(span.start), u64::try_from(span.bin.as_nanos()).unwrap());
    let mut book: BTreeMap<String, BTreeMap<usize, Numbers>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.resource == resource && line.end > start) {
        let place = usize::try_from((line.end - start - 1) / bin).unwrap();
        if place >= span.bins {
            continue;
        }
        for (name, count, sum) in &line.events {
            let numbers = book.entry((*name).to_owned()).or_default().entry(place).or_default();
            numbers.0 += count;
            numbers.1 += sum;
            if *name == "Rt" {
                let value = u64::try_from(*sum / *count).unwrap();
                numbers.2 = Some(numbers.2.map_or(value, |min| min.min(value)));
                numbers.3 = Some(numbers.3.map_or(value + 1, |max| max.max(value + 1)));
            }
        }
    }
    for bins in book.values_mut() {
        bins.retain(|_, numbers| *numbers != Numbers::default());
    }
    book.retain(|_, bins| !bins.is_empty());
    book
}

/// Returns the sums of a span by event and bin, without those that are zero.
fn sums(span: &Span) -> BTreeMap<String, BTreeMap<usize, Numbers>> {
    let mut all: BTreeMap<String, BTreeMap<usize, Numbers>> = BTreeMap::new();
    for event in &span.events {
        assert_eq!(event.bins.len(), span.bins);
        for (place, bin) in event.bins.iter().enumerate() {
            let numbers = (bin.count, bin.sum, bin.min, bin.max);
            if numbers != Numbers::default() {
                all.entry(event.name.clone()).or_default().insert(place, numbers);
            }
        }
    }
    all
}

fn check(past: &Past, lines: &[Line], resource: &str, range: (u64, u64), bins: usize) -> Span {
    let span = past.span(resource, at(range.0), at(range.1), bins);
    assert!(span.failed.is_empty(), "{:?}", span.failed);
    assert_eq!(sums(&span), book(lines, resource, &span), "{resource} in {range:?}");
    assert!(span.bins <= bins, "{} of {bins}", span.bins);
    let end = nanos(span.start) + u64::try_from(span.bin.as_nanos()).unwrap() * span.bins as u64;
    assert!(nanos(span.start) <= range.0 && range.1 <= end, "it covers all that was asked for");
    let bin = u64::try_from(span.bin.as_nanos()).unwrap();
    let is_in = |line: &&Line| nanos(span.start) < line.end && line.end <= end;
    let of_it = lines.iter().filter(|line| line.resource == resource).filter(is_in);
    let longest = of_it.map(|line| line.length).max().unwrap_or(0);
    assert!(bin >= longest.min(86_400 * SECOND), "bins of {bin} ns for buckets of {longest} ns");
    span
}

fn catch_up(past: &mut Past, step: u64) {
    for _ in 0..100_000 {
        if past.catch_up(step).unwrap() == 0 {
            return;
        }
    }
    panic!("it never ends");
}

const RESOURCES: [&str; 4] =
    ["/cart", "http{route=\"/cart\"}", "http{route=\"/\\\\x\",status=\"200\"}", "/car"];

/// Returns a bucket of some resource.
fn bucket(rng: &mut Rng, end: u64, length: u64) -> Line {
    let count = i128::from(rng.u64(1..50));
    let mut events = vec![("Pass", count, count)];
    if rng.bool() {
        events.push(("Rt", count, count * i128::from(rng.u64(1..100_000))));
    }
    if rng.bool() {
        let level = i128::from(rng.i64(-100..100));
        events.push(("Open", level, level));
    }
    Line { resource: RESOURCES[rng.usize(..4)].to_owned(), end, length, events }
}

/// Writes some days in files, with clocks that step back between them, a part of a line, and a line
/// that was given up.
fn write_days(directory: &Path, rng: &mut Rng, count: u64, begin: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut now = begin;
    let length = [SECOND, 10 * SECOND, 7 * SECOND / 3][rng.usize(..3)];
    for number in 1..=4 {
        let slack = if rng.bool() { 60 } else { 3_600 };
        let mut text = head(&format!("run {}", number / 2), begin + number / 2, slack);
        let mut newest = 0;
        for _ in 0..count / 4 {
            now += match rng.u8(..10) {
                0 => 0,
                1..=8 => rng.u64(..200 * SECOND),
                _ => rng.u64(..4_000 * SECOND),
            };
            // Lines end at most the slack before any ahead of them.
            let back = if rng.bool() { rng.u64(..=slack * SECOND) } else { 0 };
            let end = now.max(newest).saturating_sub(back);
            newest = newest.max(now).max(end);
            let line = bucket(rng, end, length);
            text.push_str(&line.text());
            lines.push(line);
            if rng.u8(..50) == 0 {
                text.push_str("{\"bucket\":{\"resource\":\"/cart\",\"star\u{18}\n");
            }
        }
        if number == 4 {
            text.push_str("{\"bucket\":{\"resource\":\"/cart\",\"start\":\"1970-");
        }
        fs::write(file(directory, number), text).unwrap();
        // The wall clock is set: back by hours, or on.
        now = if rng.bool() { now - 3 * 3_600 * SECOND } else { now + 5 * 3_600 * SECOND };
    }
    lines
}

/// The sums are those of the lines, with any memory: with sums by minute, by longer bins, and with
/// none at all.
#[test]
fn each_number_is_the_sum_of_the_lines_in_its_bin() {
    let mut rng = Rng::with_seed(34);
    let begin = 20_000 * 86_400 * SECOND;
    let mut lengths = BTreeMap::new();
    for round in 0..12 {
        let directory = tempfile::tempdir().unwrap();
        let lines = write_days(directory.path(), &mut rng, [40, 400, 4_000][round % 3], begin);
        let memory = [64 << 20, 2 << 20, 100][round / 3 % 3];
        let mut past = Past::new(directory.path()).memory(memory);
        catch_up(&mut past, [u64::MAX, 4_000][round % 2]);
        assert!(past.memory_used() <= memory, "{} of {memory}", past.memory_used());
        let ends = || lines.iter().map(|line| line.end);
        let (first, last) = (ends().min().unwrap(), ends().max().unwrap());
        for _ in 0..150 {
            let resource = RESOURCES[rng.usize(..4)];
            let end = lines[rng.usize(..lines.len())].end;
            let span = [1, 60, 3_600, 86_400, 7 * 86_400][rng.usize(..5)] * SECOND;
            let range = (end.saturating_sub(rng.u64(..=span)), end + rng.u64(..=span));
            let bins = [4, 20, 400][rng.usize(..3)];
            let span = check(&past, &lines, resource, range, bins);
            *lengths.entry((memory, span.bin.as_secs())).or_insert(0) += 1;
            assert_eq!((span.unread, span.unreadable, span.dropped), (0, 0, 0));
            assert_eq!(span.held, Some((at(first), at(last))));
        }
        // All of it, and nothing.
        check(&past, &lines, "/cart", (first - 1, last), 1_000);
        check(&past, &lines, "/cart", (last, last + SECOND), 4);
        let nothing = past.span("/nowhere", at(first), at(last), 10);
        assert_eq!(nothing.events, []);
        let backwards = past.span("/cart", at(last), at(first), 10);
        assert!(backwards.bins <= 1 && backwards.runs.is_empty());
    }
    let kinds = |memory| lengths.range((memory, 0)..(memory + 1, 0)).count();
    assert!([64 << 20, 2 << 20, 100].into_iter().all(|memory| kinds(memory) > 4), "{lengths:?}");
}

/// A log that grows by parts of lines, in new files, while old ones are removed.
#[test]
fn a_log_is_read_on_as_it_grows_and_loses_files() {
    let mut rng = Rng::with_seed(35);
    let directory = tempfile::tempdir().unwrap();
    let begin = 20_000 * 86_400 * SECOND;
    let mut past = Past::new(directory.path());
    assert_eq!(past.catch_up(u64::MAX).unwrap(), 0, "an empty log");
    let mut files: BTreeMap<u64, Vec<Line>> = BTreeMap::new();
    let (mut number, mut now) = (0, begin);
    let mut waiting = String::new();
    for step in 0..600 {
        if step % 100 == 0 {
            number += 1;
            fs::write(file(directory.path(), number), head("one", begin + 1, 60)).unwrap();
            files.insert(number, Vec::new());
            waiting.clear();
            if number > 3 {
                fs::remove_file(file(directory.path(), number - 3)).unwrap();
                files.remove(&(number - 3));
            }
        }
        now += rng.u64(..100 * SECOND);
        let line = bucket(&mut rng, now, SECOND);
        waiting.push_str(&line.text());
        // The line is completed by a later write, as a rule.
        let parts = rng.usize(..=waiting.len());
        let is_whole = step % 100 == 99 || rng.u8(..3) == 0;
        let taken = if is_whole { waiting.len() } else { parts.max(waiting.len() - 5) };
        let mut open =
            OpenOptions::new().append(true).open(file(directory.path(), number)).unwrap();
        open.write_all(&waiting.as_bytes()[..taken]).unwrap();
        waiting.drain(..taken);
        files.get_mut(&number).unwrap().push(line);
        if waiting.is_empty() || step % 7 == 0 {
            catch_up(&mut past, [1, 100, u64::MAX][step % 3]);
            let mut lines: Vec<Line> = files.values().flatten().cloned().collect();
            if !waiting.is_empty() {
                lines.pop(); // its end is missing
            }
            for resource in RESOURCES {
                check(&past, &lines, resource, (begin, now + 1), 400);
                check(&past, &lines, resource, (now - 100 * SECOND, now), 200);
            }
        }
    }
}

/// A directory that was emptied, in which another log has begun: names are the same.
#[test]
fn files_of_another_log_are_not_taken_for_those_that_were_read() {
    let directory = tempfile::tempdir().unwrap();
    let begin = 20_000 * 86_400 * SECOND;
    let mut past = Past::new(directory.path());
    let mut rng = Rng::with_seed(36);
    for (id, count) in [("a", 5), ("b", 5), ("c", 50), ("d", 3)] {
        let mut text = head(id, begin, 60);
        let line = |number| bucket(&mut rng, begin + number * SECOND, SECOND);
        let lines: Vec<Line> = (1..=count).map(line).collect();
        text.extend(lines.iter().map(Line::text));
        fs::write(file(directory.path(), 1), &text).unwrap();
        if id == "b" {
            // Of any length, but not of the same one: a longer last line.
            let mut open = OpenOptions::new().append(true).open(file(directory.path(), 1)).unwrap();
            write!(open, "{}", "x".repeat(10_000)).unwrap();
        }
        catch_up(&mut past, u64::MAX);
        for resource in RESOURCES {
            check(&past, &lines, resource, (begin, begin + 99 * SECOND), 100);
        }
        let span = past.span("/", at(begin - 1), at(begin + 1), 10);
        assert_eq!(span.runs.iter().map(|run| &run.id).collect::<Vec<_>>(), [id]);
    }
    fs::remove_file(file(directory.path(), 1)).unwrap();
    // Before it has looked, a file that is gone is no error.
    let span = past.span("/cart", at(begin), at(begin + 99 * SECOND), 100);
    assert!(span.failed.is_empty(), "{span:?}");
    catch_up(&mut past, u64::MAX);
    assert_eq!(past.span("/cart", at(begin), at(begin + SECOND), 9).events, []);
    fs::remove_dir(directory.path()).unwrap();
    assert_eq!(past.catch_up(1).unwrap_err().path, directory.path());
}

/// Through the log itself: rotated files, restarts, and both formats.
#[test]
fn the_past_of_a_log_is_what_its_windows_counted() {
    for format in [Format::Json, Format::Sentinel(Columns::default())] {
        let directory = tempfile::tempdir().unwrap();
        let begun = SystemTime::now();
        let window = SlidingWindow::<Http>::builder()
            .interval(Duration::from_secs(10))
            .buckets(1_000)
            .clock(windrow::clock::Precise::default())
            .build()
            .unwrap();
        let mut past = Past::new(directory.path());
        for _ in 0..4 {
            let options = Options::default().file_size(1_000).files(100).format(format.clone());
            let mut log = Log::open(directory.path(), options).unwrap();
            for value in 0..20 {
                window.add(Http::Pass, 2);
                window.add(Http::Open, -1);
                window.record(Http::Rt, value);
                let bucket = window.clock().now().as_nanos() / 10_000_000;
                while window.clock().now().as_nanos() / 10_000_000 == bucket {
                    std::thread::yield_now();
                }
                log.write("/", &window).unwrap();
            }
            past.catch_up(u64::MAX).unwrap();
        }
        let files = fs::read_dir(directory.path()).unwrap().count();
        assert!(files > 4, "{files} files");
        let end = SystemTime::now() + Duration::from_secs(3_600);
        let span = past.span("/", begun - Duration::from_secs(1), end, 10);
        let all = |name: &str| {
            let event = span.events.iter().find(|event| event.name == name);
            event.map_or(0, |event| event.bins.iter().map(|bin| bin.sum).sum())
        };
        let counted = window.lifetime(Http::Pass).sum;
        assert_eq!((all("Pass"), counted), (160, 160));
        let is_json = matches!(format, Format::Json);
        assert_eq!(all("Open"), if is_json { -80 } else { 0 });
        assert_eq!(all("Rt"), if is_json { 4 * 190 } else { 0 }, "means do not add up");
        let runs: Vec<_> = windrow_log::read(directory.path())
            .unwrap()
            .all()
            .filter_map(|entry| if let Entry::Run(run) = entry.unwrap() { Some(run) } else { None })
            .collect();
        assert_eq!((span.runs.len(), span.runs == runs, span.earlier_runs), (4, true, 0));
    }
}
