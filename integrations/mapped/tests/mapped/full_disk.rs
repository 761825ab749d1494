//! A tmpfs that is full: an error when a name is registered, and no signal at an add.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;

use windrow_mapped::{File, MappedError, Reader};

use crate::child;

const CHILD: &str = "full_disk::the_child_fills_a_file_system";

/// Runs in a child that has mounted a tmpfs with these options: of a megabyte, or of one inode.
#[test]
fn the_child_fills_a_file_system() {
    let Some((folder, options)) = child::task() else { return };
    let path = folder.join("f");
    if options == "nr_inodes=1" {
        let error = File::open(&path).map(drop).unwrap_err();
        assert!(matches!(error, MappedError::NoSpace { .. }), "{error}");
        return println!("filled");
    }
    let file = File::builder().columns(1 << 17).open(&path).unwrap();
    let mut counters = Vec::new();
    let error = loop {
        match file.counter(&format!("name_{}", counters.len()), &[]) {
            Ok(counter) => counters.push(counter),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, MappedError::NoSpace { .. }), "{error}");
    assert!(counters.len() > 512, "{}", counters.len());
    // All cells have their memory: of plain adds on each processor, and of locked ones.
    for counter in &counters {
        std::thread::scope(|scope| {
            scope.spawn(|| counter.add(1));
        });
        counter.add(1);
    }
    let reading = Reader::open(&path).unwrap().read().unwrap();
    assert_eq!(reading.metrics().count(), counters.len());
    assert!(reading.metrics().all(|metric| metric.sum() == Some(2)));
    println!("filled");
}

#[test]
fn a_full_file_system_is_an_error_and_no_signal() {
    fill(c"size=1m");
}

#[test]
fn a_file_system_without_an_inode_is_full() {
    fill(c"nr_inodes=1");
}

/// Mounts a tmpfs with these options for a child, which fills it.
fn fill(options: &'static CStr) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let target = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
    let mut command = child::command(CHILD, folder.path(), options.to_str().unwrap());
    let refused = |result: libc::c_int| {
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it makes system calls alone.
    unsafe {
        command.pre_exec(move || {
            // As root a name space of mounts is enough; others need one of users too.
            if libc::unshare(libc::CLONE_NEWNS) != 0 {
                refused(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS))?;
            }
            let private = libc::MS_REC | libc::MS_PRIVATE;
            let none = std::ptr::null();
            refused(libc::mount(none, c"/".as_ptr(), none, private, none.cast()))?;
            let (none, kind, options) = (c"t".as_ptr(), c"tmpfs".as_ptr(), options.as_ptr());
            refused(libc::mount(none, target.as_ptr(), kind, 0, options.cast()))
        });
    }
    match command.output() {
        Err(error) => println!("not run, because a tmpfs cannot be mounted: {error}"),
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            assert!(String::from_utf8_lossy(&output.stdout).contains("filled"), "{output:?}");
        }
    }
}
