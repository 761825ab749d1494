//! No memory for columns: numbers count in cells of their own, buckets in those that all share.

use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{fs, ptr, thread};

use windrow::Counter;
use windrow::clock::Manual;

use crate::work::Work;
use testkit::interrupts::sysconf;
use testkit::{Finish, alone, ns, window};

windrow::events! {
    /// An event of 64 cells, one for each bit of a word.
    enum Wide {
        V0: Value, V1: Value, V2: Value, V3: Value, V4: Value, V5: Value, V6: Value, V7: Value,
        V8: Value, V9: Value, Va: Value, Vb: Value, Vc: Value, Vd: Value, Ve: Value, Vf: Value,
    }
}

const THREADS: u64 = 4;

/// From now on the process gets no more address space than it has; until this is dropped.
struct Exhausted(libc::rlimit);

impl Exhausted {
    fn begin() -> Exhausted {
        let pages = fs::read_to_string("/proc/self/statm").expect("the size of this process");
        let pages: u64 = pages.split(' ').next().and_then(|size| size.parse().ok()).expect("pages");
        let mut before = MaybeUninit::uninit();
        // SAFETY: `before` has room for the answer, which is written if there is no error.
        let before = unsafe {
            assert_eq!(libc::getrlimit(libc::RLIMIT_AS, before.as_mut_ptr()), 0);
            before.assume_init()
        };
        let bytes = pages * sysconf(libc::_SC_PAGESIZE);
        set(libc::rlimit { rlim_cur: bytes as libc::rlim_t, ..before });
        let exhausted = Exhausted(before);
        assert!(!room_for(64 << 10), "the limit does not bite");
        exhausted
    }
}

impl Drop for Exhausted {
    fn drop(&mut self) {
        set(self.0);
    }
}

fn set(limit: libc::rlimit) {
    // SAFETY: a valid limit, which is only read.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

/// Returns whether `bytes` bytes can be mapped.
fn room_for(bytes: usize) -> bool {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: asks for new memory, and gives it back.
    unsafe {
        let start = libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0);
        start != libc::MAP_FAILED && libc::munmap(start, bytes) == 0
    }
}

/// Calls `before`, exhausts the memory, makes the other metrics, and lets threads that started
/// earlier use all of them.
///
/// A thread that has allocated once has an arena of the allocator's, with address space of its own:
/// the space for mappings, and so for columns, is exhausted, not the heap.
fn exhausted<T: Send + Sync>(before: impl FnOnce() -> T + Send) {
    let clock = Manual::default();
    let (ready, go) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = OnceLock::new();
    let wait = || {
        drop(Box::new([0_u8; 64]));
        ready.fetch_add(1, Ordering::Release);
        while !go.load(Ordering::Acquire) {
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (wait, work) = (&wait, &work);
                scope.spawn(move || {
                    wait();
                    work.get().map(|work: &Work| work.run(thread))
                })
            })
            .collect();
        let main = scope.spawn(|| {
            let finish = Finish(&go);
            let before = before();
            while ready.load(Ordering::Acquire) < THREADS {
                thread::yield_now();
            }
            let exhausted = Exhausted::begin();
            // Claims the columns that are left, by the dozen and then one by one.
            let wide: Vec<_> = (0..40).map(|_| window::<Wide>(ns(10), 2, &clock)).collect();
            let many: Vec<Counter> = (0..500).map(|_| Counter::new()).collect();
            for (counter, n) in many.iter().zip(1..) {
                counter.add(n);
                counter.add(1);
            }
            let work = work.get_or_init(Work::new);
            drop(finish);
            let books = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
            let books: Vec<_> = books.map(|books| books.expect("there was work")).collect();
            work.check(0..THREADS, &books);
            assert!(many.iter().zip(1..).all(|(counter, n)| counter.sum() == n + 1));
            // Columns come back, and with them windows that have some, though not all they want.
            drop(many.into_iter().take(9).collect::<Vec<_>>());
            let late = Work::new();
            late.check(0..1, &[late.run(0)]);
            for (wide, n) in wide.iter().zip(0..) {
                wide.record(Wide::V0, n);
                wide.record(Wide::V9, n);
                let (first, last) = (wide.stats(Wide::V0), wide.lifetime(Wide::V9));
                assert_eq!((first.sum, first.min, last.sum, last.max), (n, Some(n), n, Some(n)));
                assert_eq!(wide.lifetime(Wide::V4).count, 0);
            }
            drop(exhausted);
            // And all is well when there is memory again.
            let after = Work::new();
            after.check(0..1, &[after.run(0)]);
            drop(before);
        });
        main.join().expect("everything was exact");
    });
}

#[test]
fn without_any_memory_for_columns() {
    alone::in_each_strategy("memory::exhausted_from_the_beginning");
}

#[test]
fn without_memory_for_more_columns() {
    alone::in_each_strategy("memory::exhausted_later");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn exhausted_from_the_beginning() {
    exhausted(|| ());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn exhausted_later() {
    exhausted(|| {
        let work = Work::new();
        work.check(0..1, &[work.run(0)]);
        work
    });
}
