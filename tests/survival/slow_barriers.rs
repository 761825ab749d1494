//! A kernel that takes its time over `membarrier`, as it does while other processes keep its one
//! lock: which threads that holds up, and which not.
//!
//! A seccomp filter hands each such call to a signal handler, which stands still for a while before
//! it makes it. So the delays do not depend on other processes, nor on the number of cores.

use std::fs;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use windrow::clock::{Manual, Ticker};
use windrow::{Clock, SlidingWindow, Timestamp, diagnostics::Strategy};

use crate::Seen;
use testkit::{Finish, alone, at_ns, ns, window};

/// The number of threads in a call, its maximum, and the number of calls.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// True if calls are held up.
static SLOW: AtomicBool = AtomicBool::new(false);

/// The command that windows make: `MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ` if they are per core, or
/// without `_RSEQ`.
static BARRIER: AtomicI32 = AtomicI32::new(0);
/// In place of the processor, which is not looked at: the filter lets such a call pass.
const PASS: libc::c_int = 7;

extern "C" fn slow_call(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    CALLS.fetch_add(1, Ordering::SeqCst);
    MOST.fetch_max(INSIDE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    while SLOW.load(Ordering::SeqCst) {
        // SAFETY: sleeps.
        unsafe { libc::usleep(1_000) };
    }
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    // SAFETY: the call that was asked for, which touches no memory; and its result, where the
    // kernel looks for it when the handler returns.
    unsafe {
        let barrier = BARRIER.load(Ordering::SeqCst);
        let result = libc::syscall(libc::SYS_membarrier, barrier, 0, PASS);
        let context = context.cast::<libc::ucontext_t>();
        (*context).uc_mcontext.gregs[libc::REG_RAX as usize] = result;
    }
}

/// Has `slow_call` stand in for barriers, in this thread and those that it will start.
fn slow_barriers() {
    let barrier =
        if windrow::diagnostics::strategy() == Strategy::PerCore { 1 << 7 } else { 1 << 3 };
    BARRIER.store(barrier, Ordering::SeqCst);
    let filter = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let mut filters = [
        filter(load, 0, 0, 0), // the call's number
        filter(equal, 0, 5, libc::SYS_membarrier as u32),
        filter(load, 0, 0, 16), // the command
        filter(equal, 0, 3, barrier.cast_unsigned()),
        filter(load, 0, 0, 32), // the processor
        filter(equal, 1, 0, PASS as u32),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_TRAP),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filters.len() as u16, filter: filters.as_mut_ptr() };
    // SAFETY: the program lives until the kernel has copied it; the handler uses atomics and system
    // calls.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = slow_call as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGSYS, &raw const action, null_mut()), 0);
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let set = libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
        assert_eq!(set, 0, "seccomp filters are not to be had");
    }
}

type Window = SlidingWindow<Seen, Manual>;

/// Opens `buckets` buckets, one after another, and counts in each.
fn open(window: &Window, clock: &Manual, buckets: u64) {
    for _ in 0..buckets {
        clock.advance(ns(10));
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, 3);
    }
}

/// With one thread in the call, all others add, open buckets and read; one that changes the
/// geometry, or drains, is not held up either.
#[test]
fn a_slow_barrier_holds_up_one_thread() {
    alone::in_each_strategy("slow_barriers::one_is_held_up");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn one_is_held_up() {
    if !matches!(windrow::diagnostics::strategy(), Strategy::PerCore | Strategy::Portable) {
        return; // no barriers
    }
    let clock = Manual::default();
    let window: Window = window(ns(10), 1_000, &clock);
    slow_barriers();
    open(&window, &clock, 10);
    assert_eq!(CALLS.load(Ordering::SeqCst), 10, "a barrier for each bucket");
    SLOW.store(true, Ordering::SeqCst);
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| open(&window, &clock, 1)); // held up when it has opened its bucket
        scope.spawn(|| {
            // If others are held up too, they are released in the end, and the test fails.
            (0..2_000).take_while(|_| !finished.load(Ordering::SeqCst)).for_each(|_| sleep());
            SLOW.store(false, Ordering::SeqCst);
        });
        let finish = Finish(&finished);
        while INSIDE.load(Ordering::SeqCst) == 0 {
            sleep();
        }
        let others: Vec<_> = (0..3).map(|_| scope.spawn(|| open(&window, &clock, 100))).collect();
        for other in others {
            other.join().expect("no adder panics");
        }
        assert!(window.sum(Seen::Pass) >= 310 && window.previous().end() > at_ns(0));
        window.drain_closed(|_| ());
        window.reconfigure(ns(20_000), 1_000).expect("valid");
        open(&window, &clock, 10);
        assert!(SLOW.load(Ordering::SeqCst), "others were held up");
        assert_eq!(INSIDE.load(Ordering::SeqCst), 1, "the one is held up still");
        drop(finish);
    });
    assert_eq!(MOST.load(Ordering::SeqCst), 1, "more than one thread was in the call");
    // Everything is counted, and the next thread closes the buckets left open.
    assert_eq!(window.lifetime(Seen::Pass).count, 321);
    assert_eq!(window.lifetime(Seen::Rt).sum, 3 * 321);
    open(&window, &clock, 1);
    let snapshot = window.snapshot();
    let (live, closed) = snapshot.buckets().split_last().expect("buckets");
    assert!(!live.is_closed() && closed.iter().all(windrow::snapshot::BucketSnapshot::is_closed));
    assert_eq!(snapshot.totals().sum(Seen::Pass), 322);
}

