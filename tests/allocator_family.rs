//! An allocator counts what it hands out by a family, too. The first add to a counter probes the
//! system, and the probe allocates: so the family's first lookup comes in the midst of the probe.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use testkit::alone;
use windrow::{Counter, Family, labels};

labels! { struct Class { bits: u32 } }

static HANDED_OUT: Counter = Counter::new();
static BY_CLASS: Family<Class, Counter> = Family::new();

thread_local! {
    /// True while this thread is in the family, which allocates.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

// SAFETY: the system's, and two counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HANDED_OUT.increment();
        if INSIDE.try_with(|inside| !inside.replace(true)).unwrap_or(false) {
            BY_CLASS.with(Class { bits: layout.size().ilog2() }).increment();
            _ = INSIDE.try_with(|inside| inside.set(false));
        }
        // SAFETY: by contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by contract.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Sets a variable, also where its text is empty: the probe reads one that is set into memory.
#[test]
fn the_first_lookup_may_be_in_an_allocator_while_the_system_is_probed() {
    for strategy in ["", "portable", "fenced", "epochs"] {
        alone::run("allocations_are_counted", &[("WINDROW_STRATEGY", strategy)]);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn allocations_are_counted() {
    let before = BY_CLASS.lifetime();
    assert!(before > 0 && HANDED_OUT.sum() >= before, "nothing was allocated before the test");
    let threads =
        [(); 4].map(|()| std::thread::spawn(|| drop(std::hint::black_box(vec![1_u8; 1 << 17]))));
    for thread in threads {
        thread.join().expect("it allocates");
    }
    assert!(BY_CLASS.with(Class { bits: 17 }).sum() >= 4);
}
