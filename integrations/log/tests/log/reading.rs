//! Reading damaged and rotated logs, and parts of a log.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use testkit::Rng;
use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{SlidingWindow, events};
use windrow_log::{Columns, Entry, Format, Log, Options};

events! { enum Http { Pass: Count, Block: Count, Rt: Value, InFlight: Maximum } }

/// Returns a time of the wall clock, in milliseconds since 1970.
fn at(millis: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

/// Returns a line of a bucket that ended at a time, in milliseconds, as a log writes it.
fn line_of(name: &str, end: u64, length: Duration) -> String {
    let start = jiff::Timestamp::try_from(at(end) - length).unwrap();
    let length = length.as_nanos();
    format!(
        "{{\"bucket\":{{\"resource\":\"{name}\",\"start\":\"{start}\",\"length_ns\":{length},\"at_ns\":1,\"events\":{{}}}}}}\n"
    )
}

/// Returns a line of a short bucket.
fn line(name: &str, end: u64) -> String {
    line_of(name, end, Duration::from_nanos(1))
}

/// Returns the first line of a file in which a line may end `slack` seconds before one ahead of it.
fn head_of(slack: u64) -> String {
    format!(
        "{{\"run\":{{\"windrow\":1,\"id\":\"a\",\"started\":\"1970-01-01T00:00:00Z\",\"slack_ns\":{slack}000000000}}}}\n"
    )
}

fn head() -> String {
    "{\"run\":{\"windrow\":1,\"id\":\"a\",\"started\":\"1970-01-01T00:00:00Z\"}}\n".to_owned()
}

/// Returns the names of the buckets that ended in a range, and the number of unreadable lines
/// there.
fn names(directory: &Path, from: u64, to: u64) -> (Vec<String>, u64) {
    let mut entries = windrow_log::read(directory).unwrap().between(at(from), at(to));
    let name = |entry| if let Entry::Bucket(bucket) = entry { Some(bucket.resource) } else { None };
    let names = entries.by_ref().map(Result::unwrap).filter_map(name).collect();
    (names, entries.skipped().unreadable)
}

fn file(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("windrow-{number:010}.jsonl"))
}

/// Lines as they may stand in a file: each ended at most the file's slack before any ahead of it,
/// however long its bucket was. Some are long, and some are damaged, the first line too.
#[test]
fn a_range_has_the_lines_that_reading_all_of_them_finds() {
    let mut rng = Rng::with_seed(7);
    for round in 0..48 {
        let directory = tempfile::tempdir().unwrap();
        let slack = [60_000, 60_000, 3_600_000, 30_000_000][round / 4 % 4];
        let (mut lines, mut newest) = (Vec::new(), 36_000_000_u64);
        let count = [3, 50, 500, 2_000][round % 4];
        let is_damaged = round % 2 == 0;
        let mut text = match (slack, is_damaged && rng.u8(..4) == 0) {
            (_, true) => "damaged\n".to_owned(),
            (60_000, false) => head(),
            (slack, false) => head_of(slack / 1_000),
        };
        for number in 0..count {
            // Times mostly advance, are often equal, and step back by up to the allowed disorder.
            let end = match rng.u8(..10) {
                0 => newest - slack,
                1 => newest - rng.u64(..slack),
                2..=5 => newest,
                6 => newest + rng.u64(..300_000 / count),
                _ => newest + rng.u64(..10_000_000 / count),
            };
            newest = newest.max(end);
            let name = format!("{number}{}", "x".repeat(rng.usize(..[1, 1, 300][round % 3])));
            if is_damaged && rng.u8(..50) == 0 {
                text.push_str("damaged\n");
            }
            let length = [1, 1_000_000_000, 3_600_000_000_000, 86_400_000_000_000][rng.usize(..4)];
            text.push_str(&line_of(&name, end, Duration::from_nanos(length)));
            lines.push((end, name));
        }
        fs::write(file(directory.path(), 1), text).unwrap();
        for _ in 0..20 {
            let any = |rng: &mut Rng| match rng.u8(..4) {
                0 => rng.u64(3_000_000..newest + 100_000),
                // Exactly when one ended, or a slack from there, or beside that.
                _ => (lines[rng.usize(..lines.len())].0 + [0, 1, slack, slack + 1][rng.usize(..4)])
                    .saturating_sub([0, 1, slack, 2 * slack][rng.usize(..4)]),
            };
            let (from, to) = (any(&mut rng), any(&mut rng));
            let is_in = |end: u64| end > from && end <= to;
            let expected: Vec<_> =
                lines.iter().filter(|line| is_in(line.0)).map(|line| line.1.clone()).collect();
            let (found, unreadable) = names(directory.path(), from, to);
            assert_eq!(found, expected, "round {round}: {from} to {to}");
            assert!(unreadable == 0 || is_damaged, "it began in the middle of a line");
        }
    }
}

