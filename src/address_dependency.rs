//! Loads that order by address what Acquire would order: on arm64, on the path of an add.
//!
//! On arm64 an Acquire load (`ldar`) waits for all earlier Release stores (`stlr`) of its thread,
//! because the two together are sequentially consistent. So if an add began with one, it would wait
//! for the store that the previous add has committed. A Relaxed load waits for nothing.
//!
//! # Theorem
//!
//! Let one thread store a value with Release, and let another find it by a Relaxed load. Then the
//! second thread's loads from addresses that are computed from that value see everything that the
//! first had written before its store.
//!
//! # Why
//!
//! Arm orders a load behind the loads from which its address was computed (Arm Architecture
//! Reference Manual, B2.3, *address dependency*; *dependency-ordered-before*), even if the
//! computation adds a number that is always zero. And its memory is multicopy atomic: what the
//! first thread has written before its Release is visible to all when the stored value is. Linux
//! reads pointers in this way (`rcu_dereference`).
//!
//! # The rules
//!
//! * Only an address counts. A branch on the value orders no load after it.
//! * The compiler must not learn the value. If it knows that the value equals another, it may
//!   compute the address from the other. So a value is compared in assembly ([`are_equal`],
//!   [`Zero::of`]), or bit by bit.
//! * Data at other addresses may be older than the value. The one such number on the path of an add
//!   is the offset of a thread's area, which is zero until it is known: the sequence refuses zero.
//!   Everything out of line comes after [`acquire`], or after an Acquire load.
//!
//! Where [`ON`] is false these loads are Acquire: on x86-64, where all loads are; on other
//! processors, for want of an argument; and in models, because no model checker sees addresses. So
//! the models show that Acquire is enough, and this file that an address is as good.

use std::ptr::from_ref;

use crate::sync::{Ordering, fence};

pub(crate) use compare::{ON, are_equal};

/// Orders everything after it behind the loads before it, as if those had been Acquire.
#[inline]
pub(crate) fn acquire() {
    if ON {
        // Acquire: pairs with the Release of the value that a Relaxed load has found.
        fence(Ordering::Acquire);
    }
}

/// The number zero, computed from a value that was loaded: addresses to which it is added depend on
/// that load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zero(usize);

impl Zero {
    /// Zero for a caller whose loads are ordered already.
    pub(crate) const ORDERED: Zero = Zero(0);

    /// Returns the number if it is zero.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(crate) fn of(number: usize) -> Option<Zero> {
        compare::is_zero(number).then_some(Zero(number))
    }

    /// Returns the number.
    #[inline(always)]
    #[allow(clippy::inline_always, dead_code)] // as above; only arm64 adds it
    pub(crate) fn get(self) -> usize {
        self.0
    }

    /// Returns the reference, at an address that depends on the load.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    pub(crate) fn at<T>(self, thing: &T) -> &T {
        // SAFETY: the address of `thing`, because the number is zero.
        if ON { unsafe { &*from_ref(thing).wrapping_byte_add(self.0) } } else { thing }
    }
}

#[cfg(all(target_arch = "aarch64", not(any(loom, shuttle, miri))))]
mod compare {
    use std::arch::asm;

    /// Tells whether loads are ordered by address.
    pub(crate) const ON: bool = true;

    /// Returns whether a number is zero. The compiler does not learn that it is.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(super) fn is_zero(number: usize) -> bool {
        // SAFETY: looks at a register.
        unsafe {
            asm!(
                "cbnz {number}, {other}",
                number = in(reg) number,
                other = label { return false },
                options(nomem, nostack, preserves_flags),
            );
        }
        true
    }

    /// Returns whether two numbers are equal. The compiler does not learn that they are.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    pub(crate) fn are_equal(one: usize, other: usize) -> bool {
        // SAFETY: looks at two registers.
        unsafe {
            asm!(
                "cmp {one}, {other}",
                "b.ne {differ}",
                one = in(reg) one,
                other = in(reg) other,
                differ = label { return false },
                options(nomem, nostack),
            );
        }
        true
    }
}

#[cfg(not(all(target_arch = "aarch64", not(any(loom, shuttle, miri)))))]
mod compare {
    pub(crate) const ON: bool = false;

    #[inline]
    pub(super) fn is_zero(number: usize) -> bool {
        number == 0
    }

    #[inline]
    pub(crate) fn are_equal(one: usize, other: usize) -> bool {
        one == other
    }
}
