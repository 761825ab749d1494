//! One limit for several processes: what they were admitted together, while some are killed.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use windrow::Clock;
use windrow::clock::Precise;
use windrow::gate::Admission;
use windrow_mapped::{File, Kind, MappedError, Pace, Reader};

use crate::books::Books;
use crate::child;

mod several;
mod spans;

const CHILD: &str = "paced::the_child_asks";

/// A period that is longer than any test, so that a test's calls share one burst.
const HOUR: Duration = Duration::from_secs(3_600);

const BURST: u64 = 1_000_000;

fn pace(file: File) -> Pace {
    file.pace("limit", &[], HOUR, BURST).unwrap()
}

/// Runs in a child: asks until the burst is used, and enters each call in the child's book.
#[test]
fn the_child_asks() {
    let Some((path, task)) = child::task() else { return };
    let (books, pace) = (Books::of(&path, "admitted"), pace(File::open(&path).unwrap()));
    let number = task.parse().unwrap();
    while pace.try_admit(1) {
        books.finish(number, 1);
    }
}

/// A period for a burst that some seconds do not use up.
const MINUTE: Duration = Duration::from_secs(60);

const GREAT: u64 = 70_000_000;

const GREAT_CHILD: &str = "paced::the_child_asks_for_more";

fn great(file: File) -> Pace {
    file.pace("great", &[], MINUTE, GREAT).unwrap()
}

/// Runs in a child: as [`the_child_asks`], until it is killed.
#[test]
fn the_child_asks_for_more() {
    let Some((path, task)) = child::task() else { return };
    let (books, pace) = (Books::of(&path, "admitted"), great(File::open(&path).unwrap()));
    let number = task.parse().unwrap();
    while pace.try_admit(1) {
        books.finish(number, 1);
    }
}

/// A child that is killed at the latest when the test is over.
struct Asker(Child);

impl Drop for Asker {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

fn start(test: &str, path: &Path, place: usize) -> Asker {
    let mut command = child::command(test, path, &place.to_string());
    Asker(command.stdout(Stdio::null()).spawn().unwrap())
}

#[test]
fn four_processes_are_admitted_the_burst_together() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let (books, pace) = (Books::of(&path, "admitted"), pace(File::open(&path).unwrap()));
    let mut askers: Vec<Asker> = (0..4).map(|place| start(CHILD, &path, place)).collect();
    assert!(askers.iter_mut().all(|asker| asker.0.wait().unwrap().success()));
    assert_eq!((books.done(), pace.left()), (BURST, 0));
}

/// Kills one of three children after another, each after some calls, wherever it is then; the
/// burst is too great to be used up meanwhile. Returns the number of killed ones.
fn kill_all(start: impl Fn(usize) -> Asker, left: impl Fn() -> u64) -> u64 {
    const KILLS: usize = 12;
    let mut askers: Vec<Asker> = (0..3).map(&start).collect();
    for killed in 0..KILLS {
        let until = left() - 5_000;
        while left() > until {
            assert!(askers[killed % 3].0.try_wait().unwrap().is_none(), "it should be asking");
            thread::yield_now();
        }
        drop(std::mem::replace(&mut askers[killed % 3], start(killed % 3)));
    }
    let last = askers.len();
    drop(askers);
    (KILLS + last) as u64
}

#[test]
fn a_killed_process_takes_its_own_call_at_most() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let begun = Instant::now();
    let (books, pace) = (Books::of(&path, "admitted"), great(File::open(&path).unwrap()));
    let killed = kill_all(|place| start(GREAT_CHILD, &path, place), || pace.left());
    let (used, done) = (GREAT - pace.left(), books.done());
    assert!(used <= done + killed, "{used} used, and {done} admitted, by {killed} killed");
    let came_back = begun.elapsed().as_secs() / MINUTE.as_secs() + 1;
    assert!(done <= used + came_back, "{done} admitted, and {used} used");
}

#[test]
fn a_pace_has_one_set_of_terms() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    let second = Duration::from_secs(1);
    let pace = |period, burst| file.pace("limit", &[("client", "a")], period, burst);
    assert!(pace(second, 2).unwrap().try_admit(2));
    assert!(!pace(second, 2).unwrap().try_admit(2));
    for (period, burst) in [(second, 3), (2 * second, 2), (2 * second, 1)] {
        match pace(period, burst).unwrap_err() {
            MappedError::OtherTerms { name, found, wanted } => {
                assert_eq!((name.as_str(), found), ("limit", vec![(second, 2)]));
                assert_eq!(wanted, [(period, burst)]);
            }
            error => panic!("{error}"),
        }
    }
    assert!(matches!(pace(Duration::ZERO, 2), Err(MappedError::BadTerms { .. })));
    let error = file.counter("limit", &[]).unwrap_err();
    assert!(matches!(error, MappedError::OtherKind { found: Some(Kind::Pace), .. }), "{error}");
    // Another client has its own. Readers pass both over.
    assert!(file.pace("limit", &[("client", "b")], HOUR, 9).unwrap().try_admit(9));
    let other = File::open(&path).unwrap();
    assert_eq!(other.pace("limit", &[("client", "b")], HOUR, 9).unwrap().left(), 0);
    file.counter("calls", &[]).unwrap().add(3);
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let sums: Vec<_> = reading.metrics().map(|metric| (metric.name(), metric.sum())).collect();
    assert_eq!(sums, [("calls", Some(3))]);
}

