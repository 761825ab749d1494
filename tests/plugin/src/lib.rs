//! A shared object with a counter of its own: opened and closed by `tests/survival/dlclose.rs`.

use std::cell::Cell;

use windrow::Counter;

static COUNTER: Counter = Counter::new();

thread_local! {
    /// More than is left for objects that need their thread-locals at a constant distance from the
    /// thread pointer: such an object could not be opened.
    static LARGE: [Cell<u8>; 64 << 10] = const { [const { Cell::new(0) }; 64 << 10] };
}

/// Adds to the object's counter.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_add(n: u64) {
    LARGE.with(|large| large[0].set(1));
    COUNTER.add(n);
}

/// Returns the sum of the plugin's counter.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_sum() -> u64 {
    COUNTER.sum()
}
