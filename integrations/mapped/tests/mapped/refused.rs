//! Paths that lead to what must not be mapped, and settings that no file can have.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use windrow_mapped::{File, FileBuilder, MappedError, Reader};

use crate::child;

fn error(path: &Path) -> MappedError {
    File::open(path).map(drop).unwrap_err()
}

#[test]
fn links_are_not_followed() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
    File::open(&file).unwrap();
    symlink(&file, &link).unwrap();
    assert!(matches!(error(&link), MappedError::IsLink { path } if path == link));
    let read = Reader::open(&link).map(drop).unwrap_err();
    assert!(matches!(read, MappedError::IsLink { path } if path == link));
    // Nor is one that leads nowhere, where a file would be created.
    fs::remove_file(&file).unwrap();
    assert!(matches!(error(&link), MappedError::IsLink { .. }));
    assert!(!file.exists());
}

#[test]
fn only_regular_files_are_mapped() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [folder.path(), Path::new("/dev/null"), &pipe] {
        assert!(matches!(error(path), MappedError::NotRegular { .. }), "{}", path.display());
        let read = Reader::open(path).map(drop).unwrap_err();
        assert!(matches!(read, MappedError::NotRegular { .. }), "{}", path.display());
    }
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    File::open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for (mode, is_fit) in [(0o620, false), (0o602, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        match File::open(&path) {
            Ok(_) => assert!(is_fit, "{mode:o}"),
            Err(MappedError::OthersMayWrite { mode: found, .. }) => {
                assert_eq!((found, is_fit), (mode, false));
            }
            Err(error) => panic!("{error}"),
        }
        Reader::open(&path).unwrap();
    }
}

#[test]
fn a_file_of_another_user_is_read_and_not_mapped() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    File::open(&path).unwrap().counter("a", &[]).unwrap().add(3);
    if chown(&path, Some(12_345), None).is_err() {
        return; // only root may give a file away
    }
    let error = error(&path);
    assert!(matches!(error, MappedError::ForeignOwner { owner: 12_345, user: 0, .. }), "{error}");
    let reading = Reader::open(&path).unwrap().read().unwrap();
    assert_eq!(reading.get("a", &[]).unwrap().unwrap().sum(), Some(3));
}

#[test]
fn other_file_systems_are_refused() {
    for path in ["/proc/self/comm", "/proc/self/none"] {
        let error = error(Path::new(path));
        assert!(matches!(error, MappedError::UnfitFileSystem { found: 0x9fa0, .. }), "{error}");
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let read = Reader::open(folder.path().join("f")).map(drop).unwrap_err();
    assert!(matches!(read, MappedError::Failed { step: "open", .. }));
    let error = error(&folder.path().join("none/f"));
    assert!(matches!(error, MappedError::Failed { step: "create", .. }), "{error}");
}

const CHILD: &str = "refused::the_child_creates";

/// Runs in a child, whose limits and masks are its own.
#[test]
fn the_child_creates() {
    let Some((path, task)) = child::task() else { return };
    if task == "umask" {
        // SAFETY: it changes a number of this process.
        unsafe { libc::umask(0o777) };
        File::open(path).unwrap();
        return;
    }
    if task == "other user" {
        // SAFETY: it changes a number of this process.
        assert_eq!(unsafe { libc::setuid(12_345) }, 0);
        File::open(path).unwrap().counter("a", &[]).unwrap();
        return;
    }
    let limit = libc::rlimit { rlim_cur: 1 << 16, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: it reads the local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
    for error in [error(&path), File::builder().sealed().map(drop).unwrap_err()] {
        assert!(matches!(error, MappedError::NoSpace { .. }), "{error}");
    }
    assert!(!path.exists());
}

fn create_in_a_child(path: &Path, task: &str) {
    let output = child::command(CHILD, path, task).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_file_has_its_mode_whatever_the_mask() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    create_in_a_child(&path, "umask");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    File::open(&path).unwrap();
}

#[test]
fn a_file_can_be_in_a_folder_that_cannot_be_listed() {
    // SAFETY: it has no arguments.
    if unsafe { libc::geteuid() } != 0 {
        return; // only root may become another user
    }
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1733)).unwrap();
    create_in_a_child(&folder.path().join("f"), "other user");
}

#[test]
fn a_limit_of_lengths_is_an_error_and_no_signal() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    create_in_a_child(&folder.path().join("f"), "limit");
}

#[test]
fn settings_out_of_range_are_named() {
    let refused = |builder: FileBuilder, expected: (&str, u64)| match builder.sealed().map(drop) {
        Err(MappedError::BadSetting { setting, value, .. }) => {
            assert_eq!((setting, value), expected);
        }
        other => panic!("{other:?}"),
    };
    refused(File::builder().columns(0), ("columns", 0));
    refused(File::builder().columns(1 << 25), ("columns", 1 << 25));
    refused(File::builder().names_bytes(7), ("names_bytes", 7));
    refused(File::builder().locked_rows(8193), ("locked_rows", 8193));
}

#[test]
fn names_that_no_file_has_are_refused() {
    let file = File::builder().columns(512).sealed().unwrap();
    let refused = |name: &str, labels: &[(&str, &str)]| match file
        .counter(name, labels)
        .map(drop)
        .unwrap_err()
    {
        MappedError::BadName { text, rule } => (text, rule),
        error => panic!("{error}"),
    };
    let rules = [
        (refused("", &[]), "", "at least 1"),
        (refused("a\n", &[]), "a\n", "no control character"),
        (refused("a", &[("b", "1"), ("b", "1")]), "b", "its own name"),
        (refused(&"a".repeat(2_000), &[]), &"a".repeat(2_000), "1024 bytes"),
    ];
    for ((text, rule), wrong, words) in rules {
        assert!(text == wrong && rule.contains(words), "{text:?}: {rule}");
    }
    assert_eq!(file.metrics().unwrap(), 0);
}
