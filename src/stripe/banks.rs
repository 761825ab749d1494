//! The rows, in two banks: their numbers, which the process chooses once.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, global, sized};

/// The default of `WINDROW_LEASES`. On x86-64 a leased add is quicker than a dealt one, as
/// measured. On arm64 the machine code says so: a counter's leased add is 16 instructions, all of
/// them plain, and a dealt one 24, with a call and an atomic read-modify-write. Other architectures
/// were neither measured nor read.
pub(super) const LEASES_BY_DEFAULT: bool =
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The number of rows in a model, where loading the number would be one more step to explore; zero
/// in other builds.
pub(super) const MODEL_ROWS: usize = sized(0, 2);

global! {
    /// The number of rows for cores; zero until it is known.
    fn known_rows() -> AtomicUsize = AtomicUsize::new(0);
}

global! {
    /// The number of rows of the first bank; zero until it is known.
    fn known_first_rows() -> AtomicUsize = AtomicUsize::new(0);
}

global! {
    /// The number of rows of the second bank; zero until it is known.
    fn known_second_rows() -> AtomicUsize = AtomicUsize::new(0);
}

global! {
    /// True if threads lease rows; false until that is known.
    fn leasing() -> AtomicBool = AtomicBool::new(false);
}

/// Notes the numbers of rows, and whether threads lease them. The caller publishes the decision by
/// a Release behind it.
pub(super) fn decide(rows: usize, [first, second]: [usize; 2], leases: bool) {
    known_rows().store(rows, Ordering::Relaxed);
    known_first_rows().store(first, Ordering::Relaxed);
    known_second_rows().store(second, Ordering::Relaxed);
    leasing().store(leases, Ordering::Relaxed);
}

/// Returns the value of [`leases`](super::leases). The caller has a column or claims one, so the
/// strategy is decided.
#[inline]
pub(super) fn is_leasing() -> bool {
    if MODEL_ROWS != 0 {
        return cfg!(windrow_announced);
    }
    leasing().load(Ordering::Relaxed) // as in `rows`
}

/// Returns the number of rows in a segment of the arena: those of both banks. The second bank
/// follows the first.
pub(crate) fn mapped_rows() -> usize {
    first_rows() + second_rows()
}

/// Returns the number of rows in the first bank, open or not: that of [`rows`], or the number of
/// rows to lease. The caller is one that may call [`rows`].
#[inline]
pub(crate) fn first_rows() -> usize {
    if MODEL_ROWS != 0 {
        return MODEL_ROWS;
    }
    known_first_rows().load(Ordering::Relaxed) // as in `rows`
}

/// Returns the number of rows in the second bank, open or not: that of [`rows`] if threads lease
/// rows; otherwise the number of rows that cores without a row share, which may be zero. The caller
/// is one that may call [`rows`].
#[inline]
pub(super) fn second_rows() -> usize {
    if MODEL_ROWS != 0 {
        return if is_leasing() { MODEL_ROWS } else { 0 };
    }
    known_second_rows().load(Ordering::Relaxed) // as in `rows`
}

/// Returns the number of rows for cores, open or not. It never changes. The caller has a column or
/// claims one, so the strategy is decided.
#[inline]
pub(crate) fn rows() -> usize {
    if MODEL_ROWS != 0 {
        return MODEL_ROWS;
    }
    // Relaxed: written before the decision, which the caller, or the thread that gave it the
    // column, has seen.
    known_rows().load(Ordering::Relaxed)
}
