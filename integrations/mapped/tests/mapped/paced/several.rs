//! Several limits for several processes: what they were admitted together, while some are killed.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use windrow::LimitError;
use windrow::gate::Admission;
use windrow_mapped::{File, Kind, MappedError, Pace, Paces, Reader};

use super::{HOUR, MINUTE, kill_all, start, write_word};
use crate::books::Books;
use crate::child;

const CHILD: &str = "paced::several::the_child_asks";

/// The first limit has more than the second one: so all calls share the burst of the second one.
const BURST: u64 = 35_000_000;
const LIMITS: [(Duration, u64); 3] = [(MINUTE, BURST + 7), (MINUTE, BURST), (MINUTE, 2 * BURST)];

fn paces(file: File) -> Paces {
    file.paces("limits", &[], &LIMITS).unwrap()
}

fn open(path: &Path) -> File {
    File::builder().names_bytes(4096).open(path).unwrap()
}

/// Runs in a child: asks until it is killed, and enters each call in the child's book.
#[test]
fn the_child_asks() {
    let Some((path, task)) = child::task() else { return };
    let (books, paces) = (Books::of(&path, "admitted"), paces(File::open(&path).unwrap()));
    let number = task.parse().unwrap();
    while paces.try_admit(1) {
        books.finish(number, 1);
    }
}

/// Returns the words of the only limits of a file: the head's, and those of each limit's cell.
fn cells(path: &Path) -> [[u64; 2]; 4] {
    let mut bytes = [0; 256];
    fs::File::open(path).unwrap().read_exact_at(&mut bytes, WORDS).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    [0, 64, 96, 128].map(|at| [word(at), word(at + 8)])
}

/// The place of those words, behind the paces' but for the last 256 bytes.
const WORDS: u64 = super::FIRST + 16_384 * 64 - 256;

#[test]
fn a_killed_process_takes_its_own_call_at_most_and_of_all_limits_alike() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let paces = paces(open(&path));
    let books = Books::of(&path, "admitted");
    let killed = kill_all(|place| start(CHILD, &path, place), || paces.left());
    assert!(paces.left() > 0); // settles the last call
    // The number of calls is the version; all limits have admitted the same.
    let [head, cells @ ..] = cells(&path);
    let (used, done) = (head[1] >> 32, books.done());
    assert!(cells.iter().all(|cell| *cell == [cells[0][0], used]), "{head:?} {cells:?}");
    assert!((done..=done + killed).contains(&used), "{done} admitted, and {used} used");
}

#[test]
fn a_refused_call_has_taken_nothing_of_any_limit() {
    let file = File::builder().columns(1).sealed().unwrap();
    let limits = [(HOUR, 2), (2 * HOUR, 5), (Duration::from_nanos(1), 1 << 40)];
    let paces = file.paces("limits", &[], &limits).unwrap();
    assert_eq!((paces.left(), paces.idle_after()), (2, Duration::ZERO));
    assert!(paces.try_admit(2) && !paces.try_admit(1));
    let wait = match paces.admit(3, Duration::ZERO) {
        Admission::Refused { retry_after } => retry_after,
        other => panic!("{other:?}"),
    };
    assert_eq!(wait, None, "three are above the burst of the first limit");
    let turn = paces.reserve(2, 3 * HOUR).unwrap();
    assert!(turn.wait() <= 2 * HOUR && turn.wait() > HOUR);
    assert!(paces.reserve(1, HOUR).is_err());
    assert!(paces.idle_after() > 7 * HOUR, "four units of two hours");
    drop(turn);
    assert!(paces.idle_after() <= 4 * HOUR);
    // One limit is a pace.
    let one = file.paces("one", &[], &[(HOUR, 2)]).unwrap();
    let pace: Pace = file.pace("pace", &[], HOUR, 2).unwrap();
    assert_eq!([one.try_admit(2), one.try_admit(1)], [pace.try_admit(2), pace.try_admit(1)]);
}

