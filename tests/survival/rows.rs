//! Threads that have no row, or whose row was never expected.

use crate::Seen;
use crate::work::Work;
use testkit::interrupts::sysconf;
use testkit::{alone, ns};

use std::mem::zeroed;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, thread};

use windrow::clock::Manual;
use windrow::{
    Counter, Maximum, Minimum, SlidingWindow,
    diagnostics::{Strategy, strategy},
};

/// Has four threads use everything; each begins with `first`.
fn by_threads(first: impl Fn() + Sync) {
    let work = Work::new();
    let books: Vec<_> = thread::scope(|scope| {
        let run = |thread| {
            let (work, first) = (&work, &first);
            move || {
                first();
                work.run(thread)
            }
        };
        let threads = [0, 1, 2, 3].map(|thread| scope.spawn(run(thread)));
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    work.check(0..4, &books);
}

/// If glibc was told to register no thread for restartable sequences, no sequence is used.
#[test]
fn without_restartable_sequences() {
    let tunables = [("GLIBC_TUNABLES", "glibc.pthread.rseq=0")];
    alone::run("rows::portable_without_being_told", &tunables);
}

#[test]
fn told_to_be_portable() {
    alone::run("rows::portable_without_being_told", &[("WINDROW_STRATEGY", "portable")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn portable_without_being_told() {
    assert_eq!(strategy(), Strategy::Portable);
    by_threads(|| ());
    assert_eq!((strategy(), windrow::diagnostics::aborts()), (Strategy::Portable, 0));
}

/// Returns the set of cores that the calling thread may use.
fn cores() -> libc::cpu_set_t {
    // SAFETY: all zeros are a valid set, and it is as long as it is said to be.
    unsafe {
        let mut set = zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
        set
    }
}

fn keep_to(set: &libc::cpu_set_t) {
    // SAFETY: it is as long as it is said to be.
    assert_eq!(unsafe { libc::sched_setaffinity(0, size_of_val(set), set) }, 0);
}

/// More cores than there were when the rows were counted.
#[test]
fn on_cores_that_came_later() {
    alone::in_each_strategy("rows::decided_on_one_core");
}

/// Keeps the calling thread to one of the cores that it may use.
fn keep_to_one() {
    keep_to_nth(0);
}

/// Keeps the calling thread to the core numbered `nth` of those that it may use, counted round and
/// round.
pub(crate) fn keep_to_nth(nth: usize) {
    let all = cores();
    // SAFETY: all zeros are a valid set; the numbers are within its size.
    let one = unsafe {
        let mut one: libc::cpu_set_t = zeroed();
        let numbers = 0..libc::CPU_SETSIZE as usize;
        let mut there = numbers.filter(|core| libc::CPU_ISSET(*core, &all));
        let count = there.clone().count();
        libc::CPU_SET(there.nth(nth % count).expect("a core that we run on"), &mut one);
        one
    };
    keep_to(&one);
}

/// Rows open one after the other, in the first adds of a process. A reader that learns of an add
/// counts it.
#[test]
fn under_a_reader_while_they_open() {
    let all = alone::WAYS.into_iter().chain([alone::BY_PROCESSOR]).map(|way| (way, ""));
    for ([strategy, leases], rows) in all.chain([(alone::WAYS[0], "1"), (alone::WAYS[1], "1")]) {
        for _ in 0..5 {
            let variables = [strategy, leases, ("WINDROW_ROWS", rows)];
            alone::run("rows::opened_under_a_reader", &variables);
        }
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn opened_under_a_reader() {
    const THREADS: u64 = 6;
    let clock = Manual::default();
    let window = SlidingWindow::<Seen>::builder().interval(ns(20)).buckets(2).clock(clock);
    let window = window.build().expect("a valid window");
    let (counter, most) = (Counter::new(), Maximum::new());
    let (told, begin) = (AtomicU64::new(0), Barrier::new(THREADS as usize + 1));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (counter, most, window, told, begin) = (&counter, &most, &window, &told, &begin);
            scope.spawn(move || {
                keep_to_nth(thread as usize);
                begin.wait();
                counter.increment();
                most.record(thread + 1);
                window.add(Seen::Pass, 1);
                window.record(Seen::Rt, 1);
                told.fetch_add(1, Ordering::Release);
            });
        }
        begin.wait();
        loop {
            let told = told.load(Ordering::Acquire);
            let stats = window.stats(Seen::Rt);
            let found = [counter.sum(), window.sum(Seen::Pass), stats.count, stats.sum];
            assert!(
                found.iter().all(|found| (told..=THREADS).contains(found)),
                "{told}: {found:?}"
            );
            assert!(told == 0 || most.get() >= Some(1), "no record is seen");
            if told == THREADS {
                break;
            }
        }
    });
    assert_eq!(counter.take(), THREADS);
    assert_eq!((most.get(), window.lifetime(Seen::Pass).sum), (Some(THREADS), THREADS));
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn decided_on_one_core() {
    let all = cores();
    keep_to_one();
    let before = Work::new();
    let books = [before.run(0)];
    keep_to(&all);
    by_threads(|| ());
    before.check(0..1, &books);
    before.grows_exactly();
}

/// Whatever cores the first thread may use. (A C library may count only those: musl does.)
#[test]
fn as_many_rows_as_the_machine_has_cores() {
    for [strategy, leases] in alone::WAYS.into_iter().chain([alone::BY_PROCESSOR]) {
        alone::run("rows::counted_on_one_core", &[strategy, leases, ("WINDROW_ROWS", "")]);
    }
}

/// Returns the number of mapped bytes, written or not.
fn mapped() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").expect("the size of this process");
    let pages: u64 = pages.split(' ').next().and_then(|size| size.parse().ok()).expect("pages");
    pages * sysconf(libc::_SC_PAGESIZE)
}

/// Returns the number of rows that the first add of this process maps.
fn rows_mapped() -> u64 {
    /// Bytes of a row in the segment of cells that the first column comes from.
    const ROW: u64 = 64 << 10;
    strategy();
    let before = mapped();
    Counter::new().increment();
    (mapped() - before) / ROW
}

/// Returns the number of cores that the machine has or may have, at most 256.
fn cores_there() -> u64 {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible").expect("a list of cores");
    let number = |digits: &str| digits.parse::<u64>().expect("a number");
    let ranges = text.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        number(last) - number(first) + 1
    });
    ranges.sum::<u64>().min(256)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counted_on_one_core() {
    keep_to_one();
    let (rows, cores) = (rows_mapped(), cores_there());
    // Where threads lease rows, there are two for each core, and a second bank for threads that
    // find no free row. Where all cores have rows of their own, there are no others.
    let there = if windrow::diagnostics::leases() { (2 * cores).min(256) + cores } else { cores };
    assert_eq!(rows, there, "{:?}", strategy());
}

/// No thread leases a row where counters and windows are per core, also if leases are asked for.
#[test]
fn no_row_to_lease_where_all_is_per_core() {
    for leases in ["", "on"] {
        alone::run("rows::leases_only_without_sequences", &[("WINDROW_LEASES", leases)]);
        let portable = [("WINDROW_LEASES", leases), ("WINDROW_STRATEGY", "portable")];
        alone::run("rows::leases_only_without_sequences", &portable);
    }
    alone::run("rows::leases_where_windows_are_portable", &[("WINDROW_LEASES", "on")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn leases_only_without_sequences() {
    let window = testkit::window::<Seen>(ns(10), 2, &Manual::default());
    let is_per_core = [strategy(), window.strategy()] == [Strategy::PerCore; 2];
    let is_asked = std::env::var("WINDROW_LEASES").is_ok_and(|leases| leases == "on");
    let is_leasing =
        !is_per_core && (is_asked || cfg!(any(target_arch = "x86_64", target_arch = "aarch64")));
    assert_eq!(windrow::diagnostics::leases(), is_leasing, "{:?}", strategy());
}

/// A kernel that refuses barriers has portable windows beside per-core counters.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn leases_where_windows_are_portable() {
    crate::refused::refuse(libc::SYS_membarrier);
    let window = testkit::window::<Seen>(ns(10), 2, &Manual::default());
    assert_ne!(window.strategy(), Strategy::PerCore);
    assert!(windrow::diagnostics::leases());
    by_threads(|| ());
}

/// A core without a row of its own shares one of the second bank: it leaves alone the cell that all
/// threads share.
#[test]
fn a_core_beyond_all_rows_shares_a_row() {
    let variables = [("WINDROW_STRATEGY", "cpu-id"), ("WINDROW_ROWS", "1")];
    alone::run("rows::on_a_core_without_a_row", &variables);
    let variables = [("WINDROW_STRATEGY", ""), ("WINDROW_ROWS", "1")];
    alone::run("rows::with_fewer_rows_than_threads", &variables);
}

/// Runs `work` on the core numbered `nth`, on a thread of its own.
fn on_core<R: Send>(nth: usize, work: impl FnOnce() -> R + Send) -> R {
    let run = || {
        keep_to_nth(nth);
        work()
    };
    thread::scope(|scope| scope.spawn(run).join().expect("no thread panics"))
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn on_a_core_without_a_row() {
    if strategy() != Strategy::PerCore || cores_there() < 2 {
        return;
    }
    assert_eq!(rows_mapped(), 2, "a row, and one that the other cores share");
    let (hits, most, least) = (Counter::new(), Maximum::new(), Minimum::new());
    on_core(1, || {
        (0..1_000).for_each(|_| hits.increment());
        hits.fetch_add(1, Ordering::SeqCst);
        (5..9).for_each(|value| most.record(value));
        (5..9).for_each(|value| least.record(value));
    });
    let by_row = hits.by_row();
    assert_eq!((hits.sum(), by_row.shared, &by_row.rows[..]), (1_001, 0, &[1_001][..]));
    assert_eq!((most.get(), least.get()), (Some(8), Some(5)));
    on_core(0, || {
        hits.add(9);
        most.record(10);
    });
    assert_eq!((hits.take(), hits.by_row().shared, most.get()), (1_010, 0, Some(10)));
    on_core(1, || hits.add(2));
    assert_eq!((hits.take(), hits.lifetime()), (2, 1_012));
    drop(hits);
    assert_eq!(Counter::new().sum(), 0);
    let next = Counter::new(); // in the same column
    next.increment();
    assert_eq!(next.sum(), 1);
}

/// Threads hop between the core that has a row and others; readers come between.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn with_fewer_rows_than_threads() {
    const ADDS: u64 = 20_000;
    by_threads(|| ());
    let (hits, taken) = (Counter::new(), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..4 {
            let (hits, taken) = (&hits, &taken);
            scope.spawn(move || {
                for turn in 0..ADDS {
                    if turn % 500 == 0 {
                        keep_to_nth(turn as usize / 500 + thread);
                        taken.fetch_add(hits.take(), Ordering::Relaxed);
                    }
                    hits.increment();
                }
            });
        }
    });
    assert_eq!(taken.into_inner() + hits.take(), 4 * ADDS);
    assert_eq!((hits.lifetime(), hits.by_row().shared), (4 * ADDS, 0));
}

/// Pages of rows that no thread has written take no memory, also where the kernel would rather map
/// two megabytes at once.
#[test]
fn rows_are_mapped_by_small_pages() {
    alone::in_each_strategy("rows::no_huge_pages");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn no_huge_pages() {
    if !fs::exists("/sys/kernel/mm/transparent_hugepage").is_ok_and(|there| there) {
        return; // the kernel has none
    }
    strategy();
    let before = [mapped(), mapped_small()];
    Counter::new().increment();
    assert_eq!(mapped_small() - before[1], mapped() - before[0]);
}

/// Returns the number of mapped bytes of which the kernel makes no huge pages.
fn mapped_small() -> u64 {
    let text = fs::read_to_string("/proc/self/smaps").expect("the mappings of this process");
    let (mut size, mut small) = (0, 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("Size:") => size = words.next().and_then(|size| size.parse().ok()).expect("KiB"),
            Some("VmFlags:") if words.any(|flag| flag == "nh") => small += size,
            _ => {}
        }
    }
    small << 10
}

/// A thread that has unregistered itself, like one made by other code than glibc, which never was
/// registered.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod unregistered {
    use std::arch::asm;

    use super::{Counter, Manual, Seen, SlidingWindow, Strategy, alone, by_threads, thread};

    /// Unregisters the calling thread. False if it cannot be done.
    fn unregister() -> bool {
        const UNREGISTER: libc::c_int = 1;
        const SIGNATURE: u32 = 0x5305_3053;
        // SAFETY: asks for a name; glibc's manual gives it this type.
        let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
        if offset.is_null() {
            return false;
        }
        // SAFETY: as above.
        let offset = unsafe { offset.cast::<isize>().read() };
        let thread: *mut u8;
        // SAFETY: the first word of a thread's own block is its address.
        unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) thread, options(nostack, readonly)) };
        let area = thread.wrapping_offset(offset);
        // The registered length of the area differs between versions of glibc.
        (32..=256).step_by(4).any(|length: usize| {
            // SAFETY: the area is this thread's own. The kernel refuses any other than the
            // registered one.
            unsafe { libc::syscall(libc::SYS_rseq, area, length, UNREGISTER, SIGNATURE) == 0 }
        })
    }

    #[test]
    fn unregistered_threads() {
        alone::run("rows::unregistered::threads_without_a_row", &[]);
        alone::run("rows::unregistered::beside_threads_with_rows", &[]);
    }

    /// Threads that leave their rows, beside others that take these over, on other cores.
    #[test]
    #[ignore = "run by another test, in a process of its own"]
    fn beside_threads_with_rows() {
        const ADDS: u64 = 200_000;
        let window = SlidingWindow::<Seen>::builder().clock(Manual::default());
        let (window, hits) = (window.build().expect("a valid window"), Counter::new());
        thread::scope(|scope| {
            for number in 0..4 {
                let (window, hits) = (&window, &hits);
                scope.spawn(move || {
                    super::keep_to_nth(number);
                    for turn in 0..ADDS {
                        if turn == 1_000 && number % 2 == 0 {
                            unregister();
                        }
                        hits.increment();
                        window.add(Seen::Pass, 1);
                        window.record(Seen::Rt, turn);
                    }
                });
            }
        });
        let stats = window.stats(Seen::Rt);
        let found = [hits.sum(), window.sum(Seen::Pass), stats.count];
        assert_eq!((found, stats.max), ([4 * ADDS; 3], Some(ADDS - 1)));
        assert_eq!(stats.sum, 4 * (0..ADDS).sum::<u64>());
    }

    #[test]
    #[ignore = "run by another test, in a process of its own"]
    fn threads_without_a_row() {
        let is_per_core = windrow::diagnostics::strategy() == Strategy::PerCore;
        by_threads(|| println!("unregistered: {}", unregister()));
        // Such a thread leaves rows alone, also the first, whose number its area may show; and also
        // if it has counted there before. (On one core after the other, some of them have.)
        let (hits, before) = (Counter::new(), Counter::new());
        for threads in 1..=20 {
            let is_without = thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    super::keep_to_nth(threads as usize);
                    before.increment();
                    let is_without = unregister();
                    (0..1_000).for_each(|_| hits.increment());
                    is_without
                });
                thread.join().expect("no thread panics")
            });
            if is_per_core && is_without {
                let all = 1_000 * threads;
                assert_eq!((hits.sum(), hits.by_row().shared), (all, all));
            }
        }
    }
}
