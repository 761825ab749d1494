//! `host OBJECT`: counts, and has a shared object count, which has a copy of the same library.
//!
//! If this program offers its symbols, the object's copy calls the functions of the program's.

use std::ffi::{CString, c_void};
use std::thread;
use std::time::Duration;

use windrow::{Counter, SlidingWindow, events};

events! { enum Seen { Pass: Count } }

const THREADS: u64 = 4;
const ADDS: u64 = 10_000;

static COUNTER: Counter = Counter::new();
static WINDOW: SlidingWindow<Seen> = SlidingWindow::of(Duration::from_secs(1), 2);

fn main() {
    let object = std::env::args().nth(1).and_then(|path| CString::new(path).ok());
    let object = object.expect("usage: host OBJECT");
    // SAFETY: our own object, whose constructors do nothing of note.
    let object = unsafe { libc::dlopen(object.as_ptr(), libc::RTLD_NOW) };
    assert!(!object.is_null(), "the object cannot be opened");
    let symbol = |name: &std::ffi::CStr| {
        // SAFETY: the object is open.
        let symbol = unsafe { libc::dlsym(object, name.as_ptr()) };
        assert!(!symbol.is_null(), "{name:?} is not in the object");
        symbol
    };
    // SAFETY: the object's functions have these types.
    let (add, sum): (extern "C" fn(u64), extern "C" fn() -> u64) = unsafe {
        (
            std::mem::transmute::<*mut c_void, extern "C" fn(u64)>(symbol(c"plugin_add")),
            std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(symbol(c"plugin_sum")),
        )
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ADDS {
                    add(1);
                    COUNTER.add(1);
                    WINDOW.add(Seen::Pass, 1);
                }
            });
        }
    });
    let found = [sum(), COUNTER.sum(), WINDOW.lifetime(Seen::Pass).sum];
    assert_eq!(found, [THREADS * ADDS; 3]);
}
