//! Processes that are stopped and go on, children that go on where their parents were, and a thread
//! that never releases its pin: adds, reads and rotations go on, and are exact.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use windrow::Event;
use windrow::clock::{Manual, Precise};
use windrow::{Clock, SlidingWindow};

use crate::Seen;
use testkit::interrupts::sysconf;
use testkit::ledger::{Ledger, Tally};
use testkit::pinned::pinned;
use testkit::traced::{Traced, time_of};
use testkit::{Finish, Rng, alone, ms, ns, window};

/// Forks, runs `body` in the child, which fails if that fails, and returns the child's number.
fn fork(body: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child runs `body`, which takes no lock that another thread may have held (but the
    // allocator's, which glibc and musl see to), and ends without unwinding into frames of the
    // parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no process");
    if child == 0 {
        // SAFETY: kills a child that hangs, long after any that does not has ended.
        unsafe { libc::alarm(60) };
        let failed = catch_unwind(AssertUnwindSafe(body)).is_err();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(failed)) };
    }
    child
}

/// Waits for a child to end well.
fn wait_for(child: libc::pid_t) {
    let mut status = 0;
    // SAFETY: waits for the child, which only this thread waits for.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
}

fn send(child: libc::pid_t, signal: libc::c_int) {
    // SAFETY: the child was not waited for yet, so the number is its own.
    assert_eq!(unsafe { libc::kill(child, signal) }, 0);
}

/// Writers in a window on the real time, and their books.
struct Storm {
    window: SlidingWindow<Seen, Traced<Precise>>,
    length: u64,
    clock: Precise,
}

impl Storm {
    fn new(length: Duration, buckets: u32) -> Storm {
        let clock = Precise::default();
        let window = SlidingWindow::<Seen>::builder()
            .interval(length * buckets)
            .buckets(buckets as usize)
            .clock(Traced(clock))
            .build()
            .expect("a valid window");
        Storm { window, length: length.as_nanos() as u64, clock }
    }

    /// Adds until it is finished. The books go on from `books`.
    fn write(&self, seed: u64, finished: &AtomicBool, books: &mut [Ledger; 2]) {
        let mut random = Rng::with_seed(seed);
        while !finished.load(Ordering::Relaxed) {
            let (n, value) = (random.u64(..5), random.u64(..1_000));
            let time = time_of(|| self.window.add(Seen::Pass, n));
            books[0].note(time - time % self.length, Tally::amount(n));
            let time = time_of(|| self.window.record(Seen::Rt, value));
            books[1].note(time - time % self.length, Tally::value(value));
        }
    }

    /// Runs writers for a time, and `read` meanwhile.
    fn run(&self, writers: u64, time: Duration, mut read: impl FnMut()) -> [Ledger; 2] {
        let begin = Instant::now();
        self.run_while(writers, || {
            read();
            begin.elapsed() < time
        })
    }

    /// Runs writers, and `read` meanwhile, which returns whether they go on.
    fn run_while(&self, writers: u64, mut read: impl FnMut() -> bool) -> [Ledger; 2] {
        let finished = AtomicBool::new(false);
        let books: Vec<_> = thread::scope(|scope| {
            let finish = Finish(&finished);
            let write = |seed| {
                let finished = &finished;
                move || {
                    let mut books = [Ledger::default(), Ledger::default()];
                    self.write(seed, finished, &mut books);
                    books
                }
            };
            let writers: Vec<_> = (0..writers).map(|seed| scope.spawn(write(seed))).collect();
            while read() {}
            drop(finish);
            writers.into_iter().map(|writer| writer.join().expect("no writer panics")).collect()
        });
        [0, 1].map(|i| Ledger::merged(books.iter().map(|books| books[i].clone())))
    }

