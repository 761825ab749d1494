//! Rows that threads lease: whichever thread adds, at any moment of its life, and whatever
//! interrupts it, nothing is lost and no sum goes back.
//!
//! Each test runs in processes of its own: with leases and without, and with fewer rows than
//! threads.

use std::cell::RefCell;
use std::mem::zeroed;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::interrupts::{Timer, sysconf};
use testkit::{Finish, alone};
use windrow::{Counter, Gauge, Maximum, Minimum};

/// Runs a test with leases and without, with one row for each core, and with fewer.
fn everywhere(test: &str) {
    for leases in ["on", "off"] {
        for rows in ["", "1", "2"] {
            run(test, leases, rows);
        }
    }
}

fn run(test: &str, leases: &str, rows: &str) {
    let strategy = ("WINDROW_STRATEGY", "portable");
    alone::run(
        &format!("leases::{test}"),
        &[strategy, ("WINDROW_LEASES", leases), ("WINDROW_ROWS", rows)],
    );
}

#[test]
fn the_environment_says_whether_threads_lease_rows() {
    run("leased", "on", "");
    run("not_leased", "off", "");
    let by_default = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    run(if by_default { "leased" } else { "not_leased" }, "", "");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn leased() {
    assert!(windrow::diagnostics::leases());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn not_leased() {
    assert!(!windrow::diagnostics::leases());
}

#[test]
fn threads_that_come_one_after_the_other_have_one_row_among_them() {
    run("rows_come_back", "on", "3");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn rows_come_back() {
    if thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return; // there is one row, which this thread has
    }
    let counter = Counter::new();
    counter.add(5);
    for _ in 0..1_000 {
        let counter = &counter;
        thread::scope(|scope| _ = scope.spawn(|| counter.add(2)).join());
    }
    assert_eq!(counter.by_row().rows, [5, 2_000]);
    // And with more than there are rows, they all come back.
    let (one, all) = (Counter::new(), Barrier::new(9));
    thread::scope(|scope| {
        let add = || {
            one.add(1);
            all.wait();
        };
        // Joined, since the scope alone does not wait for what threads do at their end.
        let threads = [(); 9].map(|()| scope.spawn(add));
        for thread in threads {
            thread.join().expect("it adds");
        }
    });
    let next = Counter::new();
    thread::scope(|scope| _ = scope.spawn(|| next.add(7)).join());
    assert_eq!((one.sum(), &next.by_row().rows[..2]), (9, &[0, 7][..]));
}

#[test]
fn a_thread_that_rests_leaves_a_row_for_each_core() {
    run("resting", "on", "");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn resting() {
    let cores = sysconf(libc::_SC_NPROCESSORS_CONF).min(128);
    let (counter, all) = (Counter::new(), Barrier::new(cores.try_into().expect("a number")));
    counter.add(1);
    thread::scope(|scope| {
        let add = || {
            counter.add(1);
            all.wait();
        };
        (0..cores).for_each(|_| _ = scope.spawn(add));
    });
    let rows = counter.by_row();
    assert_eq!(rows.rows.iter().filter(|row| **row == 1).count() as u64, cores + 1);
}

#[test]
fn a_thread_that_ends_opens_no_row() {
    run("ends_one_by_one", "on", "");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn ends_one_by_one() {
    let counter = Counter::new();
    for _ in 0..5 {
        let counter = &counter;
        thread::scope(|scope| _ = scope.spawn(|| counter.add(2)).join());
    }
    assert_eq!(counter.by_row().rows, [10]);
}

/// Beyond its first 32 keys glibc allocates where a thread arms one: not what a handler may do.
#[test]
#[cfg(target_env = "gnu")]
fn a_process_with_many_keys_leases_no_rows() {
    run("many_keys", "on", "");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn many_keys() {
    (0..40).for_each(|_| _ = key());
    assert!(!windrow::diagnostics::leases());
    COUNTED.add(1);
    thread::scope(|scope| _ = scope.spawn(|| COUNTED.add(2)).join());
    assert_eq!(COUNTED.sum(), 3);
}

/// A handler that was registered before the library's runs before it in a child, and may start
/// threads.
#[test]
fn a_thread_that_a_child_starts_before_the_library_knows_keeps_its_row() {
    run("child_with_a_thread", "on", "");
}

/// Zero in the parent; one once the thread is to be started; then two, once it has added.
static STEP: AtomicUsize = AtomicUsize::new(0);

fn wait_for(step: usize) {
    while STEP.load(Ordering::Acquire) != step {
        thread::yield_now();
    }
}

extern "C" fn start_a_thread() {
    if STEP.load(Ordering::Acquire) == 1 {
        thread::spawn(|| {
            COUNTED.add(1);
            STEP.store(2, Ordering::Release);
            wait_for(3);
            COUNTED.add(100);
            STEP.store(4, Ordering::Release);
        });
        wait_for(2);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_with_a_thread() {
    // SAFETY: the handler does what this program's children may do: no other thread of it holds a
    // lock.
    assert_eq!(unsafe { libc::pthread_atfork(None, None, Some(start_a_thread)) }, 0);
    COUNTED.add(10_000);
    if thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return; // there is one row, which this thread has
    }
    STEP.store(1, Ordering::Release);
    // SAFETY: as above.
    let child = unsafe { libc::fork() };
    if child == 0 {
        thread::spawn(|| {
            COUNTED.add(10);
            STEP.store(3, Ordering::Release);
            wait_for(4);
        });
        wait_for(4);
        // (Beside the first row's 10_000 there may be the 10, of a thread that found no row to
        // lease.)
        let is_right = COUNTED.sum() == 10_111 && COUNTED.by_row().rows.contains(&101);
        // SAFETY: it ends this process.
        unsafe { libc::_exit(i32::from(!is_right)) };
    }
    let mut status = 1;
    // SAFETY: waits for the child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "two threads of the child had one row");
}

#[test]
fn threads_that_outnumber_the_rows_lose_nothing() {
    everywhere("many_threads");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn many_threads() {
    const EACH: u64 = 50_000;
    const THREADS: u64 = 12;
    let (counter, gauge, most, least) =
        (Counter::new(), Gauge::new(), Maximum::new(), Minimum::new());
    let (drained, done) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let add = |thread| {
            let (counter, gauge, most, least) = (&counter, &gauge, &most, &least);
            move || {
                for n in 0..EACH {
                    counter.add(2);
                    gauge.decrement();
                    most.record(thread * EACH + n);
                    least.record(2 * THREADS * EACH - n * THREADS - thread);
                }
            }
        };
        let adders: Vec<_> = (0..THREADS).map(|thread| scope.spawn(add(thread))).collect();
        let finish = Finish(&done);
        scope.spawn(|| {
            let mut before = 0;
            while !done.load(Ordering::Acquire) {
                let (sum, greatest) = (counter.lifetime(), most.get());
                assert!(sum >= before, "a sum went from {before} to {sum}");
                assert!(most.get() >= greatest, "a maximum went back");
                drained.fetch_add(counter.take(), Ordering::Relaxed);
                before = sum;
            }
        });
        for adder in adders {
            adder.join().expect("no thread panics");
        }
        drop(finish);
    });
    let all = 2 * EACH * THREADS;
    assert_eq!(counter.lifetime(), all);
    assert_eq!(drained.load(Ordering::Relaxed) + counter.sum(), all);
    assert_eq!(gauge.sum(), -((EACH * THREADS).cast_signed()));
    assert_eq!(most.get(), Some(THREADS * EACH - 1));
    assert_eq!(least.get(), Some(2 * THREADS * EACH - (EACH - 1) * THREADS - (THREADS - 1)));
}

#[test]
fn adds_in_the_last_moments_of_threads_are_counted() {
    everywhere("last_moments");
}

static LATE: Counter = Counter::new();

/// Adds when its thread ends.
struct AtTheEnd(u64);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        LATE.add(self.0);
    }
}

thread_local! {
    static AT_THE_END: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
}

extern "C" fn add_by_key(n: *mut libc::c_void) {
    LATE.add(n.addr() as u64);
}

/// Returns a key whose destructor adds.
fn key() -> libc::pthread_key_t {
    let mut key = 0;
    // SAFETY: the destructor takes any value.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(add_by_key)) }, 0);
    key
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn last_moments() {
    const ROUNDS: u64 = 200;
    const THREADS: u64 = 6;
    // The C library calls destructors in the order of their keys: one comes before the library's,
    // one behind.
    let before = key();
    LATE.add(0);
    let behind = key();
    let live = |add_first: bool| {
        let arm = |key, n| {
            // SAFETY: the key is there.
            assert_eq!(unsafe { libc::pthread_setspecific(key, without_provenance_mut(n)) }, 0);
        };
        if add_first {
            LATE.add(1);
        }
        AT_THE_END.set(Some(AtTheEnd(10)));
        arm(before, 100);
        arm(behind, 1_000);
        if !add_first {
            LATE.add(1); // or by one of the destructors: whichever thread does not add here
        }
    };
    for round in 0..ROUNDS {
        thread::scope(|scope| {
            let spawn = |thread: u64| scope.spawn(move || live((round + thread).is_multiple_of(2)));
            let threads: Vec<_> = (0..THREADS).map(spawn).collect();
            for thread in threads {
                thread.join().expect("no thread panics");
            }
        });
    }
    assert_eq!(LATE.sum(), ROUNDS * THREADS * 1_111);
    // A first add in a destructor.
    thread::spawn(|| AT_THE_END.set(Some(AtTheEnd(1)))).join().expect("no thread panics");
    assert_eq!(LATE.sum(), ROUNDS * THREADS * 1_111 + 1);
}

#[test]
fn adds_of_handlers_in_the_middle_of_adds_are_counted() {
    everywhere("handlers");
}

static COUNTED: Counter = Counter::new();
static HANDLED: AtomicU64 = AtomicU64::new(0);
static HIGHEST: Maximum = Maximum::new();
/// The highest that a handler has recorded.
static RECORDED: AtomicU64 = AtomicU64::new(0);
/// The next number to record, by any thread.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The time after which timers that have not run count as broken.
const PATIENCE: Duration = Duration::from_secs(60);

extern "C" fn handle(_: libc::c_int) {
    COUNTED.increment();
    HANDLED.fetch_add(1, Ordering::Relaxed);
    let value = NEXT.fetch_add(1_000, Ordering::Relaxed);
    HIGHEST.record(value);
    RECORDED.fetch_max(value, Ordering::Relaxed);
}

/// Sends the calling threads signals whose handler makes the same adds, to the same numbers.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn handlers() {
    COUNTED.add(0); // used once before the first signal
    HIGHEST.record(0);
    // SAFETY: the handler adds to counters that have been used, and to atomics.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handle as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, null_mut()), 0);
    }
    let add = || {
        let _timer = Timer::start(Duration::from_micros(50));
        let (begin, mut added) = (Instant::now(), 0);
        // A machine that is busy or emulated runs timers late.
        let goes_on = |passed| {
            let interrupted = HANDLED.load(Ordering::Relaxed) > 100;
            passed < Duration::from_millis(400) || passed < PATIENCE && !interrupted
        };
        while goes_on(begin.elapsed()) {
            for _ in 0..100 {
                COUNTED.add(3);
                added += 3;
                HIGHEST.record(NEXT.fetch_add(1, Ordering::Relaxed));
                let recorded = RECORDED.load(Ordering::Relaxed);
                assert!(HIGHEST.get() >= Some(recorded), "{recorded} is gone");
            }
        }
        added
    };
    let added: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(add)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
    });
    let handled = HANDLED.load(Ordering::Relaxed);
    assert!(handled > 100, "the timers have not run");
    assert_eq!(COUNTED.sum(), added + handled);
}

