//! Directories in which others have put what a log did not: it writes to none of that, and goes on.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use testkit::alone;
use windrow_log::{Entry, Log, LogError, Options, Step};

use super::{DIRECTORY, Http, directory_of_child, entries, window};

fn file(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("windrow-{number:010}.jsonl"))
}

fn make_pipe(path: &Path) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a text that ends with zero.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// Writes some lines, and returns the number of lines in the whole directory.
fn write_some(directory: &Path, options: Options) -> usize {
    let window = window(5);
    let mut log = Log::open(directory, options).unwrap();
    for _ in 0..20 {
        window.add(Http::Pass, 1);
        sleep(Duration::from_millis(6));
        log.write("/", &window).unwrap();
    }
    assert_eq!(log.unwritten().waiting, 0);
    let is_bucket = |entry: &&Entry| matches!(entry, Entry::Bucket(_));
    entries_of(directory).iter().filter(is_bucket).count()
}

fn entries_of(directory: &Path) -> Vec<Entry> {
    let entries = windrow_log::read(directory).unwrap().all();
    entries.filter_map(Result::ok).collect()
}

/// The last name is something else: the log begins the file behind it, and what the name leads to
/// stays as it was.
#[test]
fn what_bears_the_name_of_the_last_file_is_not_written_to() {
    let other = tempfile::NamedTempFile::new().unwrap();
    let secret = "not a log's\n";
    let cases: [fn(&Path, &Path); 7] = [
        |name, other| symlink(other, name).unwrap(),
        |name, _| symlink("/nowhere/at/all", name).unwrap(),
        |name, other| fs::hard_link(other, name).unwrap(),
        |name, _| make_pipe(name),
        |name, _| fs::create_dir(name).unwrap(),
        |name, _| fs::write(name, "").unwrap(),
        |name, _| fs::write(name, "neither a log's\n").unwrap(),
    ];
    for (case, put) in cases.into_iter().enumerate() {
        // Beside the other file: a hard link leads nowhere else.
        let directory = tempfile::tempdir_in(other.path().parent().unwrap()).unwrap();
        fs::write(other.path(), secret).unwrap();
        put(&file(directory.path(), 7), other.path());
        let options = Options::default().file_size(1_000).files(3);
        let lines = write_some(directory.path(), options);
        assert!(lines >= 10, "case {case}: {lines} lines");
        assert_eq!(fs::read_to_string(other.path()).unwrap(), secret, "case {case}");
        // A file that no log has made is not removed as an old file either.
        let is_there = file(directory.path(), 7).symlink_metadata().is_ok();
        assert_eq!(is_there, case < 5 && case != 2, "case {case}");
    }
}

/// A backup that shares its file with the log stays as it is.
#[test]
fn a_file_that_has_a_second_name_is_not_written_to() {
    let directory = tempfile::tempdir().unwrap();
    drop(Log::open(directory.path(), Options::default()).unwrap());
    let backup = directory.path().join("backup");
    fs::hard_link(file(directory.path(), 1), &backup).unwrap();
    let before = fs::read(&backup).unwrap();
    assert!(write_some(directory.path(), Options::default()) >= 10);
    assert_eq!(fs::read(&backup).unwrap(), before);
    assert!(file(directory.path(), 2).exists());
}

