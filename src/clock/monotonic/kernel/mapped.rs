//! The kernel's `clock_gettime`, found in the object that it maps into each process (`vdso(7)`).
//!
//! The C library calls the same function, behind some twenty instructions of its own: a third of
//! the time of a coarse reading. A reading calls it by a pointer, which begins as that of a
//! function that looks first. Where nothing is found, it becomes that of the C library's function.
//!
//! # Why it is right
//!
//! The object is a shared library in the format of all others (ELF), at the address that the
//! auxiliary vector tells. The kernel made it, so its tables are whole: what they point at lies in
//! it. It stays mapped for as long as the process runs, and its functions are part of the kernel's
//! stable interface (`Documentation/ABI/stable/vdso`). They fail where the system call does, and
//! then return the negative number of the error and not -1; no caller here looks at it.

use std::ffi::CStr;
use std::mem::transmute;

use crate::sync::{AtomicPtr, Ordering};

/// `clock_gettime`.
type Gettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

/// The function to call.
static FOUND: AtomicPtr<()> = AtomicPtr::new(look_first as *const () as *mut ());

/// Asks a clock for the time.
#[inline]
pub(super) unsafe extern "C" fn gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    // Relaxed: the functions were there before the program began.
    let found = FOUND.load(Ordering::Relaxed);
    // SAFETY: it is one of three functions of this type; the caller keeps their contract.
    unsafe { transmute::<*mut (), Gettime>(found)(clock, time) }
}

#[cold]
unsafe extern "C" fn look_first(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    let found = find(c"__vdso_clock_gettime");
    let found = found.unwrap_or(libc::clock_gettime as *const () as *mut ());
    FOUND.store(found, Ordering::Relaxed); // all threads find the same
    // SAFETY: by the caller.
    unsafe { gettime(clock, time) }
}

/// An entry of an object's dynamic section.
#[repr(C)]
struct Entry {
    tag: i64,
    value: u64,
}

const DT_NULL: i64 = 0;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;

/// Returns the address of a function of the kernel's object; `None` if there is no such function,
/// or no object that this code can read.
fn find(name: &CStr) -> Option<*mut ()> {
    // SAFETY: reads the auxiliary vector; zero if it has no such entry.
    let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    let base = std::ptr::with_exposed_provenance::<u8>(base);
    if base.is_null() {
        return None;
    }
    // SAFETY: the kernel's object begins with its header, and its tables lie in it. All of them are
    // aligned as their types are. Addresses in it are distances from where it begins.
    unsafe {
        let header = &*base.cast::<libc::Elf64_Ehdr>();
        if header.e_ident[..5] != *b"\x7fELF\x02" {
            return None;
        }
        let programs = base.add(header.e_phoff as usize).cast::<libc::Elf64_Phdr>();
        let programs = std::slice::from_raw_parts(programs, header.e_phnum.into());
        let of_kind = |kind| programs.iter().find(|program| program.p_type == kind);
        // Where the object was linked to begin.
        let loaded = of_kind(libc::PT_LOAD)?;
        let linked = loaded.p_vaddr.wrapping_sub(loaded.p_offset);
        let at = |address: u64| base.wrapping_add(address.wrapping_sub(linked) as usize);
        let dynamic = at(of_kind(libc::PT_DYNAMIC)?.p_vaddr).cast::<Entry>();
        let value = |tag| {
            let mut entry = dynamic;
            while (*entry).tag != tag {
                if (*entry).tag == DT_NULL {
                    return None;
                }
                entry = entry.add(1);
            }
            Some(at((*entry).value))
        };
        let texts = value(DT_STRTAB)?;
        let symbols = value(DT_SYMTAB)?.cast::<libc::Elf64_Sym>();
        // The second word of this table is the number of symbols.
        let count = value(DT_HASH)?.cast::<u32>().add(1).read();
        let symbols = std::slice::from_raw_parts(symbols, count as usize);
        let is_it = |symbol: &&libc::Elf64_Sym| {
            let is_defined = symbol.st_shndx != 0;
            is_defined && CStr::from_ptr(texts.add(symbol.st_name as usize).cast()) == name
        };
        let found = symbols.iter().find(is_it)?;
        Some(at(found.st_value).cast_mut().cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_the_function_and_no_other() {
        assert!(find(c"__vdso_clock_gettime").is_some());
        assert!(find(c"__vdso_clock_gettime_").is_none());
        assert!(find(c"").is_none());
    }

    #[test]
    fn it_tells_the_time_that_the_c_library_tells() {
        let ask = |ask: Gettime, clock| {
            let mut time = libc::timespec { tv_sec: -1, tv_nsec: -1 };
            // SAFETY: `time` is a valid timespec.
            assert_eq!(unsafe { ask(clock, &raw mut time) }, 0);
            (time.tv_sec, time.tv_nsec)
        };
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_MONOTONIC_COARSE] {
            for _ in 0..1_000 {
                let before = ask(libc::clock_gettime, clock);
                let between = ask(gettime, clock);
                let behind = ask(libc::clock_gettime, clock);
                assert!(before <= between && between <= behind);
            }
        }
    }
}
