//! The state of a limiter before a call and behind it, which its reservation knows.

use crate::sync::{AtomicU64, Ordering, sized};
use crate::wide::Wide;

/// The number of words in the state of several limits.
pub(super) const WORDS: usize = sized(10, 6);

/// The number of words in the state of a pace that was changed, or settled.
pub(super) const FEW: usize = 6;

/// The way to leave a limiter as if the call had never been, if it was the last.
#[derive(Debug)]
pub(crate) enum Undo<'a> {
    /// There is no way.
    Nothing,
    /// The word before the call, and behind it.
    Word { word: &'a AtomicU64, from: u64, to: u64 },
    /// The words before the call, and the first ones behind it: the number of changes until then,
    /// and a time that rises with each call until the next change.
    Words { words: &'a Wide<WORDS>, from: [u64; WORDS], to: [u64; 3] },
    /// The words of a pace that was changed, or settled: the first ones behind the call are the
    /// number of changes, the sum that was given back, and the end.
    Few { words: &'a Wide<FEW>, from: [u64; FEW], to: [u64; 3] },
}

impl Undo<'_> {
    /// Leaves the limiter as if the call had never been, if it was the last. Returns whether it
    /// was.
    #[allow(clippy::match_same_arms)] // in models, `WORDS` is `FEW`
    #[inline]
    pub(crate) fn leaves_no_trace(&self) -> bool {
        match *self {
            Undo::Nothing => false,
            Undo::Word { word, from, to } => {
                // Relaxed, as the exchanges of calls: see `src/pace.rs`.
                let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
                word.compare_exchange(to, from, order, failed).is_ok()
            }
            Undo::Words { words, from, to } => restores(words, from, &to),
            Undo::Few { words, from, to } => restores(words, from, &to),
        }
    }
}

/// Stores words if the first ones are these still. Returns whether they were.
fn restores<const N: usize>(words: &Wide<N>, from: [u64; N], to: &[u64]) -> bool {
    loop {
        let (version, now) = words.glance();
        let is_last = now[..to.len()] == *to;
        if is_last && words.exchange(version, from) {
            return true;
        }
        if !is_last && words.is_at(version) {
            return false;
        }
    }
}
