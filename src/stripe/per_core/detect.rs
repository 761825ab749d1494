//! Detection of restartable sequences, once in a process, before their first use.

use crate::stripe::row_numbers::Numbered;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::thread_end;

/// Offsets in `struct rseq` of the kernel.
pub(super) mod area {
    pub(in crate::stripe) const CPU_ID: usize = 4;
    pub(in crate::stripe) const RSEQ_CS: usize = 8;
    pub(in crate::stripe) const MM_CID: usize = 24;
    /// The minimum length of an area with a concurrency id.
    pub(in crate::stripe) const WITH_MM_CID: usize = 28;
}

/// The result of [`detect`]. It is written before any column is tagged.
///
/// It is on a cache line of its own, because every add reads it.
#[repr(C, align(64))]
pub(super) struct Detected {
    /// Offset of a thread's area from its thread pointer; zero until it is known.
    pub(super) area: AtomicUsize,
    /// The number of open rows (see [`open`](crate::stripe::open_rows)).
    pub(super) open: AtomicUsize,
    /// True if rows are numbered by concurrency id.
    pub(super) is_by_id: AtomicBool,
    /// True if adds are in line.
    is_in_line: AtomicBool,
}

pub(super) static DETECTED: Detected = Detected {
    area: AtomicUsize::new(0),
    open: AtomicUsize::new(1),
    is_by_id: AtomicBool::new(false),
    is_in_line: AtomicBool::new(false),
};

/// Returns the number by which rows are identified. The strategy must be decided.
#[inline]
pub(crate) fn numbered() -> Numbered {
    // Relaxed: published with the decision.
    if DETECTED.is_by_id.load(Ordering::Relaxed) { Numbered::ById } else { Numbered::ByProcessor }
}

/// Returns whether per-core adds are in line. The strategy must be decided.
#[inline]
pub(crate) fn is_in_line() -> bool {
    DETECTED.is_in_line.load(Ordering::Relaxed) // as above
}

/// Returns the word with the numbers of open rows.
#[inline]
pub(in crate::stripe) fn open_rows() -> &'static AtomicUsize {
    &DETECTED.open
}

/// Returns the distance of the number of a thread's row from its thread pointer. The strategy must
/// be decided, and per core.
pub(in crate::stripe) fn number_place() -> usize {
    let begin = DETECTED.area.load(Ordering::Relaxed); // as above
    begin.wrapping_add(match numbered() {
        Numbered::ById => area::MM_CID,
        Numbered::ByProcessor => area::CPU_ID,
    })
}

/// Returns the address of a symbol that glibc may define, or null.
///
/// A statically linked program has no table of symbols to search. There the linker resolves the
/// symbol: a weak reference to a symbol that no object defines is null. In a dynamically linked
/// program a weak reference would demand the version of glibc with which it was linked, so there
/// the table is searched.
macro_rules! address {
    ($name:literal) => {{
        #[cfg(target_feature = "crt-static")]
        {
            let address: *const libc::c_void;
            // SAFETY: loads the symbol's entry in the global offset table, which is always there.
            unsafe {
                #[cfg(target_arch = "x86_64")]
                std::arch::asm!(
                    concat!(".weak ", $name),
                    concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                    out(reg) address,
                    options(pure, nomem, nostack, preserves_flags),
                );
                #[cfg(target_arch = "aarch64")]
                std::arch::asm!(
                    concat!(".weak ", $name),
                    concat!("adrp {0}, :got:", $name),
                    concat!("ldr {0}, [{0}, :got_lo12:", $name, "]"),
                    out(reg) address,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            address
        }
        #[cfg(not(target_feature = "crt-static"))]
        {
            let name = concat!($name, "\0").as_ptr().cast();
            // SAFETY: looks up a name, which ends with a zero, in the loaded objects.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name).cast_const() }
        }
    }};
}

/// Returns whether the kernel and glibc offer restartable sequences.
///
/// With `dense`, rows are numbered by concurrency id where there is one; then adds are in line if
/// they `may_be`. Concurrent calls return the same.
#[inline]
pub(super) fn detect(dense: bool, may_be_in_line: fn() -> bool) -> bool {
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
    if offset == 0 {
        return false; // where the thread pointer leads there is something else; see `Detected`
    }
    let has_mm_cid = size >= area::WITH_MM_CID
        // glibc reports 20 for the original area, or its padded size of 32. The auxiliary vector
        // has the size that the kernel fills.
        || (matches!(size, 20 | 32) && feature_size() >= area::WITH_MM_CID);
    thread_end::keep_code();
    // Relaxed: published with the decision, and with every column after it.
    DETECTED.area.store(offset.cast_unsigned(), Ordering::Relaxed);
    DETECTED.is_by_id.store(dense && has_mm_cid, Ordering::Relaxed);
    let is_in_line = dense && has_mm_cid && may_be_in_line();
    DETECTED.is_in_line.store(is_in_line, Ordering::Relaxed);
    true
}

/// Returns the size of the area that the kernel fills.
#[inline]
fn feature_size() -> usize {
    const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27; // include/uapi/linux/auxvec.h
    // SAFETY: reads the auxiliary vector; zero if it has no such entry.
    unsafe { libc::getauxval(AT_RSEQ_FEATURE_SIZE) as usize }
}
