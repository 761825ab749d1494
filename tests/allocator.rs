//! An allocator counts the bytes that it hands out. Its first count is the process's first use of
//! the library, which allocates while it probes the system: these allocations are counted, too, and
//! no initialization runs within itself.

use std::alloc::{GlobalAlloc, Layout, System};

use testkit::alone;
use windrow::Counter;

static HANDED_OUT: Counter = Counter::new();

struct Counting;

// SAFETY: the system's, and a count.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HANDED_OUT.add(1);
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

#[test]
fn the_first_use_may_be_in_an_allocator_whatever_the_environment_says() {
    // The last one is misspelt, which the first use says on standard error.
    for strategy in ["", "portable", "fenced", "epochs", "cpu-id", "portabel"] {
        let variables =
            [("WINDROW_STRATEGY", strategy), ("WINDROW_ROWS", "2"), ("WINDROW_LEASES", "on")];
        alone::run("allocations_are_counted", &variables);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn allocations_are_counted() {
    let before = HANDED_OUT.sum();
    assert!(before > 0, "nothing was allocated before the test");
    let threads =
        [(); 4].map(|()| std::thread::spawn(|| drop(std::hint::black_box(vec![1_u8; 100]))));
    for thread in threads {
        thread.join().expect("it allocates");
    }
    assert!(HANDED_OUT.sum() >= before + 4);
}

#[cfg(target_os = "linux")]
windrow::events! {
    enum Http { Pass: Count }
}

/// A thread's first add to a window needs a slot, whose memory is not of this allocator. (Where the
/// C library has no keys, `std` may take memory to call the thread's end.)
#[test]
#[cfg(target_os = "linux")]
fn no_add_allocates_where_threads_announce() {
    for strategy in ["portable", "fenced"] {
        alone::run("first_adds_allocate_nothing", &[("WINDROW_STRATEGY", strategy)]);
    }
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "run by another test, in a process of its own"]
fn first_adds_allocate_nothing() {
    let window = testkit::window::<Http>(testkit::ns(10), 2, &windrow::clock::Manual::default());
    assert_eq!(window.sum(Http::Pass), 0); // the first pin registers the thread
    let before = HANDED_OUT.sum();
    window.add(Http::Pass, 1);
    assert_eq!(HANDED_OUT.sum(), before);
    assert_eq!(window.sum(Http::Pass), 1);
}
