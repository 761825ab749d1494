//! The cursor: which buckets drains have handed out, agreed on by drains and changes of geometry.
//!
//! One drain at a time moves the cursor. A change of geometry merges buckets, and must know for
//! certain which of them still await their turn. Otherwise a drain could take a bucket from the old
//! generation while the new one carries it as waiting, and it would be handed out twice. So a
//! change [agrees](Cursor::agree) with the cursor before the change reads it, and the cursor stands
//! still until the change has made its attempt.
//!
//! No thread waits. The cursor's word counts the changes under way. A drain looks at the count, and
//! takes its turn by one exchange of the same word, which fails if any change has come since. Then
//! the drain looks again; while a change is under way, the drain gets no turn. So a thread that
//! stalls in a callback holds up no change, and a thread that stalls in a change holds up only
//! drains.
//!
//! A rank takes several words. So there are two sets of ranks, and the word says which of them is
//! in use. A drain writes to the other set, before the exchange that swaps them.

use crate::ring::order::generation::Passed;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// One change under way. The count never overflows, because each change has a thread.
const CHANGE: u64 = 1;
const CHANGES: u64 = SET - 1;
/// The bit that says which set of ranks is in use.
const SET: u64 = 1 << 24;
/// One arrival of a change, or one advance. The upper bits count these, and never show the same
/// number twice while one drain looks.
const COME: u64 = 1 << 25;

/// A rank, or another pair of a generation's number and a time; or none.
#[derive(Debug, Default)]
struct AtomicRank {
    /// One more than the number of a generation; zero for no rank.
    after: AtomicU64,
    start: AtomicU64,
}

impl AtomicRank {
    // Relaxed, all: the word publishes them. See `Cursor::agree` and `Draining::advance`.
    fn get(&self) -> Option<(u64, u64)> {
        let number = self.after.load(Ordering::Relaxed).checked_sub(1)?;
        Some((number, self.start.load(Ordering::Relaxed)))
    }

    fn set(&self, rank: Option<(u64, u64)>) {
        let (after, start) = rank.map_or((0, 0), |(number, start)| (number + 1, start));
        self.after.store(after, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Ranks {
    bucket: AtomicRank,
    carried: AtomicRank,
    until: AtomicRank,
}

/// The cursor of a window.
#[derive(Debug, Default)]
pub(in crate::ring) struct Cursor {
    draining: AtomicBool,
    word: AtomicU64,
    /// Boxed, to keep the window small: the ranks are seldom read.
    sets: Box<[Ranks; 2]>,
}

impl Cursor {
    /// Takes the right to move the cursor; `None` if another drain has it.
    pub(in crate::ring) fn drain(&self) -> Option<Draining<'_>> {
        // Acquire: pairs with the Release in `Draining::drop`: this drain sees the ranks as the
        // last drain has left them, and all that it saw.
        let another = self.draining.swap(true, Ordering::Acquire);
        // Not `then_some`: to drop a `Draining` that was made in vain would end the other drain.
        (!another).then(|| Draining(self))
    }

    /// Returns what has had its turn. The cursor stands still until the result is dropped.
    pub(in crate::ring) fn agree(&self) -> Agreed<'_> {
        // Acquire: pairs with the Release in `advance`: this thread sees the ranks that the word
        // leads to. No drain writes to them before the result is dropped.
        let word = self.word.fetch_add(COME + CHANGE, Ordering::Acquire);
        Agreed { cursor: self, passed: self.passed(word) }
    }

    fn set(&self, word: u64) -> &Ranks {
        &self.sets[usize::from(word & SET != 0)]
    }

    fn passed(&self, word: u64) -> Passed {
        let set = self.set(word);
        let (bucket, carried, until) = (&set.bucket, &set.carried, &set.until);
        Passed { bucket: bucket.get(), carried: carried.get(), until: until.get() }
    }
}

/// The agreement of a change with the cursor.
#[derive(Debug)]
pub(in crate::ring) struct Agreed<'r> {
    cursor: &'r Cursor,
    pub(in crate::ring) passed: Passed,
}

impl Drop for Agreed<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `look` and `advance`. A drain that finds the change
        // over sees the generation that the change has made current, and comes after its reading of
        // the ranks.
        self.cursor.word.fetch_sub(CHANGE, Ordering::Release);
    }
}

/// The right to move the cursor. It ends even if a callback panics.
#[derive(Debug)]
pub(in crate::ring) struct Draining<'r>(&'r Cursor);

/// A drain's reading of the cursor.
#[derive(Debug)]
pub(in crate::ring) struct Look {
    word: u64,
    pub(in crate::ring) passed: Passed,
}

impl Draining<'_> {
    /// Returns what has had its turn; `None` while a change is under way. The caller loads
    /// `current` afterwards.
    pub(in crate::ring) fn look(&self) -> Option<Look> {
        // Acquire: pairs with the Release in `Agreed::drop`: the generation that the caller loads
        // next is not older than those of changes that are over.
        let word = self.0.word.load(Ordering::Acquire);
        (word & CHANGES == 0).then(|| Look { word, passed: self.0.passed(word) })
    }

    /// Moves the cursor on to `passed`. Returns false if a change has come since the look.
    pub(in crate::ring) fn advance(&self, look: &Look, passed: Passed) -> bool {
        let next = (look.word ^ SET).wrapping_add(COME);
        // No thread reads this set: all changes that did were over when the word turned away from
        // it.
        let set = self.0.set(next);
        set.bucket.set(passed.bucket);
        set.carried.set(passed.carried);
        set.until.set(passed.until);
        // Release: publishes the ranks; pairs with the Acquire in `agree`. Acquire: pairs with the
        // Release in `Agreed::drop`: the next write to the other set comes after the reading of
        // changes that are over. Relaxed on failure: the caller looks again.
        let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        self.0.word.compare_exchange(look.word, next, order, failed).is_ok()
    }
}

impl Drop for Draining<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `drain`.
        self.0.draining.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn to(number: u64, start: u64) -> Passed {
        Passed { bucket: Some((number, start)), ..Passed::default() }
    }

    #[test]
    fn one_drain_at_a_time() {
        let cursor = Cursor::default();
        let draining = cursor.drain();
        assert!(draining.is_some());
        assert!(cursor.drain().is_none() && cursor.drain().is_none());
        drop(draining);
        assert!(cursor.drain().is_some());
    }

    #[test]
    fn a_change_sees_the_cursor_where_it_is_and_it_stands() {
        let cursor = Cursor::default();
        let draining = cursor.drain().expect("no other drain");
        assert!(cursor.agree().passed.bucket.is_none());
        for start in [0, 10, 20] {
            let look = draining.look().expect("no change is under way");
            assert!(draining.advance(&look, to(0, start)));
            let two = (cursor.agree(), cursor.agree());
            assert_eq!(
                (two.0.passed.bucket, two.1.passed.bucket),
                (Some((0, start)), Some((0, start)))
            );
            assert!(draining.look().is_none());
            drop(two.0);
            assert!(draining.look().is_none());
        }
    }

    #[test]
    fn a_change_that_has_come_and_gone_takes_the_turn_away() {
        let cursor = Cursor::default();
        let draining = cursor.drain().expect("no other drain");
        let look = draining.look().expect("no change is under way");
        drop(cursor.agree());
        assert!(!draining.advance(&look, to(0, 10)));
        let look = draining.look().expect("no change is under way");
        assert!(look.passed.bucket.is_none());
        assert!(draining.advance(&look, to(0, 10)));
    }
}
