//! A render that stands still, wherever it does: what recorders do goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use windrow_metrics::Recorder;

thread_local! {
    /// The number of allocations after which this thread stands still.
    static PATIENCE: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The number of allocations of the rendering thread.
static DONE: AtomicU64 = AtomicU64::new(0);
static STANDS: AtomicBool = AtomicBool::new(false);
static GOES_ON: AtomicBool = AtomicBool::new(false);

struct Halting;

/// An allocation or a release: the thread stands still in it, if it is the one.
fn halt() {
    let left = PATIENCE.get();
    if left == u64::MAX {
        return;
    }
    DONE.fetch_add(1, Ordering::Relaxed);
    PATIENCE.set(left.saturating_sub(1));
    if left == 0 {
        PATIENCE.set(u64::MAX);
        STANDS.store(true, Ordering::SeqCst);
        while !GOES_ON.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_micros(100));
        }
    }
}

// SAFETY: hands on to the system's allocator.
unsafe impl GlobalAlloc for Halting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        halt();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        halt();
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Halting = Halting;

fn count(n: u64) {
    counter!("c", "n" => n.to_string()).increment(1);
    gauge!("g", "n" => n.to_string()).set(1);
    histogram!("h", "n" => n.to_string()).record(1);
}

/// Renders, and stands still after `patience` allocations. Meanwhile other threads count.
fn render_that_stands_still(recorder: &Recorder, patience: u64, new: u64) -> u64 {
    DONE.store(0, Ordering::Relaxed);
    STANDS.store(false, Ordering::SeqCst);
    GOES_ON.store(false, Ordering::SeqCst);
    thread::scope(|scope| {
        let handle = recorder.handle();
        let rendering = scope.spawn(move || {
            PATIENCE.set(patience);
            let text = handle.render();
            PATIENCE.set(u64::MAX);
            text
        });
        while !STANDS.load(Ordering::SeqCst) && !rendering.is_finished() {
            thread::sleep(Duration::from_micros(50));
        }
        // New keys first: behind one that waits, all wait.
        for n in [new, 7] {
            let (done, wait) = channel();
            scope.spawn(move || {
                metrics::with_local_recorder(recorder, || count(n));
                done.send(()).expect("it is waited for");
            });
            if wait.recv_timeout(Duration::from_secs(60)).is_err() {
                GOES_ON.store(true, Ordering::SeqCst);
                panic!("key {n} waits for a render that has done {patience} allocations");
            }
        }
        GOES_ON.store(true, Ordering::SeqCst);
        assert!(rendering.join().expect("no render panics").contains("{n=\"7\"}"));
    });
    DONE.load(Ordering::Relaxed)
}

#[test]
fn known_keys_and_new_ones_go_through_wherever_a_render_stands_still() {
    let recorder = Recorder::builder().recommended_naming(true).build().expect("sound settings");
    metrics::with_local_recorder(&recorder, || (0..200).for_each(count));
    metrics::with_local_recorder(&recorder, || {
        metrics::describe_counter!("c", metrics::Unit::Bytes, String::from("Owned."));
    });
    let mut new = 1_000;
    let all = render_that_stands_still(&recorder, u64::MAX - 1, new);
    assert!(all > 1_000, "{all} allocations");
    // Each of the first ones, where references are taken; then here and there.
    let places = (0..100).chain((100..all).step_by(all as usize / 50));
    for patience in places {
        new += 1;
        render_that_stands_still(&recorder, patience, new);
    }
}
