//! A processor without AVX, which does not promise that a store of sixteen bytes is seen whole.

use std::arch::x86_64::__cpuid_count;
use std::mem::zeroed;
use std::ptr;

use windrow::clock::Manual;
use windrow::diagnostics::{Strategy, strategy};

use crate::Seen;
use crate::work::Work;
use testkit::{alone, ns, window};

/// Lets this thread, and those that it will start, ask the processor for its features, or not.
/// False if the processor always answers.
fn may_ask(may: bool) -> bool {
    const ARCH_SET_CPUID: libc::c_int = 0x1012; // asm/prctl.h
    // SAFETY: only makes `cpuid` a fault, or no more.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_CPUID, libc::c_ulong::from(may)) == 0 }
}

/// Answers in the processor's place, all but that it has AVX.
extern "C" fn answer(_signal: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    const CPUID: [u8; 2] = [0x0f, 0xa2];
    const AVX: u32 = 1 << 28; // of leaf 1, in ecx
    // SAFETY: the kernel's word on the thread that it has interrupted, which waits for us.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let mut register = |which: libc::c_int| &raw mut registers[which.unsigned_abs() as usize];
    let (next, a, b) = (register(libc::REG_RIP), register(libc::REG_RAX), register(libc::REG_RBX));
    let (c, d) = (register(libc::REG_RCX), register(libc::REG_RDX));
    // SAFETY: they are the thread's registers, and the next instruction is readable: it has
    // faulted.
    unsafe {
        if *(*next as *const [u8; 2]) != CPUID || !may_ask(true) {
            libc::abort();
        }
        let low = |register: i64| (register & 0xffff_ffff).unsigned_abs() as u32;
        let (leaf, part) = (low(*a), low(*c));
        let said = __cpuid_count(leaf, part);
        may_ask(false);
        let ecx = if leaf == 1 { said.ecx & !AVX } else { said.ecx };
        (*a, *b, *c, *d) = (said.eax.into(), said.ebx.into(), ecx.into(), said.edx.into());
        *next += size_of_val(&CPUID).cast_signed() as i64;
    }
}

/// From now on there is no AVX, as far as this thread can find out. False if it can.
fn hide_avx() -> bool {
    // SAFETY: the handler only changes the context that it was given.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = answer as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, ptr::null_mut()), 0);
    }
    may_ask(false)
}

/// Returns the strategy of windows.
fn of_windows() -> Strategy {
    window::<Seen>(ns(10), 4, &Manual::default()).strategy()
}

/// Defect: values were recorded by stores of sixteen bytes on every processor.
#[test]
fn windows_are_portable_where_pairs_are_not_whole() {
    alone::run("processor::without_avx", &[("WINDROW_STRATEGY", "")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn without_avx() {
    if !hide_avx() {
        println!("skipped: this processor always answers questions about its features");
        return;
    }
    assert!(!is_x86_feature_detected!("avx"), "the features were asked for before");
    let counters = strategy();
    assert_ne!(of_windows(), Strategy::PerCore, "a window records values by sequences");
    let work = Work::new();
    work.check(0..1, &[work.run(0)]);
    work.grows_exactly();
    assert_eq!(strategy(), counters);
    println!("counters are {counters:?}");
}

/// Asks the question with nothing hidden, so that the answer can be the opposite.
#[test]
fn windows_are_per_core_where_pairs_are_whole() {
    alone::run("processor::as_it_is", &[("WINDROW_STRATEGY", "")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn as_it_is() {
    // SAFETY: asks what there is; it changes nothing.
    let barriers = unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) };
    let rseq = barriers > 0 && barriers & (1 << 7) != 0;
    let sequences = strategy() == Strategy::PerCore && rseq && is_x86_feature_detected!("avx");
    assert_eq!(of_windows() == Strategy::PerCore, sequences);
}