    /// Compares each readable bucket with the books, and the number of closed ones.
    fn check(&self, books: &[Ledger; 2]) {
        let now = self.clock.now().as_nanos();
        for (event, ledger) in
            [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().zip(books)
        {
            assert_eq!(Tally::from(self.window.lifetime(event)), ledger.total());
            let (late, held) = (self.window.late(event), self.window.stats(event));
            assert!(late.count + held.count <= ledger.total().count, "{late:?}, {held:?}");
            for bucket in self.window.snapshot().buckets() {
                let start = bucket.start().as_nanos();
                if start <= now {
                    assert_eq!(Tally::from(bucket.stats(event)), ledger.at(start), "at {start}");
                }
            }
        }
    }
}

#[test]
fn stopped_and_continued() {
    alone::in_each_strategy("stopped_processes::stopped_in_this_process");
}

/// The number of stops, and the length of each.
const STOPS: u32 = 4;
const STOPPED: Duration = Duration::from_millis(200);

/// The memory that a process and its child share.
struct Shared {
    /// The reads that the child has made.
    reads: AtomicU64,
    /// The child may end.
    enough: AtomicBool,
}

impl Shared {
    /// Returns a page of it, which is never unmapped.
    fn map() -> &'static Shared {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: maps a new page.
        let page = unsafe { libc::mmap(null_mut(), size_of::<Shared>(), access, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the page is large enough and aligned, its zeros are valid, and it stays.
        unsafe { &*page.cast::<Shared>() }
    }

    /// Waits until the child has made some reads more.
    fn wait_for_reads(&self, child: libc::pid_t) {
        let before = self.reads.load(Ordering::Relaxed);
        while self.reads.load(Ordering::Relaxed) < before + 3 {
            // SAFETY: asks whether the child has ended, without a status.
            let ended = unsafe { libc::waitpid(child, null_mut(), libc::WNOHANG) };
            assert_eq!(ended, 0, "the child has ended, which is not its turn");
            thread::sleep(ms(1));
        }
    }

    /// Stops the child for a while, in which it does nothing.
    fn stop(&self, child: libc::pid_t) {
        send(child, libc::SIGSTOP);
        let mut status = 0;
        // SAFETY: waits until all threads of the child have stopped.
        let stopped = unsafe { libc::waitpid(child, &raw mut status, libc::WUNTRACED) };
        assert!(stopped == child && libc::WIFSTOPPED(status), "status {status:#x}");
        let reads = self.reads.load(Ordering::Relaxed);
        thread::sleep(STOPPED);
        assert_eq!(self.reads.load(Ordering::Relaxed), reads, "it was not stopped");
        send(child, libc::SIGCONT);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn stopped_in_this_process() {
    windrow::diagnostics::strategy();
    let shared = Shared::map();
    let child = fork(|| {
        // All of the time is in the one; in the other everything is soon used again.
        let long = Storm::new(ms(1), 10_000);
        let short = Storm::new(Duration::from_micros(100), 8);
        let other = AtomicBool::new(false);
        let books = thread::scope(|scope| {
            let finish = Finish(&other);
            let beside = scope.spawn(|| {
                let mut books = [Ledger::default(), Ledger::default()];
                short.write(9, &other, &mut books);
                books
            });
            let long_books = long.run_while(3, || {
                let _ = (long.window.snapshot(), short.window.snapshot());
                shared.reads.fetch_add(1, Ordering::Relaxed);
                !shared.enough.load(Ordering::Relaxed)
            });
            drop(finish);
            [long_books, beside.join().expect("no writer panics")]
        });
        long.check(&books[0]);
        short.check(&books[1]);
    });
    for _ in 0..STOPS {
        shared.wait_for_reads(child);
        thread::sleep(ms(100));
        shared.stop(child);
    }
    shared.wait_for_reads(child);
    shared.enough.store(true, Ordering::Relaxed);
    wait_for(child);
}

#[test]
fn children_go_on_in_the_window() {
    alone::in_each_strategy("stopped_processes::forked_in_this_process");
}

/// Forked while its threads count, and stop for a moment in known places: the child has the earlier
/// counts, goes on with threads of its own, and closes buckets.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn forked_in_this_process() {
    let storm = Storm::new(Duration::from_micros(500), 20_000);
    let read = || {
        let _ = storm.window.previous();
    };
    let mut books = storm.run(3, ms(100), read);
    for _ in 0..3 {
        wait_for(fork(|| {
            let more = storm.run(3, ms(150), read);
            let [pass, rt] = more;
            let all =
                [Ledger::merged([books[0].clone(), pass]), Ledger::merged([books[1].clone(), rt])];
            storm.check(&all);
            let snapshot = storm.window.snapshot();
            let counted = snapshot.buckets().iter().filter(|one| one.stats(Seen::Rt).count > 0);
            let (closed, open): (Vec<_>, Vec<_>) = counted.partition(|bucket| bucket.is_closed());
            assert!(open.len() < 10 && closed.len() > 10, "{} open", open.len());
        }));
        storm.check(&books); // the child's adds are its own
        let [pass, rt] = storm.run(2, ms(50), read);
        books = [Ledger::merged([books[0].clone(), pass]), Ledger::merged([books[1].clone(), rt])];
        storm.check(&books);
    }
    // And from the middle of things.
    let (finished, started) = (AtomicBool::new(false), Barrier::new(4));
    thread::scope(|scope| {
        let finish = Finish(&finished);
        for seed in 0..3 {
            let (storm, finished, started) = (&storm, &finished, &started);
            scope.spawn(move || {
                started.wait();
                storm.write(seed, finished, &mut [Ledger::default(), Ledger::default()]);
            });
        }
        // While a thread starts, std holds a lock that a child would wait for to start its own.
        started.wait();
        for _ in 0..4 {
            thread::sleep(ms(10));
            wait_for(fork(|| {
                let before = [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()]
                    .map(|event| storm.window.lifetime(event));
                let more = storm.run(3, ms(50), read);
                for (i, event) in
                    [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().enumerate()
                {
                    let (after, more) = (storm.window.lifetime(event), more[i].total());
                    assert_eq!(after.count - before[i].count, more.count);
                    assert_eq!(after.sum - before[i].sum, more.sum);
                }
            }));
        }
        drop(finish);
    });
}

#[test]
fn a_pin_over_10_000_rotations_takes_a_megabyte_at_most() {
    alone::in_each_strategy("stopped_processes::pinned_in_this_process");
}

/// Resident memory, in bytes.
fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").expect("the size of this process");
    let pages: u64 = pages.split(' ').nth(1).and_then(|size| size.parse().ok()).expect("pages");
    pages * sysconf(libc::_SC_PAGESIZE)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn pinned_in_this_process() {
    const WRITERS: u64 = 2;
    const LENGTH: u64 = 10;
    const ROTATIONS: u64 = 10_000;
    let clock = Manual::default();
    let window = window::<Seen>(ns(LENGTH), 60, &clock);
    let rotate = |rotations: u64| {
        for rotation in 0..rotations {
            clock.advance(ns(LENGTH));
            window.add(Seen::Pass, 2);
            window.record(Seen::Rt, rotation);
        }
    };
    rotate(500);
    let (finished, barrier) = (AtomicBool::new(false), Barrier::new(2));
    thread::scope(|scope| {
        let finish = Finish(&finished);
        scope.spawn(|| {
            pinned(|| {
                barrier.wait();
                while !finished.load(Ordering::Acquire) {
                    thread::sleep(ms(1));
                }
            });
        });
        barrier.wait();
        // So that what two threads take once is there.
        thread::scope(|scope| (0..WRITERS).for_each(|_| drop(scope.spawn(|| rotate(500)))));
        let before = resident();
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| rotate(ROTATIONS / WRITERS));
            }
            let mut last = 0;
            for _ in 0..100 {
                let now = window.lifetime(Seen::Pass).sum;
                assert!(last <= now, "reads go on, and never back");
                last = now;
                drop(window.snapshot());
            }
        });
        let grown = resident().saturating_sub(before);
        println!("{:?}: {} kB more resident", windrow::diagnostics::strategy(), grown >> 10);
        assert!(grown <= 1 << 20, "{grown} bytes more for {ROTATIONS} rotations under a pin");
        drop(finish);
    });
    let all = 500 + WRITERS * 500 + ROTATIONS;
    let triangle = |n: u64| n * (n - 1) / 2;
    let sum = triangle(500) * (1 + WRITERS) + triangle(ROTATIONS / WRITERS) * WRITERS;
    let rt = Tally::from(window.lifetime(Seen::Rt));
    let (min, max) = (Some(0), Some(ROTATIONS / WRITERS - 1));
    assert_eq!(rt, Tally { count: all, sum, min, max });
    assert_eq!(window.lifetime(Seen::Pass).sum, 2 * all);
    // The window is intact.
    for round in 0..200 {
        clock.advance(ns(LENGTH));
        window.record(Seen::Rt, round);
        let last = window.over(ns(LENGTH)).expect("one bucket");
        assert_eq!(Tally::from(last.stats(Seen::Rt)), Tally::value(round));
    }
}
