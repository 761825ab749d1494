//! Operations that a signal interrupts at each of their instructions. The handler counts, too, and
//! moves its thread to another core.
//!
//! The instructions are found by stepping through an operation once. The kernel sends a thread that
//! is in the middle of a sequence to the abort address before the handler runs; so the handler
//! sends it back to where the sequence starts, unprotected, and goes on stepping. Later each
//! instruction is replaced by a breakpoint once.

use std::arch::asm;
use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::mem::zeroed;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::{fs, thread};

use testkit::{alone, ns};
use windrow::clock::Manual;
use windrow::diagnostics::{Strategy, strategy};
use windrow::gate::RationedGate;
use windrow::{Counter, Gate, Maximum, SlidingWindow};

use crate::Seen;

/// The longest operation, in instructions that are not optimised.
const MOST: usize = 1 << 18;

static STEPS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
static STEPPED: AtomicUsize = AtomicUsize::new(0);
/// The breakpoint; null while stepping.
static BREAKPOINT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
/// The byte that the breakpoint has replaced.
static BYTE: AtomicU8 = AtomicU8::new(0);
static HITS: AtomicU64 = AtomicU64::new(0);
/// The number that the handler adds to, and one of the operations.
static COUNTER: Counter = Counter::new();

/// `struct rseq_cs` of the kernel.
#[repr(C)]
struct Descriptor {
    version: u32,
    flags: u32,
    start: usize,
    length: usize,
    abort: usize,
}

/// Returns the descriptors of all sequences in this program.
fn descriptors() -> &'static [Descriptor] {
    unsafe extern "C" {
        #[link_name = "__start___rseq_cs"]
        static FIRST: Descriptor;
        #[link_name = "__stop___rseq_cs"]
        static END: Descriptor;
    }
    let (first, end) = (&raw const FIRST, &raw const END);
    // SAFETY: a linker has put all descriptors, and nothing else, between these symbols.
    unsafe { std::slice::from_raw_parts(first, end.offset_from_unsigned(first)) }
}

extern "C" fn trapped(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let next = &mut registers[libc::REG_RIP as usize];
    let mut at = next.cast_unsigned() as usize;
    let breakpoint = BREAKPOINT.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if breakpoint.is_null() {
        if let Some(sequence) = descriptors().iter().find(|one| one.abort == at) {
            at = sequence.start;
        }
        let step = STEPPED.fetch_add(1, Ordering::Relaxed);
        STEPS[step % MOST].store(at, Ordering::Relaxed);
        *next = (at as u64).cast_signed();
        return;
    }
    // SAFETY: code of this program, which may be written.
    unsafe { breakpoint.write_volatile(BYTE.load(Ordering::Relaxed)) };
    if at == breakpoint.addr() + 1 {
        *next -= 1; // otherwise it is the abort address
    }
    let hits = HITS.fetch_add(1, Ordering::Relaxed);
    COUNTER.increment();
    super::rows::keep_to_nth(hits as usize);
}

fn handle_traps() {
    // SAFETY: all zeros are a valid action but for its handler.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = trapped as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// Returns where this program's code is, which may be written from now on.
fn code() -> Range<usize> {
    let maps = fs::read_to_string("/proc/self/maps").expect("the mappings of this process");
    let ranges = maps.lines().filter_map(|line| {
        let (begin, rest) = line.split_once('-')?;
        let end = rest.split(' ').next()?;
        let number = |digits| usize::from_str_radix(digits, 16).ok();
        Some(number(begin)?..number(end)?)
    });
    let here = trapped as *const () as usize;
    let code =
        { ranges }.find(|range| range.contains(&here)).expect("the mapping of this function");
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let begin = std::ptr::with_exposed_provenance_mut(code.start);
    // SAFETY: this program's code.
    assert_eq!(unsafe { libc::mprotect(begin, code.len(), all) }, 0, "code cannot be written");
    code
}

/// Returns the instructions of `code` that `work` executes.
fn instructions(code: &Range<usize>, work: impl Fn()) -> BTreeSet<usize> {
    STEPPED.store(0, Ordering::Relaxed);
    // SAFETY: the trap flag alone, for which there is a handler.
    unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
    work();
    // SAFETY: as above.
    unsafe { asm!("pushfq", "and qword ptr [rsp], ~0x100", "popfq") };
    let stepped = STEPPED.load(Ordering::Relaxed);
    assert!((1..MOST).contains(&stepped), "{stepped} steps");
    let all = STEPS[..stepped].iter().map(|step| step.load(Ordering::Relaxed));
    all.filter(|at| code.contains(at)).collect()
}

fn on_a_new_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(work).join()).expect("no thread panics")
}

