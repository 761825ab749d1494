//! The sequences on x86-64: one instruction that writes to memory, without a lock, is the commit.

use std::arch::asm;
use std::sync::atomic::AtomicU64;

use super::miss::Miss;
use crate::layout::ROW_SHIFT;

/// One sequence. The commit finds the distance of this processor's row in `{row}`, and ends with
/// the one instruction that writes.
macro_rules! sequence {
    ($area:expr, $rows:expr, $first:expr, $value:expr, commit: [$($commit:literal),+]) => {
        asm!(
            // The descriptor, 32 bytes: version 0, flags 0; start, length, abort address.
            ".pushsection __rseq_cs, \"aw?\", @progbits",
            ".balign 32",
            "66:",
            ".long 0, 0",
            ".quad 62f, 63f - 62f, 64f",
            ".popsection",
            // The abort address, after glibc's signature as an operand of `ud1`.
            ".pushsection .text.rseq_abort, \"ax?\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "64:",
            "jmp {aborted}",
            ".popsection",
            // Armed by the last instruction before the start.
            "lea {row}, [rip + 66b]",
            "mov qword ptr fs:[{area} + {rseq_cs}], {row}",
            "62:",
            "mov {row:e}, dword ptr fs:[{area} + {cpu_id}]",
            "cmp {row:e}, {rows:e}",
            "jae {no_row}",
            "shl {row}, {row_shift}",
            $($commit,)+
            "63:",
            row = out(reg) _,
            area = in(reg) $area,
            rows = in(reg) $rows,
            first = in(reg) $first,
            value = in(reg) $value,
            cpu_id = const 4,
            rseq_cs = const 8,
            row_shift = const ROW_SHIFT,
            aborted = label { return Err(Miss::Aborted) },
            no_row = label { return Err(Miss::NoRow) },
            options(nostack),
        )
    };
}

changes! {
    add: ["add qword ptr [{row} + {first}], {value}"],
    raise: [
        "cmp qword ptr [{row} + {first}], {value}",
        "jae 63f",
        "mov qword ptr [{row} + {first}], {value}"
    ]
}

#[cfg(test)]
mod tests {
    use crate::file::File;
    use crate::sequence::area;

    /// `struct rseq_cs` of the kernel.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Descriptor {
        version: u32,
        flags: u32,
        start: u64,
        length: u64,
        abort: u64,
    }

    /// Returns the descriptor that a change has armed, by this thread's area.
    fn armed_by(change: impl Fn()) -> Option<Descriptor> {
        let area = area()?;
        loop {
            change();
            let address: u64;
            // SAFETY: reads this thread's area, which is registered.
            unsafe {
                std::arch::asm!(
                    "mov {}, qword ptr fs:[{} + 8]",
                    out(reg) address,
                    in(reg) area,
                    options(nostack, readonly, preserves_flags),
                );
            }
            // Zero if the thread was interrupted in between.
            if address != 0 {
                assert_eq!(address % 32, 0);
                // SAFETY: the kernel reads the same.
                return Some(unsafe { *(address as *const Descriptor) });
            }
        }
    }

    #[test]
    fn descriptors_are_what_the_kernel_wants_and_commits_come_last() {
        let file = File::builder().columns(512).sealed().unwrap();
        let cells = file.counter("a", &[]).unwrap().cells;
        // An `add` to memory of a register, or a `mov`: a prefix, the code, then the address.
        for (code, change) in [(0x01, &(|| cells.add(1)) as &dyn Fn()), (0x89, &|| cells.raise(1))]
        {
            let Some(found) = armed_by(change) else { return }; // no sequences here
            assert_eq!((found.version, found.flags), (0, 0));
            assert!((10..60).contains(&found.length), "{}", found.length);
            let outside = found.abort.wrapping_sub(found.start) >= found.length;
            assert!(outside, "an abort address within its sequence aborts for ever");
            // SAFETY: code of ours; the signature is not aligned.
            let signature = unsafe { ((found.abort - 4) as *const u32).read_unaligned() };
            assert_eq!(signature, 0x5305_3053);
            // SAFETY: the sequence is code of ours.
            let sequence = unsafe {
                std::slice::from_raw_parts(found.start as *const u8, found.length as usize)
            };
            assert_eq!(sequence[0], 0x64, "the first instruction reads through fs");
            let last = &sequence[sequence.len() - 5..];
            assert!(last[1..3].contains(&code), "{last:x?} is not the commit");
            assert!(!sequence.contains(&0xf0) && !sequence.contains(&0xe8), "a lock, or a call");
        }
    }
}
