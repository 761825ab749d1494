//! What the per-core strategy needs to know of this process: detected once, before its first use.

use crate::stripe::numbered::Numbered;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::thread_end;

/// Offsets in `struct rseq` of the kernel.
pub(super) mod area {
    pub(in crate::stripe) const CPU_ID: usize = 4;
    pub(in crate::stripe) const RSEQ_CS: usize = 8;
    pub(in crate::stripe) const MM_CID: usize = 24;
    /// The least length of an area with a concurrency id.
    pub(in crate::stripe) const WITH_MM_CID: usize = 28;
}

/// What [`detect`] has found out. It is filled before any column is tagged.
///
/// On a line of its own: every add reads it.
#[repr(C, align(64))]
pub(super) struct Detected {
    /// Offset of a thread's area from its thread pointer.
    pub(super) area: AtomicUsize,
    /// How many rows are open (see [`open`](crate::stripe::open)).
    pub(super) open: AtomicUsize,
    /// Whether rows are numbered by concurrency id.
    pub(super) is_by_id: AtomicBool,
}

pub(super) static DETECTED: Detected = Detected {
    area: AtomicUsize::new(0),
    open: AtomicUsize::new(1),
    is_by_id: AtomicBool::new(false),
};

/// The number by which rows are told apart. The strategy is decided.
pub(crate) fn numbered() -> Numbered {
    // Relaxed: published with the decision.
    if DETECTED.is_by_id.load(Ordering::Relaxed) { Numbered::ById } else { Numbered::ByProcessor }
}

/// How many rows are open: the word.
#[inline]
pub(in crate::stripe) fn open_rows() -> &'static AtomicUsize {
    &DETECTED.open
}

/// Returns the address of a symbol that glibc may define, or null.
///
/// A program that is linked statically has no table of symbols to search. There the linker answers:
/// a weak reference to what no object defines is null. Linked dynamically, a weak reference would
/// make the program demand the version of glibc that it was linked with, so there the table is
/// searched.
macro_rules! address {
    ($name:literal) => {{
        #[cfg(target_feature = "crt-static")]
        {
            let address: *const libc::c_void;
            // SAFETY: loads the symbol's entry in the global offset table, which is always there.
            unsafe {
                std::arch::asm!(
                    concat!(".weak ", $name),
                    concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                    out(reg) address,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            address
        }
        #[cfg(not(target_feature = "crt-static"))]
        {
            let name = concat!($name, "\0").as_ptr().cast();
            // SAFETY: looks a name, which ends with a zero, up in the objects that are loaded.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name).cast_const() }
        }
    }};
}

/// Returns whether the kernel and glibc offer restartable sequences.
///
/// With `dense`, rows are numbered by concurrency id where there is one. Threads that call it at
/// the same time find the same.
pub(in crate::stripe) fn detect(dense: bool) -> bool {
    let (offset, size) = (address!("__rseq_offset"), address!("__rseq_size"));
    if offset.is_null() || size.is_null() {
        return false; // another libc, or an old one
    }
    // SAFETY: these symbols have these types by glibc's manual ("Restartable Sequences"). glibc
    // sets them before any code of the library runs.
    let (offset, size) = unsafe { (offset.cast::<isize>().read(), size.cast::<u32>().read()) };
    let size = size as usize;
    if size == 0 {
        return false; // not registered: an old kernel, a sandbox, or a tunable
    }
    let has_mm_cid = size >= area::WITH_MM_CID
        // glibc says 20 for the original area, or 32, its padded size, whatever the kernel fills.
        // The auxiliary vector says what the kernel fills.
        || (matches!(size, 20 | 32) && feature_size() >= area::WITH_MM_CID);
    thread_end::keep_code();
    // Relaxed: published with the decision, and with every column after it.
    DETECTED.area.store(offset.cast_unsigned(), Ordering::Relaxed);
    DETECTED.is_by_id.store(dense && has_mm_cid, Ordering::Relaxed);
    true
}

/// Whether the processor stores the sixteen bytes of [`record_live`](super::record_live) as one. A
/// reader that counts a record must find its value in the sum, so it must not see one half without
/// the other.
///
/// Intel (SDM, volume 3A, "Guaranteed Atomic Operations") and AMD (APM, volume 2, "Access
/// Atomicity") promise this of aligned stores for all processors that have AVX, and for no others.
/// (A counter's eight bytes do not need it.)
pub(crate) fn pairs_are_whole() -> bool {
    std::arch::is_x86_feature_detected!("avx") // std caches the answer
}

/// How much of the area the kernel fills.
fn feature_size() -> usize {
    const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27; // include/uapi/linux/auxvec.h
    // SAFETY: reads the auxiliary vector; zero if it has no such entry.
    unsafe { libc::getauxval(AT_RSEQ_FEATURE_SIZE) as usize }
}