/// Has `make` make a thing, `work` work with it, and `check` check it, for each instruction of the
/// work: on a thread that has done this before, and on a new one.
fn at_each_instruction<T: Sync>(
    code: &Range<usize>,
    make: impl Fn() -> T,
    work: impl Fn(&T) + Sync,
    check: impl Fn(&T),
) {
    let work: &(dyn Fn(&T) + Sync) = black_box(&work); // always the same instructions
    work(&make()); // a process's first time is another matter
    let (here, there) = (make(), make());
    let mut steps = instructions(code, || work(&here));
    steps.extend(on_a_new_thread(|| instructions(code, || work(&there))));
    let mut hit = BTreeSet::new();
    for at in &steps {
        let before = HITS.load(Ordering::Relaxed);
        for is_new in [false, true] {
            let thing = make();
            let breakpoint: *mut u8 = std::ptr::with_exposed_provenance_mut(*at);
            // SAFETY: code of this program, which may be written; the handler restores it.
            unsafe {
                BYTE.store(breakpoint.read_volatile(), Ordering::Relaxed);
                BREAKPOINT.store(breakpoint, Ordering::Relaxed);
                breakpoint.write_volatile(0xcc);
            }
            if is_new {
                on_a_new_thread(|| work(&thing));
            } else {
                work(&thing);
            }
            if !BREAKPOINT.swap(std::ptr::null_mut(), Ordering::Relaxed).is_null() {
                // SAFETY: as above; it was not reached.
                unsafe { breakpoint.write_volatile(BYTE.load(Ordering::Relaxed)) };
            }
            check(&thing);
        }
        if HITS.load(Ordering::Relaxed) > before {
            hit.insert(*at); // others are executed where a row is opened, or memory claimed
        }
    }
    let is_in = |at: usize, one: &Descriptor| at.wrapping_sub(one.start) < one.length;
    let is_in_one = |at: &&usize| descriptors().iter().any(|one| is_in(**at, one));
    let [all, hit] = [&steps, &hit].map(|steps| steps.iter().filter(is_in_one).count());
    println!("{} instructions; in sequences {hit} of {all} interrupted", steps.len());
    assert!(hit > 0 || strategy() != Strategy::PerCore, "no sequence was interrupted");
}

#[test]
fn interrupted_at_each() {
    for way in alone::WAYS.into_iter().chain([alone::BY_PROCESSOR]) {
        alone::run("instructions::everything_interrupted_at_each", &way);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn everything_interrupted_at_each() {
    handle_traps();
    let code = code();
    counters(&code);
    extremes(&code);
    windows(&code);
    rations(&code);
}

fn counters(code: &Range<usize>) {
    let added = AtomicU64::new(0);
    let add = |(): &()| {
        added.fetch_add(1, Ordering::Relaxed);
        COUNTER.increment();
    };
    let check = |(): &()| {
        let all = added.load(Ordering::Relaxed) + HITS.load(Ordering::Relaxed);
        assert_eq!(COUNTER.sum(), all);
    };
    at_each_instruction(code, || (), add, check);
}

fn extremes(code: &Range<usize>) {
    let value = AtomicU64::new(0);
    let raise = |most: &Maximum| most.record(value.fetch_add(1, Ordering::Relaxed));
    let check = |most: &Maximum| assert_eq!(most.take(), Some(value.load(Ordering::Relaxed) - 1));
    at_each_instruction(code, Maximum::new, raise, check);
}

type Window = SlidingWindow<Seen, Manual>;

/// Makes a window that has counted a number and two values.
fn window() -> Window {
    let window = SlidingWindow::builder().interval(ns(40)).buckets(4).clock(Manual::default());
    let window: Window = window.build().expect("a valid window");
    window.add(Seen::Pass, 1);
    window.record(Seen::Rt, 10);
    window.record(Seen::Rt, 20);
    window
}

fn windows(code: &Range<usize>) {
    let check = |count, sum, extremes: [u64; 2]| {
        move |window: &Window| {
            let stats = window.stats(Seen::Rt);
            assert_eq!((window.sum(Seen::Pass), stats.count, stats.sum), (2, count, sum));
            assert_eq!([stats.min, stats.max], extremes.map(Some));
            assert_eq!(window.lifetime(Seen::Rt).count, count);
        }
    };
    let within = |window: &Window| {
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, 15);
    };
    at_each_instruction(code, window, within, check(3, 45, [10, 20]));
    let beyond = |window: &Window| {
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, 30);
        window.record(Seen::Rt, 5);
    };
    at_each_instruction(code, window, beyond, check(4, 65, [5, 30]));
    // The first add opens a bucket.
    let later = || {
        let window = window();
        window.clock().advance(ns(10));
        window
    };
    at_each_instruction(code, later, within, check(3, 45, [10, 20]));
}

/// Makes a gate that has granted a ration, of which one is taken.
fn gate() -> RationedGate<Manual> {
    let gate = Gate::builder(1 << 20).interval(ns(40)).buckets(4).clock(Manual::default());
    let gate = gate.build_rationed(8).expect("a valid gate");
    assert!(gate.try_admit(1));
    gate
}

fn rations(code: &Range<usize>) {
    let admit = |gate: &RationedGate<Manual>| assert!(gate.try_admit(1), "the limit is far away");
    let check = |gate: &RationedGate<Manual>| {
        assert_eq!(
            gate.gate().granted(),
            2 + gate.unused(),
            "what is granted is taken, or in a row"
        );
    };
    at_each_instruction(code, gate, admit, check);
    // The rest of the ration is given back.
    let later = || {
        let gate = gate();
        gate.gate().clock().advance(ns(10));
        gate
    };
    at_each_instruction(code, later, admit, check);
}
