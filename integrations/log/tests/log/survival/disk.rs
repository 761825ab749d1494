//! A disk that is full, and a directory that is gone.

use std::fs;
use std::io::ErrorKind;
use std::thread::sleep;
use std::time::Duration;

use testkit::alone;
use windrow_log::{Log, LogError, Options, Step};

use super::{DIRECTORY, Http, directory_of_child, passed, window};

#[test]
fn a_full_disk_is_an_error_and_its_lines_are_written_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    alone::run("survival::disk::with_a_limit_on_files", &[(DIRECTORY, path)]);
}

/// Limits the length of the files of this process.
fn limit_files(bytes: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the struct lives as long as the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn with_a_limit_on_files() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let directory = directory_of_child();
    let window = window(10);
    // In the middle of a line, behind the file's first.
    limit_files(200);
    let mut log = Log::open(&directory, Options::default()).unwrap();
    let mut refused = 0;
    for round in 0..30_u64 {
        if round == 20 {
            limit_files(libc::RLIM_INFINITY);
        }
        window.add(Http::Pass, round);
        sleep(Duration::from_millis(12));
        match log.write("/", &window) {
            Ok(_) => assert!(round == 0 || round >= 20, "round {round}"),
            Err(LogError::Failed { step: Step::Write, path, error }) => {
                refused += 1;
                assert_eq!(error.raw_os_error(), Some(libc::EFBIG));
                assert_eq!(path, directory.join("windrow-0000000001.jsonl"));
                assert_eq!(log.unwritten().waiting, refused);
                let text = fs::read_to_string(&path).unwrap();
                assert!(text.ends_with('\n'), "a part of a line is left");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 10);
    assert_eq!(log.unwritten().waiting, 0);
    assert_eq!(passed(&directory), (0..30).sum::<u64>());
}

/// A file may not become longer: the next is begun.
#[test]
fn a_limit_on_the_size_of_files_ends_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    alone::run("survival::disk::with_short_files", &[(DIRECTORY, path)]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn with_short_files() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let directory = directory_of_child();
    let window = window(10);
    limit_files(1_000);
    let mut log = Log::open(&directory, Options::default()).unwrap();
    for round in 0..30_u64 {
        window.add(Http::Pass, round);
        sleep(Duration::from_millis(12));
        log.write("/", &window).unwrap();
    }
    assert_eq!(passed(&directory), (0..30).sum::<u64>());
    assert!(directory.join("windrow-0000000004.jsonl").exists());
}

#[test]
fn a_directory_that_is_gone_is_an_error_and_lines_wait_for_it() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("log");
    let window = window(10);
    let mut log = Log::open(&directory, Options::default()).unwrap();
    let mut write = |number| {
        window.add(Http::Pass, number);
        sleep(Duration::from_millis(12));
        log.write("/", &window)
    };
    write(1).unwrap();
    assert_eq!(passed(&directory), 1);
    fs::remove_dir_all(&directory).unwrap();
    for number in [2, 4] {
        match write(number) {
            Err(LogError::Failed { path, error, .. }) => {
                assert_eq!(error.kind(), ErrorKind::NotFound);
                assert!(path.starts_with(&directory), "{}", path.display());
            }
            other => panic!("{other:?}"),
        }
    }
    fs::create_dir(&directory).unwrap();
    write(8).unwrap();
    assert_eq!(passed(&directory), 2 + 4 + 8);
    // A file alone, too.
    fs::remove_file(directory.join("windrow-0000000001.jsonl")).unwrap();
    write(16).unwrap();
    assert_eq!(passed(&directory), 16);
    assert_eq!(log.unwritten().waiting, 0);
    // Moved away: it is another's now, and where it was is a new one.
    fs::rename(&directory, parent.path().join("old")).unwrap();
    fs::create_dir(&directory).unwrap();
    log.write("/", &window).unwrap();
    window.add(Http::Pass, 32);
    sleep(Duration::from_millis(12));
    log.write("/", &window).unwrap();
    assert_eq!(passed(&directory), 32);
}

/// A path where a directory cannot be created, or that is not a directory.
#[test]
fn a_path_that_cannot_be_a_directory_is_an_error_that_names_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [file.path().to_owned(), file.path().join("log")] {
        match Log::open(&path, Options::default()).map(drop) {
            Err(error @ LogError::Failed { step: Step::Create, .. }) => {
                assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}
