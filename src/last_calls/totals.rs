//! Outcomes and totals of calls, and the words that they are packed in.

/// The outcome of a call. The default is a call that was good.
///
/// ```
/// use windrow::last_calls::Outcome;
///
/// assert_eq!(Outcome::default(), Outcome { failed: false, slow: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// True if the call failed.
    pub failed: bool,
    /// True if the call was slow, failed or not.
    pub slow: bool,
}

/// The totals of the last calls: from [`LastCalls::totals`](super::LastCalls::totals).
///
/// ```
/// use windrow::last_calls::CallTotals;
///
/// let half_have_failed = |totals: CallTotals| 2 * totals.failed >= totals.calls;
/// assert!(half_have_failed(CallTotals { calls: 10, failed: 5, slow: 0 }));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallTotals {
    /// The number of calls: at most the window's size, and less before it was filled.
    pub calls: u64,
    /// The number of those that failed.
    pub failed: u64,
    /// The number of those that were slow.
    pub slow: u64,
}

/// The words of a window of calls.
///
/// A slot's word has three bits of an outcome: whether there is a call, whether it failed, whether
/// it was slow. The word of totals has a field for each of these bits.
///
/// A field may be below zero for a moment: the record that replaces a call may change the totals
/// before the record of that call does. So a field begins at a bias, which is more than any number
/// of threads, and borrows nothing from its neighbour. It is at most the bias, [`MOST`] calls and
/// the number of threads, which is less than the field can hold.
pub(super) struct Packed;

/// The bits of a field.
const FIELD: u32 = 21;

/// The value of a field that stands for zero: 2^19.
const BIAS: u64 = 1 << (FIELD - 2);

/// The greatest number of calls, 2^20.
pub(super) const MOST: usize = 1 << (FIELD - 1);

impl Packed {
    /// The number of bits of an outcome.
    pub(super) const OUTCOME_BITS: u32 = 3;

    /// The totals of no calls.
    pub(super) const EMPTY: u64 = BIAS | BIAS << FIELD | BIAS << (2 * FIELD);

    /// Returns the bits of a call's outcome.
    #[inline]
    pub(super) fn of(outcome: Outcome) -> u64 {
        1 | u64::from(outcome.failed) << 1 | u64::from(outcome.slow) << 2
    }

    /// Returns what the totals change by, wrapping, if a slot's word replaces another.
    #[inline]
    pub(super) fn change(replaced: u64, written: u64) -> u64 {
        let spread =
            |word: u64| (word & 1) | (word >> 1 & 1) << FIELD | (word >> 2 & 1) << (2 * FIELD);
        spread(written).wrapping_sub(spread(replaced))
    }

    /// Returns the totals of a word, of at most `size` calls.
    #[inline]
    pub(super) fn totals(word: u64, size: u64) -> CallTotals {
        let field = |at: u32| (word >> (at * FIELD) & ((1 << FIELD) - 1)).saturating_sub(BIAS);
        let calls = field(0).min(size);
        CallTotals { calls, failed: field(1).min(calls), slow: field(2).min(calls) }
    }
}