/// Only a regular file is locked.
#[test]
fn what_bears_the_name_of_the_lock_is_not_opened() {
    let other = tempfile::NamedTempFile::new().unwrap();
    let cases: [fn(&Path, &Path); 3] = [
        |name, other| symlink(other, name).unwrap(),
        |name, _| make_pipe(name),
        |name, _| fs::create_dir(name).unwrap(),
    ];
    for put in cases {
        let directory = tempfile::tempdir().unwrap();
        let lock = directory.path().join("lock");
        put(&lock, other.path());
        match Log::open(directory.path(), Options::default()).map(drop) {
            Err(error @ LogError::Failed { step: Step::Lock, .. }) => {
                let text = error.to_string();
                assert!(text.contains("regular file") && text.contains("/lock`"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Numbers that no log comes to, in names that none makes: they neither end the numbers nor hide
/// files.
#[test]
fn names_of_no_log_do_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        "windrow-18446744073709551615.jsonl",
        "windrow-99999999999999999999.jsonl",
        "windrow-9999999999999999.jsonl",
        "windrow-00000000002.jsonl",
        "windrow-0000000009.jsonl.swp",
    ] {
        fs::write(directory.path().join(name), "x\n").unwrap();
    }
    assert!(write_some(directory.path(), Options::default()) >= 10);
    assert!(file(directory.path(), 1).exists());
    // The last number there is leaves none, which is an error that says so.
    fs::write(file(directory.path(), 999_999_999_999_999), "x\n").unwrap();
    let error = Log::open(directory.path(), Options::default()).unwrap_err();
    assert!(error.to_string().contains("up to 999999999999999"), "{error}");
}

/// An old file that cannot be removed is an error, and keeps neither lines from being written nor
/// others from being removed.
#[test]
fn an_old_file_that_stays_stops_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    alone::run("survival::mutated::in_a_directory_of_another_user", &[(DIRECTORY, path)]);
}

/// A directory in which a user may only remove his own files (as in `/tmp`), with a file of another
/// user.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_a_directory_of_another_user() {
    let directory = directory_of_child();
    for number in [1, 2] {
        fs::write(file(&directory, number), "x\n").unwrap();
        fs::set_permissions(file(&directory, number), fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o1777)).unwrap();
    // SAFETY: it concerns this process alone.
    if unsafe { libc::geteuid() } != 0 || unsafe { libc::seteuid(65_534) } != 0 {
        println!("it takes root to become another user: not tried");
        return;
    }
    let window = window(5);
    let mut log = Log::open(&directory, Options::default().file_size(1_000).files(2)).unwrap();
    let mut refused = 0;
    for _ in 0..40 {
        window.add(Http::Pass, 1);
        sleep(Duration::from_millis(6));
        match log.write("/", &window) {
            Ok(_) => {}
            Err(LogError::Failed { step: Step::Remove, .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        assert_eq!(log.unwritten().waiting, 0);
    }
    assert!(refused > 2, "{refused}");
    let own = |number: &u64| file(&directory, *number).exists();
    assert_eq!((3..1_000).filter(own).count(), 2);
}

/// The process has no descriptor left when the next file is due.
#[test]
fn a_process_without_descriptors_goes_on_when_it_has_some() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    alone::run("survival::mutated::with_few_descriptors", &[(DIRECTORY, path)]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn with_few_descriptors() {
    let directory = directory_of_child();
    let window = window(5);
    let options = Options::default().file_size(400).files(1_000);
    let mut log = Log::open(&directory, options).unwrap();
    // Zero to three descriptors are free, so that each step of beginning a file fails once.
    for free in 0..4 {
        let (mut refused, mut taken) = (0, Vec::new());
        for round in 0..12 {
            window.add(Http::Pass, 1);
            sleep(Duration::from_millis(6));
            if round == 2 {
                while let Ok(file) = fs::File::open("/dev/null") {
                    taken.push(file);
                }
                taken.truncate(taken.len() - free);
            }
            if round == 8 {
                taken.clear();
            }
            match log.write("/", &window) {
                Ok(_) => assert_eq!(log.unwritten().waiting, 0),
                Err(error) => {
                    assert!((2..8).contains(&round), "{free} free, round {round}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0 || free > 0, "{free} free, and nothing was refused");
    }
    let (entries, skipped) = entries(&directory);
    assert_eq!(skipped, windrow_log::Skipped::default());
    let lines = entries.iter().filter(|entry| matches!(entry, Entry::Bucket(_))).count();
    assert_eq!(lines, 48);
}
