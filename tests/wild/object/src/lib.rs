//! The program of `windrow-wild` as a shared object: functions for a host that calls C (Python by
//! `ctypes`), and an addon for Node.
//!
//! Each copy of the object has a copy of the library, with rows and statics of its own.

#[cfg(unix)]
pub mod addon;

use std::ffi::c_int;
use std::sync::OnceLock;

use windrow::diagnostics::{Strategy, leases, strategy};
use windrow_wild::books::{Books, Seen};
use windrow_wild::{Loss, run};

static BOOKS: OnceLock<Books> = OnceLock::new();

/// Returns the books of this copy, if a window can be built.
fn books() -> Option<&'static Books> {
    if BOOKS.get().is_none() {
        let _ = BOOKS.set(Books::new().ok()?); // another thread may have been first
    }
    BOOKS.get()
}

/// Adds one to the counter, the window and the histogram, `times` times, and returns 0; -1 if there
/// are no books.
#[unsafe(no_mangle)]
pub extern "C" fn wild_add(times: u64) -> c_int {
    let Some(books) = books() else { return -1 };
    for _ in 0..times {
        books.counter.add(1);
        books.window.add(Seen::Pass, 1);
        books.histogram.record(1_u64);
    }
    0
}

/// Returns the sum of the counter if the window and the histogram have the same one; otherwise
/// `u64::MAX`.
#[unsafe(no_mangle)]
pub extern "C" fn wild_sum() -> u64 {
    let Some(books) = books() else { return u64::MAX };
    let sum = books.counter.sum();
    let is_everywhere = books.window.lifetime(Seen::Pass).sum == sum
        && books.histogram.count() == sum
        && books.histogram.sum() == sum;
    if is_everywhere { sum } else { u64::MAX }
}

/// Runs everything in this process, and returns 0 if each total is exact. Prints what it counted.
#[unsafe(no_mangle)]
pub extern "C" fn wild_run(times: u64) -> c_int {
    match Loss::from_environment().and_then(|loss| run(times, loss)) {
        Ok(said) => {
            println!("{said}");
            0
        }
        Err(why) => {
            println!("NOT EXACT: {why}");
            1
        }
    }
}

/// Returns the strategy as a number: 0 per core, 1 portable, 2 with fences, 3 by epochs, each 8
/// more if threads lease rows.
#[unsafe(no_mangle)]
pub extern "C" fn wild_strategy() -> c_int {
    let number = match strategy() {
        Strategy::PerCore => 0,
        Strategy::Portable => 1,
        Strategy::Fenced => 2,
        _ => 3,
    };
    number + if leases() { 8 } else { 0 }
}