#[test]
fn limits_have_one_set_of_terms() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = open(&path);
    assert!(paces(file).try_admit(BURST));
    assert_eq!(paces(File::open(&path).unwrap()).left(), 0);
    let of = |limits: &[_]| file.paces("limits", &[], limits).unwrap_err();
    for others in [&LIMITS[..2], &[LIMITS[0], (HOUR, 9), LIMITS[2]]] {
        let error = of(others);
        let MappedError::OtherTerms { found, wanted, .. } = error else { panic!("{error}") };
        assert_eq!((&*found, &*wanted), (&LIMITS[..], others));
    }
    let error = of(&[]);
    assert!(matches!(error, MappedError::BadTerms { error: LimitError::NoLimits }), "{error}");
    let error = of(&[(HOUR, 1); 5]);
    let too_many = LimitError::TooManyLimits { limits: 5, most: 4 };
    assert!(matches!(&error, MappedError::BadTerms { error } if *error == too_many), "{error}");
    let error = file.pace("limits", &[], HOUR, 1).unwrap_err();
    assert!(matches!(error, MappedError::OtherKind { found: Some(Kind::Paces), .. }), "{error}");
    // Another client has its own, and readers pass all of them over.
    let of_client = file.paces("limits", &[("client", "b")], &[(HOUR, 4); 4]).unwrap();
    assert!(of_client.try_admit(4) && !of_client.try_admit(1));
    assert_eq!(Reader::open(&path).unwrap().read().unwrap().metrics().count(), 0);
}

#[test]
fn limits_take_the_place_of_four_paces() {
    let file = File::builder().columns(1).names_bytes(1 << 20).sealed().unwrap();
    let several = |number: u32| {
        file.paces("limits", &[("client", &number.to_string())], &[(HOUR, 1), (HOUR, 2)])
    };
    let pace = |number: u32| file.pace("limit", &[("client", &number.to_string())], HOUR, 1);
    for number in 0..4_095 {
        assert!(several(number).unwrap().try_admit(1), "{number} has the words of another one");
    }
    for number in 0..4 {
        assert!(pace(number).unwrap().try_admit(1), "{number} has the words of another one");
    }
    for error in [several(4_095).unwrap_err(), pace(4).unwrap_err()] {
        assert!(matches!(error, MappedError::Full { part: "paces", most: 16_384, .. }), "{error}");
    }
    assert!(!several(7).unwrap().try_admit(1) && !pace(3).unwrap().try_admit(1));
}

#[test]
fn limits_of_another_boot_begin_anew() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    assert!(paces(open(&path)).try_admit(BURST));
    write_word(&path, WORDS + 16, 0xb007);
    assert!(paces(File::open(&path).unwrap()).try_admit(BURST));
    assert_eq!(paces(File::open(&path).unwrap()).left(), 0);
}

#[test]
fn words_that_a_hostile_process_writes_stop_no_process() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let paces = paces(open(&path));
    assert!(paces.try_admit(1));
    // A version that no call writes: all calls are refused.
    write_word(&path, WORDS + 64 + 8, 77);
    assert!(!paces.try_admit(1) && paces.left() == 0 && !paces.idle_after().is_zero());
    assert!(paces.reserve(1, HOUR).is_err());
    write_word(&path, WORDS + 64 + 8, 0); // one before the head's: it is settled once more
    assert!(paces.try_admit(1));
    // Terms and their number are compared, and never taken from the file.
    for (at, value) in [(24, 9), (64 + 16, 0)] {
        write_word(&path, WORDS + at, value);
        let again = File::open(&path).unwrap().paces("limits", &[], &LIMITS);
        assert!(matches!(again, Err(MappedError::Damaged { value: found, .. }) if found == value));
        write_word(&path, WORDS + 24, 3);
    }
    assert!(paces.try_admit(1));
}
