//! A shared object with a counter of its own: opened and closed by `tests/survival/dlclose.rs`.

use windrow::Counter;

static COUNTER: Counter = Counter::new();

/// Adds to the object's counter.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_add(n: u64) {
    COUNTER.add(n);
}

/// Returns the sum of the plugin's counter.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_sum() -> u64 {
    COUNTER.sum()
}
