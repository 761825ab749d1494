//! Files of rules: entries of other types in their place, and changes while they are read.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use testkit::Finish;
use windrow_tower::{LimitRules, Limits, RulesError, RulesFile};

use super::{ALICE, ask, terms};
use crate::limited::{Client, limits};

fn text(limit: u64) -> String {
    format!(r#"{{"default":{{"limit":{limit},"buckets":10}}}}"#)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn a_file_is_read_again_when_its_text_is_another() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    let folder = folder();
    let path = folder.path().join("clients.json");
    let mut file = RulesFile::new(&path);
    let mut look = || CLIENTS.reload_if_changed(&mut file);
    assert!(ask(&CLIENTS, "alice").is_granted());
    let write = |text: &str| fs::write(&path, text).expect("it is written");
    let limit = || terms(&CLIENTS, ALICE).0;

    assert!(matches!(look(), Err(RulesError::File { .. })), "there is no file");
    assert!(matches!(look(), Ok(None)), "it is said once");
    write(&text(3));
    assert_eq!((look().unwrap().map(|it| it.keys), limit()), (Some(1), 3));
    assert!(matches!(look(), Ok(None)));
    // The new text has the same length, and is written at the same moment.
    write(&text(4));
    assert_eq!((look().unwrap().map(|it| it.keys), limit()), (Some(1), 4));
    write(&text(4)[..20]);
    assert!(matches!(look(), Err(RulesError::Json { .. })));
    assert!(matches!(look(), Ok(None)), "it is said once");
    fs::remove_file(&path).expect("it is removed");
    assert!(matches!(look(), Err(RulesError::File { .. })));
    assert_eq!(limit(), 4, "the old rules stay");
    write(&text(4));
    assert_eq!((look().unwrap().map(|it| it.keys), limit()), (Some(0), 4));
    write(&text(5));
    assert_eq!((look().unwrap().map(|it| it.keys), limit()), (Some(1), 5));
}

/// Looks at a path, on a thread of its own: to hang is to fail.
fn look(path: &Path) -> Result<Option<Vec<u8>>, RulesError> {
    let path: PathBuf = path.to_owned();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || sender.send(RulesFile::new(path).read_if_changed()));
    receiver.recv_timeout(Duration::from_secs(20)).expect("it does not block")
}

#[test]
fn a_folder_is_no_file() {
    let folder = folder();
    let error = look(folder.path()).unwrap_err();
    // Some systems do not even open it.
    assert!(matches!(error, RulesError::File { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_a_socket_and_a_device_are_no_files_and_no_poll_waits_for_them() {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::UnixListener;

    let folder = folder();
    let pipe = folder.path().join("pipe");
    let name = CString::new(pipe.as_os_str().as_bytes()).expect("a path");
    // SAFETY: it is a text that ends with zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let is_no_file = |path: &Path| {
        let error = look(path).unwrap_err().to_string();
        assert_eq!(error, format!("{}: it is not a regular file", path.display()));
    };
    is_no_file(&pipe);
    let socket = folder.path().join("socket");
    let _socket = UnixListener::bind(&socket).expect("a socket");
    assert!(matches!(look(&socket), Err(RulesError::File { .. })));
    is_no_file(Path::new("/dev/zero"));
    // A link is followed.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&link, &link).expect("a link to itself");
    assert!(matches!(look(&link), Err(RulesError::File { .. })));
    let (file, to_file) = (folder.path().join("file"), folder.path().join("to file"));
    fs::write(&file, text(3)).expect("it is written");
    std::os::unix::fs::symlink(&file, &to_file).expect("a link");
    assert_eq!(look(&to_file).unwrap(), Some(text(3).into_bytes()));
}

#[test]
fn a_file_of_any_length_is_refused_in_little_memory() {
    let folder = folder();
    let path = folder.path().join("long");
    let file = File::create(&path).expect("a file");
    file.set_len(100 << 20).expect("of holes");
    let mut file = RulesFile::new(&path);
    let (refused, peak) = testkit::heap::peak_of(|| file.read_if_changed());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the rules have 104857600 bytes; they must have 1048576 or less"
    );
    assert!(peak < 5 * LimitRules::MAX_BYTES.cast_signed() as i64, "{peak} bytes");
}

/// Whichever part of it a poll reads, the result is one set of rules or the other.
#[test]
fn a_file_that_is_truncated_and_written_while_it_is_read_gives_whole_rules_or_none() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    let folder = folder();
    let path = folder.path().join("clients.json");
    fs::write(&path, text(3)).expect("it is written");
    assert!(ask(&CLIENTS, "alice").is_granted());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _finish = Finish(&is_over);
            for round in 0..3_000 {
                let mut file = File::create(&path).expect("a file of no length");
                // Longer and shorter ones in turn, in two pieces.
                let text = if round % 2 == 0 { text(3) } else { format!("{:2000}", text(44)) };
                let (begin, end) = text.split_at(18);
                file.write_all(begin.as_bytes()).expect("the one half");
                file.write_all(end.as_bytes()).expect("the other half");
            }
        });
        let mut file = RulesFile::new(&path);
        let (mut changes, mut refused) = (0, 0);
        while !is_over.load(Ordering::Acquire) {
            match CLIENTS.reload_if_changed(&mut file) {
                Ok(None) => {}
                Ok(Some(_)) => changes += 1,
                Err(RulesError::Json { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            assert!([2, 3, 44].contains(&terms(&CLIENTS, ALICE).0));
        }
        println!("{changes} changes, {refused} refused");
        assert!(changes > 0);
    });
}

#[test]
fn limits_of_other_files_are_untouched() {
    static OTHERS: Limits<Client> =
        Limits::new(10, |_| windrow::Gate::builder(7).build().expect("seven a second"));
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    assert!(ask(&OTHERS, "alice").is_granted() && ask(&CLIENTS, "alice").is_granted());
    CLIENTS.reload(text(3).as_bytes()).unwrap();
    assert_eq!((terms(&CLIENTS, ALICE).0, terms(&OTHERS, ALICE).0), (3, 7));
    assert!(OTHERS.rules().is_none());
}
