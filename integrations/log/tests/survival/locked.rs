//! A directory is one log's.

use testkit::alone;
use windrow_log::{Log, LogError, Options};

use crate::{DIRECTORY, directory_of_child};

fn assert_locked(result: Result<Log, LogError>) {
    match result.map(drop) {
        Err(LogError::Locked { path }) => assert!(path.ends_with("lock")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_log_is_refused_in_this_process_and_in_another() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    assert_locked(Log::open(directory.path(), Options::default()));
    let path = directory.path().to_str().unwrap();
    alone::run("locked::opened_in_another_process", &[(DIRECTORY, path)]);
    drop(log);
    // A lock file that is left says nothing.
    assert!(directory.path().join("lock").exists());
    Log::open(directory.path(), Options::default()).unwrap();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn opened_in_another_process() {
    assert_locked(Log::open(directory_of_child(), Options::default()));
}