/// A window that a ticker closes: no add ever makes the call, and buckets are closed all the same.
#[test]
fn no_add_makes_a_barrier_where_a_ticker_does() {
    alone::in_each_strategy("slow_barriers::the_ticker_is_held_up");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn the_ticker_is_held_up() {
    if !matches!(windrow::diagnostics::strategy(), Strategy::PerCore | Strategy::Portable) {
        return; // no barriers
    }
    slow_barriers();
    let clock = Manual::default();
    let window: Arc<Window> = Arc::new(window(ns(10), 1_000, &clock));
    let ticker = Ticker::start(Duration::from_millis(1)); // has the filter too
    window.close_on(&ticker);
    SLOW.store(true, Ordering::SeqCst);
    open(&window, &clock, 100);
    while INSIDE.load(Ordering::SeqCst) == 0 {
        sleep(); // the ticker comes by
    }
    open(&window, &clock, 100);
    assert_eq!((MOST.load(Ordering::SeqCst), CALLS.load(Ordering::SeqCst)), (1, 1));
    SLOW.store(false, Ordering::SeqCst);
    let all_closed = || {
        let snapshot = window.snapshot();
        let (_, closed) = snapshot.buckets().split_last().expect("buckets");
        closed.iter().all(windrow::snapshot::BucketSnapshot::is_closed)
    };
    assert!(
        (0..2_000).any(|_| all_closed() || {
            sleep();
            false
        }),
        "no thread closes"
    );
    // Without ticks, adds close again.
    drop(ticker);
    let calls = CALLS.load(Ordering::SeqCst);
    open(&window, &clock, 5);
    assert!(CALLS.load(Ordering::SeqCst) > calls, "no thread closes");
    assert!(all_closed());
    assert_eq!(window.lifetime(Seen::Pass).count, 205);
}

/// The window, and with it the last clone of its ticker, may go on the ticker's own thread.
#[test]
fn a_window_may_be_dropped_while_its_ticker_closes_it() {
    for _ in 0..200 {
        let ticker = Ticker::start(Duration::ZERO);
        let window = SlidingWindow::<Seen>::builder().clock(ticker.clone()).build();
        let window = Arc::new(window.expect("sound"));
        window.close_on(&ticker);
        drop(ticker);
        window.add(Seen::Pass, 1);
    }
}

/// Defect: a ticker whose last clone went on its own thread never gave that thread's stack back.
#[test]
fn threads_of_tickers_that_end_by_themselves_leave_nothing() {
    alone::run("slow_barriers::stacks", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn stacks() {
    let mappings = || fs::read_to_string("/proc/self/maps").expect("a list").lines().count();
    let on_its_own = |_: &i32| {
        let ticker = Ticker::start(Duration::ZERO);
        let window = SlidingWindow::<Seen>::builder().clock(ticker.clone()).build();
        let window = Arc::new(window.expect("sound"));
        window.close_on(&ticker);
        drop(ticker);
        let weak = Arc::downgrade(&window);
        (0..1_000_000).find(|_| weak.strong_count() > 1);
        drop(window);
        weak.strong_count() > 0
    };
    let before = mappings();
    let count = (0..100_000).filter(on_its_own).take(100).count();
    assert_eq!(count, 100, "the ticker's thread is never the last");
    thread::sleep(Duration::from_millis(200));
    let after = mappings();
    assert!(after < before + 90, "{before} mappings, then {after}");
}

/// Two windows, each closed by the ticker that is the other's clock, and everything dropped: each
/// ticker's thread ends the other one, and waits for it.
#[test]
fn tickers_do_not_wait_for_each_other() {
    alone::run("slow_barriers::crosswise", &[]);
}

/// Takes its time to go.
struct Lasting(Ticker);

impl Clock for Lasting {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn resolution(&self) -> Duration {
        self.0.resolution()
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        if thread::current().name() == Some("windrow-ticker") {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn crosswise() {
    let threads = || fs::read_dir("/proc/self/task").expect("a list").count();
    let before = threads();
    for round in 0..20 {
        let (one, other) = (Ticker::start(Duration::ZERO), Ticker::start(Duration::ZERO));
        let window = |clock: &Ticker| {
            let builder = SlidingWindow::<Seen>::builder().clock(Lasting(clock.clone()));
            Arc::new(builder.build().expect("sound"))
        };
        let windows = [window(&other), window(&one)];
        windows[0].close_on(&one);
        windows[1].close_on(&other);
        drop((one, other));
        for window in windows {
            (0..1_000_000).find(|_| Arc::strong_count(&window) > 1);
            drop(window);
        }
        let ended = (0..1_000).any(|_| {
            threads() == before || {
                sleep();
                false
            }
        });
        assert!(ended, "round {round}: they wait for each other");
    }
}

fn sleep() {
    thread::sleep(Duration::from_millis(5));
}
