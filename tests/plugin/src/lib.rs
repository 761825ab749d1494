//! A shared object with a counter and a window of its own: opened and closed by
//! `tests/survival/dlclose.rs`, and opened by `host` beside a copy of the same library.

use std::cell::Cell;
use std::time::Duration;

use windrow::{Counter, SlidingWindow, events};

events! { enum Seen { Pass: Count } }

static COUNTER: Counter = Counter::new();
static WINDOW: SlidingWindow<Seen> = SlidingWindow::of(Duration::from_secs(1), 2);

thread_local! {
    /// More than is left for objects that need their thread-locals at a constant distance from the
    /// thread pointer: such an object could not be opened.
    static LARGE: [Cell<u8>; 64 << 10] = const { [const { Cell::new(0) }; 64 << 10] };
}

/// Adds to the object's counter, and to its window.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_add(n: u64) {
    LARGE.with(|large| large[0].set(1));
    COUNTER.add(n);
    WINDOW.add(Seen::Pass, n);
}

/// Returns the sum of the object's counter, if its window has counted the same; otherwise
/// `u64::MAX`.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_sum() -> u64 {
    let sum = COUNTER.sum();
    if WINDOW.lifetime(Seen::Pass).sum == sum { sum } else { u64::MAX }
}