#[test]
fn a_key_is_a_label_and_has_its_own_pace_in_all_processes() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let keyed = |file: File| file.keyed_pace("limit", "client", HOUR, 2).unwrap();
    let [first, second] = [(); 2].map(|()| keyed(File::open(&path).unwrap()));
    assert!(first.of("a").unwrap().try_admit(2) && first.of("b").unwrap().try_admit(1));
    let left = ["a", "b", ""].map(|key| second.of(key).unwrap().left());
    assert_eq!(left, [0, 1, 2]);
    let file = File::open(&path).unwrap();
    assert_eq!(file.pace("limit", &[("client", "b")], HOUR, 2).unwrap().left(), 1);
    let other = file.keyed_pace("limit", "client", HOUR, 3).unwrap().of("a");
    let error = other.unwrap_err();
    assert!(matches!(&error, MappedError::OtherTerms { found, .. } if *found == [(HOUR, 2)]));
    let bad = file.keyed_pace("limit", "", HOUR, 3);
    assert!(matches!(bad, Err(MappedError::BadName { .. })));
}

#[test]
fn a_file_has_a_greatest_number_of_paces() {
    let file = File::builder().columns(1).names_bytes(1 << 20).sealed().unwrap();
    let clients = file.keyed_pace("limit", "client", HOUR, 1).unwrap();
    let pace = |number: u32| clients.of(&number.to_string());
    for number in 0..16_384 {
        assert!(pace(number).unwrap().try_admit(1), "{number} has the words of another one");
    }
    let error = pace(16_384).unwrap_err();
    assert!(matches!(error, MappedError::Full { part: "paces", most: 16_384, .. }), "{error}");
    assert!(!pace(7).unwrap().try_admit(1));
    file.counter("calls", &[]).unwrap();
}

/// The place of the first pace: behind the states and the slots.
const FIRST: u64 = 3 * 4096 + 64 * 512;

/// Changes the words of the only pace of a file.
fn write(path: &Path, at: u64, word: u64) {
    write_word(path, FIRST + at, word);
}

/// Changes the word at a place of a file.
fn write_word(path: &Path, place: u64, word: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&word.to_le_bytes(), place).unwrap();
}

#[test]
fn a_pace_of_another_boot_begins_anew() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().names_bytes(4096).open(&path).unwrap();
    assert!(pace(file).try_admit(BURST));
    assert_eq!(pace(File::open(&path).unwrap()).left(), 0);
    write(&path, 24, 0xb007);
    let again = pace(File::open(&path).unwrap());
    assert!(again.try_admit(BURST));
    assert_eq!(pace(File::open(&path).unwrap()).left(), 0);
}

#[test]
fn an_end_that_a_hostile_process_writes_stops_no_process() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().names_bytes(4096).open(&path).unwrap();
    let pace = pace(file);
    let far = Precise::default().now().as_nanos() + (1 << 50); // 13 days
    for end in [far, i64::MAX as u64, 1 << 63, u64::MAX] {
        write(&path, 0, end);
        let longest = Duration::from_secs(1);
        match pace.admit(BURST, longest) {
            Admission::Refused { retry_after } => {
                assert!(retry_after.is_none_or(|after| after > longest));
            }
            other => panic!("{other:?}"),
        }
        assert!(pace.reserve(BURST, longest).is_err() && pace.left() < BURST);
        assert!(!pace.idle_after().is_zero());
    }
    // Terms are compared, and never taken from the file.
    write(&path, 8, 0);
    let again = File::open(&path).unwrap().pace("limit", &[], HOUR, BURST);
    assert!(matches!(again, Err(MappedError::Damaged { value: 0, .. })));
    write(&path, 0, 0);
    assert!(pace.try_admit(1));
}

#[test]
fn a_forked_child_gives_back_nothing_of_its_parent() {
    let file = File::builder().columns(1).sealed().unwrap();
    let pace = file.pace("limit", &[], HOUR, 1).unwrap();
    pace.reserve(1, Duration::ZERO).unwrap().keep();
    let turn = pace.reserve(1, Duration::MAX).unwrap();
    // SAFETY: the child calls this crate and libc, and ends without running what belongs to the
    // parent.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_given_back = turn.cancel();
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(is_given_back)) };
    }
    let mut status = -1;
    // SAFETY: waits for a child of this process.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    let later = pace.reserve(1, Duration::MAX).unwrap();
    assert!(later.wait() > HOUR);
    drop(later);
    drop(turn);
    assert!(pace.idle_after() <= HOUR, "both turns are given back");
}

const SHIFTED: &str = "paced::the_child_is_refused";

/// Runs in a child, whose clock is another one.
#[test]
fn the_child_is_refused() {
    let Some((path, _)) = child::task() else { return };
    let error = File::open(&path).unwrap().pace("limit", &[], HOUR, BURST).unwrap_err();
    assert!(
        matches!(error, MappedError::ShiftedClock { nanoseconds: 86_400_000_000_000 }),
        "{error}"
    );
}

#[test]
fn a_process_with_another_clock_is_refused() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    assert!(pace(File::open(&path).unwrap()).try_admit(1));
    let unshare = |program: &Command| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--time", "--monotonic", "86400", "--fork"]);
        command.arg(program.get_program()).args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.output()
    };
    let is_allowed = unshare(&Command::new("true")).is_ok_and(|output| output.status.success());
    if !is_allowed {
        return println!("not run: this process may not make a time namespace");
    }
    let output = unshare(&child::command(SHIFTED, &path, "")).unwrap();
    assert!(output.status.success(), "{output:?}");
}