/// A short range of a long file is found without reading the file: so damage elsewhere is not even
/// seen.
#[test]
fn a_range_is_found_without_reading_what_is_far_from_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = head();
    for second in 0..40_000 {
        text.push_str(&line("a", second * 1_000));
        text.push_str("damaged\n");
    }
    fs::write(file(directory.path(), 1), text).unwrap();
    let mut entries =
        windrow_log::read(directory.path()).unwrap().between(at(20_000_000), at(20_010_000));
    assert_eq!(entries.by_ref().count(), 10);
    // Two minutes around ten seconds, and less than a page of 4 KiB before them.
    let looked_at = entries.skipped().unreadable;
    assert!((130..=190).contains(&looked_at), "{looked_at}");
}

#[test]
fn a_torn_line_is_told_and_nothing_is_glued_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), 1);
    let whole = format!("{}{}", head(), line("one", 1_000));
    let torn = line("two", 2_000);
    for cut in 0..torn.len() {
        fs::write(&path, format!("{whole}{}", &torn[..cut])).unwrap();
        let read = || {
            let mut entries = windrow_log::read(directory.path()).unwrap().all();
            let all: Vec<Entry> = entries.by_ref().map(Result::unwrap).collect();
            assert_eq!(entries.skipped().unreadable, 0);
            (all, entries.skipped().torn)
        };
        let expected = u64::from(cut > 0);
        let (before, skipped) = read();
        assert_eq!((before.len(), skipped), (2, expected));
        drop(Log::open(directory.path(), Options::default()).unwrap()); // begins a run
        let (after, skipped) = read();
        assert_eq!((after.len(), skipped), (3, expected), "cut at {cut}");
        assert_eq!(before, after[..2]);
        assert!(matches!(after[2], Entry::Run(_)));
    }
}

/// Bytes that change, in the middle of files of both formats: never a panic, and no line is lost
/// but those that were hit and, where a newline was, those beside it.
#[test]
fn damaged_lines_are_skipped_and_counted() {
    let mut rng = Rng::with_seed(3);
    for format in [Format::Json, Format::Sentinel(Columns::default())] {
        let directory = tempfile::tempdir().unwrap();
        write_some(directory.path(), format, 60);
        let path = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some())
            .unwrap();
        let sound = fs::read(&path).unwrap();
        let lines = sound.split_inclusive(|byte| *byte == b'\n').count() as u64;
        let mut unreadable = 0;
        for _ in 0..300 {
            let mut damaged = sound.clone();
            let hits = rng.u64(1..4);
            for _ in 0..hits {
                let index = rng.usize(..damaged.len());
                damaged[index] = rng.u8(..);
            }
            fs::write(&path, &damaged).unwrap();
            let mut entries = windrow_log::read(directory.path()).unwrap().all();
            let read = entries.by_ref().map(Result::unwrap).count() as u64;
            let skipped = entries.skipped();
            unreadable += skipped.unreadable;
            // A run that is returned twice, because its name changed, counts as one more.
            assert!(read + 2 * hits >= lines, "{read} of {lines} after {hits} hits");
            assert!(read + skipped.unreadable + skipped.torn <= lines + hits);
        }
        assert!(unreadable > 100, "{unreadable}");
    }
}

/// Counts and logs for some seconds of a manual clock.
fn write_some(directory: &Path, format: Format, seconds: u64) {
    let clock = Manual::default();
    let builder = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
    let window = builder.clock(clock.clone()).build().unwrap();
    let mut log = Log::open(directory, Options::default().format(format)).unwrap();
    for second in 0..seconds {
        window.add(Http::Pass, second);
        window.add(Http::Block, 1);
        window.record(Http::Rt, 7);
        window.record(Http::Rt, 10);
        window.record(Http::InFlight, second % 5);
        clock.advance(Duration::from_secs(1));
        log.write("a|b\n%", &window).unwrap();
    }
}