#[test]
fn a_first_add_may_be_a_handlers() {
    everywhere("first_in_a_handler");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn first_in_a_handler() {
    COUNTED.add(0);
    HIGHEST.record(0);
    // SAFETY: as in `handlers`; the signal is this thread's own.
    unsafe {
        libc::signal(libc::SIGUSR1, handle as extern "C" fn(libc::c_int) as usize);
        thread::spawn(|| libc::raise(libc::SIGUSR1)).join().expect("no thread panics");
    }
    assert_eq!((COUNTED.sum(), HIGHEST.get()), (1, Some(1)));
}

#[test]
fn pools_that_shrink_and_grow_lose_nothing() {
    everywhere("pools");
}

/// Threads that live for some tasks each, as those of a pool that ends idle ones: now more than
/// there are rows, now fewer.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn pools() {
    const TASKS: usize = 3_000;
    let (counter, next) = (Counter::new(), AtomicUsize::new(0));
    let work = |tasks: usize| {
        for _ in 0..tasks {
            next.fetch_add(1, Ordering::Relaxed);
            for _ in 0..20 {
                counter.increment();
            }
            thread::yield_now();
        }
    };
    let mut last = 0;
    while next.load(Ordering::Relaxed) < TASKS {
        let size = 1 + next.load(Ordering::Relaxed) % 8;
        thread::scope(|scope| {
            for worker in 0..size {
                scope.spawn(move || work(1 + worker));
            }
            let sum = counter.sum();
            assert!(sum >= last, "a sum went from {last} to {sum}");
            last = sum;
        });
        assert_eq!(counter.sum(), 20 * next.load(Ordering::Relaxed) as u64);
    }
}
