//! The answers of windows and counters, case by case: most of them on a clock that the test sets,
//! and with exact numbers.
//!
//! These modules are one program, because building one is much quicker than building each. What
//! must not share a process with the others (the arena, which it fills; the threads, which it
//! counts; a strategy of its own) is an ignored test that `testkit::alone` runs in a process of its
//! own. The other programs in `tests` are apart for what each says at its top.
//!
//! By epochs (`WINDROW_STRATEGY=epochs`), one test must run at a time, as `cargo xtask portable`
//! does it: another test's thread that is pinned holds up the closing of buckets.

// Adds and reads.
mod add_at;
mod clocks;
mod events;
mod kinds;
mod leaps;
mod overtaken;
mod statics;
mod threads;
mod time;
mod wide_cells;

// Reads of a window.
mod conformance;
mod export;
mod last_calls;
mod moments;
mod rates;
mod snapshots;
mod spans;
mod tiers;

// What takes, ends or changes.
mod changes;
mod clear;
mod drain;
#[cfg(target_os = "linux")]
mod takes;
mod turns;

// Rows, and what is refused.
mod arena_full;
mod errors;
mod foreign_epochs;
mod rows;

/// Counts allocations by thread, because other tests run at the same time.
#[global_allocator]
static ALLOCATOR: testkit::heap::Counting = testkit::heap::Counting;