#[test]
fn lines_of_sentinel_have_what_its_columns_name() {
    let directory = tempfile::tempdir().unwrap();
    let columns = Columns { concurrency: "InFlight", classification: 1, ..Columns::default() };
    write_some(directory.path(), Format::Sentinel(columns), 10);
    let text = fs::read_to_string(directory.path().join("windrow-0000000001.log")).unwrap();
    let fields: Vec<&str> = text.lines().nth(3).unwrap().split('|').collect();
    assert_eq!(fields[2..], ["a%7Cb%0A%25", "2", "1", "0", "0", "8", "0", "2", "1"]);
    let mut seconds = Vec::new();
    let mut entries = windrow_log::read(directory.path()).unwrap().all();
    for entry in &mut entries {
        match entry.unwrap() {
            Entry::Second(second) => seconds.push(second),
            Entry::Run(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(entries.skipped().unreadable, 0);
    assert_eq!((seconds.len(), seconds.iter().map(|second| second.pass).sum()), (10, 45_u64));
    let third = &seconds[2];
    assert_eq!((third.resource.as_str(), third.block, third.rt), ("a|b\n%", 1, 8));
    assert_eq!((third.concurrency, third.classification, third.success), (2, 1, 0));
    // The date occurs twice: in milliseconds, and as text.
    let millis = third.start.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(fields[0], millis.to_string());
    let date = jiff::Timestamp::from_millisecond(i64::try_from(millis).unwrap()).unwrap();
    assert_eq!(fields[1], date.strftime("%Y-%m-%d %H:%M:%S").to_string());
}

/// An event of all operations has the refused ones too: Sentinel's pass does not.
#[test]
fn requests_without_the_refused_ones_are_sentinels_pass() {
    events! { enum All { Request: Count, Block: Count } }
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().format(Format::Sentinel(Columns::default()));
    let mut log = Log::open(directory.path(), options).unwrap();
    let clock = Manual::default();
    let window = SlidingWindow::<All>::builder().clock(clock.clone()).build().unwrap();
    // In the last the block of an earlier request.
    for (requests, blocks) in [(100, 40), (7, 0), (0, 1)] {
        window.add(All::Request, requests);
        window.add(All::Block, blocks);
        clock.advance(window.bucket_length());
        log.write("checkout", &window).unwrap();
    }
    let passed = windrow_log::read(directory.path()).unwrap().all().filter_map(|entry| match entry
        .unwrap()
    {
        Entry::Second(second) => Some((second.pass, second.block)),
        _ => None,
    });
    assert_eq!(passed.collect::<Vec<_>>(), [(60, 40), (7, 0), (0, 1)]);
}

/// A window with none of the events that the columns name is refused, and not drained.
#[test]
fn a_window_that_sentinels_line_says_nothing_of_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let columns = Columns { pass: "Ok", block: "No", rt: "Ms", ..Columns::default() };
    let options = Options::default().format(Format::Sentinel(columns));
    let mut log = Log::open(directory.path(), options).unwrap();
    let clock = Manual::default();
    let window = SlidingWindow::<Http>::builder().clock(clock.clone()).build().unwrap();
    window.add(Http::Pass, 1);
    clock.advance(Duration::from_millis(500));
    let error = log.write("checkout", &window).unwrap_err();
    assert!(error.to_string().contains("`checkout`"), "{error}");
    window.close_past();
    assert_eq!(window.drain_closed(|bucket| assert_eq!(bucket.sum(Http::Pass), 1)), 1);
}

#[test]
fn files_that_are_removed_meanwhile_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    for number in 1..=3 {
        let text = format!("{}{}", head(), line(&number.to_string(), number * 1_000));
        fs::write(file(directory.path(), number), text).unwrap();
    }
    let mut entries = windrow_log::read(directory.path()).unwrap().all();
    // The first is open, and the second is not.
    let first: Vec<_> = entries.by_ref().take(2).map(Result::unwrap).collect();
    assert_eq!(first.len(), 2);
    fs::remove_file(file(directory.path(), 1)).unwrap();
    fs::remove_file(file(directory.path(), 2)).unwrap();
    assert_eq!(entries.by_ref().map(Result::unwrap).count(), 1, "the run was returned before");
    assert_eq!(entries.skipped().removed, 1);
}

#[test]
fn old_files_are_removed_and_names_sort() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Manual::default();
    let builder = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
    let window = builder.clock(clock.clone()).build().unwrap();
    let options = Options::default().file_size(1_000).files(3);
    let mut log = Log::open(directory.path(), options).unwrap();
    for _ in 0..100 {
        window.add(Http::Pass, 1);
        clock.advance(Duration::from_secs(1));
        log.write("/", &window).unwrap();
    }
    let mut files: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != "lock")
        .map(|entry| (entry.file_name(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    assert_eq!(files.len(), 3);
    assert!(files.iter().all(|(_, length)| *length <= 1_000), "{files:?}");
    let entries = windrow_log::read(directory.path()).unwrap().all().map(Result::unwrap);
    let starts: Vec<_> = entries
        .filter_map(|entry| if let Entry::Bucket(bucket) = entry { Some(bucket.at) } else { None })
        .collect();
    assert!(starts.is_sorted() && starts.len() > 10);
    assert_eq!(starts.last().map(|at| at.as_nanos() / 1_000_000_000), Some(99));
}

/// A dropped bucket may have begun long before the line that records it.
#[test]
fn what_was_dropped_is_told_of_each_range_that_it_touches() {
    let directory = tempfile::tempdir().unwrap();
    let dropped = "{\"dropped\":{\"lines\":9,\"from\":\"1970-01-01T01:00:00Z\",\"to\":\"1970-01-01T03:00:00Z\"}}\n";
    let mut text = head();
    (0..3_600).for_each(|second| text.push_str(&line("a", second * 1_000)));
    text.push_str(dropped);
    (10_800..14_400).for_each(|second| text.push_str(&line("b", second * 1_000)));
    fs::write(file(directory.path(), 1), text).unwrap();
    for (from, to, is_told) in [
        (0, 3_600, false),
        (0, 3_601, true),
        (4_000, 4_001, true),
        (10_799, 10_800, true),
        (10_800, 10_801, false),
    ] {
        let entries =
            windrow_log::read(directory.path()).unwrap().between(at(from * 1_000), at(to * 1_000));
        let told = entries.map(Result::unwrap).any(|entry| matches!(entry, Entry::Dropped(_)));
        assert_eq!(told, is_told, "{from} to {to}");
    }
}

/// An entry with the name of a file that is not a regular file blocks no reader, and is counted.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for number in [1, 6] {
        fs::write(file(path, number), format!("{}{}", head(), line("a", number * 1_000))).unwrap();
    }
    make_pipe(&file(path, 2));
    fs::create_dir(file(path, 3)).unwrap();
    std::os::unix::fs::symlink(file(path, 1), file(path, 4)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", file(path, 5)).unwrap();
    let mut entries = windrow_log::read(path).unwrap().all();
    let count = entries.by_ref().map(Result::unwrap).count();
    assert_eq!((count, entries.skipped().foreign), (3, 4));
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a text that ends with zero.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// Says to a child process which directory is meant.
#[cfg(unix)]
const DIRECTORY: &str = "WINDROW_LOG_TEST_DIRECTORY";

/// A line of a gibibyte takes no gibibyte of memory, and the lines beside it are read.
#[cfg(unix)]
#[test]
fn a_line_without_end_is_passed_over() {
    use std::os::unix::fs::FileExt;

    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), 1);
    fs::write(&path, format!("{}{}", head(), line("before", 1_000))).unwrap();
    let behind = format!("\n{}", line("behind", 2_000));
    // A hole reads as zeros.
    let open = fs::OpenOptions::new().write(true).open(&path).unwrap();
    open.write_all_at(behind.as_bytes(), 1 << 30).unwrap();
    let path = directory.path().to_str().unwrap();
    testkit::alone::run("reading::reading_with_little_memory", &[(DIRECTORY, path)]);
}

#[cfg(unix)]
#[test]
#[ignore = "run by another test, in a process of its own"]
fn reading_with_little_memory() {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).expect("run by another test"));
    let limit = libc::rlimit { rlim_cur: 500 << 20, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the struct lives as long as the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let all = |entries: windrow_log::Entries| {
        let mut entries = entries;
        (entries.by_ref().map(Result::unwrap).count(), entries.skipped().unreadable)
    };
    assert_eq!(all(windrow_log::read(&directory).unwrap().all()), (3, 1));
    // A search looks into the middle of it.
    assert_eq!(names(&directory, 1_999, 2_000).0, ["behind"]);
    assert_eq!(names(&directory, 999, 1_000).0, ["before"]);
}
