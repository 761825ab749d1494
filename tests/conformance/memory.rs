//! What reading allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::Http;
use testkit::{clock_at, ms, window};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, and a number of calls for each thread.
struct Counting;

// SAFETY: every call is passed to the system's allocator as it is; the number beside it is a
// thread-local without destructor, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(of: impl FnOnce() -> T) -> u64 {
    let before = ALLOCATIONS.get();
    let result = of();
    let after = ALLOCATIONS.get();
    drop(result);
    after - before
}

/// Defect: 350 to 900 MB of extra heap, and 60 nodes made by one read. Here reads do not allocate,
/// but for the one list that a snapshot returns.
#[test]
fn b12_reads_do_not_allocate() {
    let clock = clock_at(100_000);
    let window = window::<Http>(ms(100), 60, &clock);
    for _ in 0..200 {
        clock.advance(ms(100));
        window.add(Http::Pass, 1);
        window.record(Http::Rt, 5);
    }
    let last = || window.last(ms(1_000)).expect("a tenth of the interval");
    // Once to warm up: the first reads may close what the writes left open.
    let _ = (window.snapshot(), last(), window.previous());

    let over = window.over(ms(1_000)).expect("a tenth of the interval");
    assert_eq!(allocations(|| (window.sum(Http::Pass), window.sum(Http::Rt))), 0, "sum");
    assert_eq!(allocations(|| (window.rate(Http::Pass), window.rate(Http::Rt))), 0, "rate");
    assert_eq!(allocations(|| (over.sum(Http::Pass), over.sum(Http::Rt))), 0, "over");
    assert_eq!(allocations(|| (over.rate(Http::Pass), over.weighted_rate(Http::Rt))), 0, "over");
    for event in [Http::Pass.erased(), Http::Rt.erased()] {
        assert_eq!(allocations(|| over.stats(event)), 0, "over");
        assert_eq!(allocations(|| window.stats(event)), 0, "stats");
        assert_eq!(allocations(|| window.lifetime(event)), 0, "lifetime");
        assert_eq!(allocations(|| window.late(event)), 0, "late");
    }
    assert_eq!(allocations(|| (window.totals(), over.totals(), over.complete())), 0, "totals");
    let now = over.totals().at();
    assert_eq!(allocations(|| over.totals_at(now).is_ok()), 0, "totals_at");
    assert_eq!(allocations(|| window.previous()), 0, "previous");
    assert_eq!(allocations(|| window.snapshot()), 1, "snapshot: its list");
    assert_eq!(allocations(last), 1, "last: its list");
    let snapshot = window.snapshot();
    assert_eq!(allocations(|| (snapshot.sum(Http::Pass), snapshot.stats(Http::Rt))), 0);
}
