//! A shared object that counts is closed while the threads that have counted through it live on.
//!
//! A thread's `rseq_cs` may go on pointing at the descriptor of its last sequence until the kernel
//! looks. Were the object that holds it unmapped by then, the kernel would kill the thread, and the
//! process with it. Portably, what gives a thread's row back at its end is code in the object. So
//! the library pins the object that it is in.

use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use testkit::alone;

const THREADS: usize = 4;
const ADDS: u64 = 10_000;
const ROUNDS: usize = 20;

/// Builds the object, quickly, and says where it is.
fn plugin() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("plugin");
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package=windrow-plugin",
            "--lib",
            "--profile=mutants",
            "--target-dir",
        ])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(status.success());
    target.join("mutants/libwindrow_plugin.so")
}

/// An object that is open.
struct Object(*mut c_void);

impl Object {
    fn open(path: &std::path::Path) -> Object {
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: our own object, whose constructors do nothing of note.
        let object = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!object.is_null(), "the object cannot be opened");
        Object(object)
    }

    fn symbol(&self, name: &std::ffi::CStr) -> *mut c_void {
        // SAFETY: the object is open.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!symbol.is_null(), "{name:?} is not in the object");
        symbol
    }

    fn close(self) {
        // SAFETY: opened once, closed once.
        assert_eq!(unsafe { libc::dlclose(self.0) }, 0);
    }
}

#[test]
fn threads_outlive_the_object_that_they_have_counted_through() {
    let plugin = plugin();
    let plugin = ("WINDROW_PLUGIN", plugin.to_str().unwrap());
    for (strategy, rounds) in [("", ROUNDS), ("portable", 1)] {
        for _ in 0..rounds {
            alone::run(
                "dlclose::closed_while_its_threads_live",
                &[plugin, ("WINDROW_STRATEGY", strategy)],
            );
        }
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn closed_while_its_threads_live() {
    let path = PathBuf::from(std::env::var_os("WINDROW_PLUGIN").expect("run by the other test"));
    let object = Object::open(&path);
    // SAFETY: the object's functions have these types.
    let (add, sum): (extern "C" fn(u64), extern "C" fn() -> u64) = unsafe {
        (
            std::mem::transmute::<*mut c_void, extern "C" fn(u64)>(object.symbol(c"plugin_add")),
            std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(
                object.symbol(c"plugin_sum"),
            ),
        )
    };
    let (added, closed) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                (0..ADDS).for_each(|_| add(1));
                added.wait();
                closed.wait();
                // The kernel looks at `rseq_cs` when a thread is preempted, so be preempted.
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(30) {
                    thread::yield_now();
                }
            });
        }
        added.wait();
        assert_eq!(sum(), THREADS as u64 * ADDS);
        object.close();
        closed.wait();
    });
}
