//! The cursor: whose turn has passed, agreed on by drains and changes of geometry.
//!
//! One drain at a time moves it. A change of geometry merges buckets, and must know for certain which
//! of them still await their turn: a bucket that a drain takes from the old generation while the new
//! one carries it as waiting would be handed out twice. So a change [agrees](Cursor::agree) with the
//! cursor before it reads it, until it has made its attempt; and meanwhile the cursor stands.
//!
//! Nobody waits. Changes are counted, as many as there are; whoever drains looks at the count and takes
//! its turn by one exchange of the same word, which fails if any change has come since. Then it looks
//! again; and if a change is still under way, it has no turn now. So a thread that stands still in a
//! callback holds up no change, and one that stands still in a change holds up nothing but drains.
//!
//! Ranks take several words. There are two sets of them: the word says which is in use, and a drain
//! writes to the other one, before the exchange that turns them round.

use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// In the word: one change is under way. There are never more than fit, as each has a thread.
const CHANGE: u64 = 1;
const CHANGES: u64 = SET - 1;
/// Which set of ranks is in use.
const SET: u64 = 1 << 24;
/// Somebody has come: the rest is a count that never shows the same number twice while one drain
/// looks.
const COME: u64 = 1 << 25;

/// Whose turn has passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// The rank of the last bucket that was handed out.
    pub(super) bucket: Option<(u64, u64)>,
    /// The start of the last that was handed out of what a generation carries, and its number.
    pub(super) carried: Option<(u64, u64)>,
}

impl Passed {
    /// Whether the turn of the bucket at a rank has passed.
    pub(super) fn has(&self, rank: (u64, u64)) -> bool {
        self.bucket.is_some_and(|last| rank <= last)
    }

    /// The start before which a generation's carried numbers have had their turn, that included.
    pub(super) fn carried_of(&self, number: u64) -> Option<u64> {
        self.carried.filter(|(of, _)| *of == number).map(|(_, start)| start)
    }
}

/// A rank, or none.
#[derive(Debug, Default)]
struct AtomicRank {
    /// One more than the number of a generation; zero for no rank.
    after: AtomicU64,
    start: AtomicU64,
}

impl AtomicRank {
    // Relaxed, all: see `Cursor::agree` and `Draining::advance`.
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
}

/// See above.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    draining: AtomicBool,
    word: AtomicU64,
    /// Apart, because hardly anybody looks at them: the window is to stay small.
    sets: Box<[Ranks; 2]>,
}

impl Cursor {
    /// The right to move it; `None` if another drain has that.
    pub(super) fn drain(&self) -> Option<Draining<'_>> {
        // Acquire: pairs with the Release when a drain ends. We see the ranks as it has left them,
        // and are behind all that it was behind.
        let another = self.draining.swap(true, Ordering::Acquire);
        // Not `then_some`: what is not handed out must not be made, as it ends when it is dropped.
        (!another).then(|| Draining(self))
    }

    /// Whose turn has passed; it stands until this is dropped.
    pub(super) fn agree(&self) -> Agreed<'_> {
        // Acquire: pairs with the exchange in `advance`: we see the ranks that it has turned to. No
        // drain writes to them before we are gone.
        let word = self.word.fetch_add(COME + CHANGE, Ordering::Acquire);
        Agreed { cursor: self, passed: self.passed(word) }
    }

    fn set(&self, word: u64) -> &Ranks {
        &self.sets[usize::from(word & SET != 0)]
    }

    fn passed(&self, word: u64) -> Passed {
        let set = self.set(word);
        Passed { bucket: set.bucket.get(), carried: set.carried.get() }
    }
}

/// What a change has agreed on.
#[derive(Debug)]
pub(super) struct Agreed<'r> {
    cursor: &'r Cursor,
    pub(super) passed: Passed,
}

impl Drop for Agreed<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `look` and `advance`. Who finds us gone sees the generation
        // that we have made current, and comes after our reading of the ranks.
        self.cursor.word.fetch_sub(CHANGE, Ordering::Release);
    }
}

/// The right to move the cursor. Should a callback panic, it ends too.
#[derive(Debug)]
pub(super) struct Draining<'r>(&'r Cursor);

/// What a drain has seen of the cursor.
#[derive(Debug)]
pub(super) struct Look {
    word: u64,
    pub(super) passed: Passed,
}

impl Draining<'_> {
    /// Whose turn has passed; `None` while a change is under way. Before `current` is loaded.
    pub(super) fn look(&self) -> Option<Look> {
        // Acquire: pairs with the Release of changes that are over: the generation that we load next is
        // not older than theirs.
        let word = self.0.word.load(Ordering::Acquire);
        (word & CHANGES == 0).then(|| Look { word, passed: self.0.passed(word) })
    }

    /// Moves on to `passed`; false if a change has come since the look.
    pub(super) fn advance(&self, look: &Look, passed: Passed) -> bool {
        let next = (look.word ^ SET).wrapping_add(COME);
        // Nobody reads this set: whoever did was gone when it was turned away from.
        let set = self.0.set(next);
        set.bucket.set(passed.bucket);
        set.carried.set(passed.carried);
        // Release: publishes the ranks. Acquire: pairs with the Release of changes that are over, so
        // that what is written to the other set next comes after their reading. Relaxed on failure:
        // the caller looks again.
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
        Passed { bucket: Some((number, start)), carried: None }
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
        let draining = cursor.drain().expect("nobody else");
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
        let draining = cursor.drain().expect("nobody else");
        let look = draining.look().expect("no change is under way");
        drop(cursor.agree());
        assert!(!draining.advance(&look, to(0, 10)));
        let look = draining.look().expect("no change is under way");
        assert!(look.passed.bucket.is_none());
        assert!(draining.advance(&look, to(0, 10)));
    }
}
