//! Marks: the boundaries of a tier behind which a bucket was retired.
//!
//! A thread marks a coarse bucket before it retires a bucket that lies in it. So a reader that has
//! found a bucket current finds every coarse bucket marked whose finer buckets were retired before,
//! and passes over the others without a look at them: eight slots, or more, with one load. A
//! window that was idle all night has thousands of them.
//!
//! A mark says the start, so it goes out of date by itself. Each word only rises.
//!
//! One more word says the oldest start that was ever marked, and only falls. So a read passes over
//! all that lies before the window was made.

use crate::ring::cells::zeroed;
use crate::ring::order::geometry::Geometry;
use crate::sync::{AtomicU64, Ordering};

/// The number of words that one word above stands for, as a power of two.
const BITS: usize = 3;

/// In place of the oldest start: none was marked, or only one that lasts a nanosecond, the last.
const NEVER: u64 = u64::MAX;

/// The marks of a tier's slots.
#[derive(Debug)]
pub(in crate::ring) struct Marks {
    /// A word for each slot: the newest start that was marked. Above it, a word for each eight: the
    /// newest of them; and so on. Each begins with zero, which says that time zero may be marked.
    levels: Box<[Box<[AtomicU64]>]>,
    /// The oldest start that was marked, or [`NEVER`].
    oldest: AtomicU64,
}

impl Marks {
    pub(in crate::ring) fn new(slots: usize) -> Marks {
        let mut words = slots;
        let mut levels = vec![zeroed(words)];
        while words > 1 << BITS {
            words = words.div_ceil(1 << BITS);
            levels.push(zeroed(words));
        }
        Marks { levels: levels.into_boxed_slice(), oldest: AtomicU64::new(NEVER) }
    }

    /// Marks the coarse bucket at a start, in its slot. The caller then retires a bucket that lies
    /// in it.
    pub(in crate::ring) fn mark(&self, slot: usize, start: u64) {
        for (level, words) in self.levels.iter().enumerate() {
            let word = &words[slot >> (BITS * level)];
            // Relaxed, both: the word only rises. A reader that finds the retirement finds the mark
            // or a later one, by coherence: also if another thread has marked, and this one has
            // seen it.
            if word.load(Ordering::Relaxed) < start {
                word.fetch_max(start, Ordering::Relaxed);
            }
        }
        // Relaxed, both: in the same way, but the word only falls.
        if start < self.oldest.load(Ordering::Relaxed) {
            self.oldest.fetch_min(start, Ordering::Relaxed);
        }
    }

    /// Returns the first start from `from` to `last`, less than a round apart, that may be marked,
    /// and the number of its slot.
    #[inline]
    pub(in crate::ring) fn next(&self, of: Geometry, from: u64, last: u64) -> Option<(u64, usize)> {
        if from > last {
            return None;
        }
        let slot = of.slot_of(from);
        // Mostly, the first one is. Relaxed: as in `mark`.
        if self.levels[0][slot].load(Ordering::Relaxed) >= from {
            return Some((from, slot));
        }
        let oldest = self.oldest.load(Ordering::Relaxed); // as in `mark`
        if from < oldest && oldest != NEVER {
            return (oldest <= last).then(|| (oldest, of.slot_of(oldest)));
        }
        self.search((of.length(), slot), from, last)
    }

    #[inline(never)] // so that what it needs stays in registers
    fn search(&self, (length, slot): (u64, usize), from: u64, last: u64) -> Option<(u64, usize)> {
        let top = self.levels.len() - 1;
        let (mut start, mut level, mut at) = (from, 0, slot);
        while start <= last {
            let words = &self.levels[level];
            let (unit, rest) = (length << (BITS * level), words.len() - 1);
            let eight = at..(at + 1).next_multiple_of(1 << BITS).min(rest);
            // Relaxed, both: as in `mark`.
            let mut is_marked = false;
            for word in &words[eight] {
                is_marked = word.load(Ordering::Relaxed) >= start;
                if is_marked {
                    break;
                }
                start = start.checked_add(unit)?;
                at += 1;
            }
            if !is_marked && at == rest {
                // The last word may stand for fewer slots.
                is_marked = words[rest].load(Ordering::Relaxed) >= start;
                if !is_marked {
                    let slots = self.levels[0].len() - (rest << (BITS * level));
                    start = start.checked_add(length * slots as u64)?;
                    (level, at) = (top, 0);
                    continue;
                }
            }
            if is_marked {
                let Some(below) = level.checked_sub(1) else {
                    return (start <= last).then_some((start, at));
                };
                (level, at) = (below, at << BITS);
                continue;
            }
            while level < top && at.is_multiple_of(1 << BITS) {
                (level, at) = (level + 1, at >> BITS);
            }
        }
        None
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Compares with a walk over all starts, while the ring goes round.
    #[test]
    fn the_next_mark_is_the_first_of_a_walk() {
        for buckets in [1, 2, 3, 7, 16, 50, 300] {
            let geometry = Geometry::of_length(Duration::from_nanos(10), buckets).expect("sound");
            let (marks, mut marked) = (Marks::new(buckets), Vec::new());
            let mut live = 0;
            for step in [0, 1, 1, 2, 30, 1, 7, 49, 1, 1, 120, 3, 290, 17] {
                live += 10 * step;
                marks.mark(geometry.slot_of(live), live);
                marked.push(live);
                let mut from = geometry.oldest(live);
                while from <= live + 20 {
                    let next = marked.iter().copied().find(|start| *start >= from);
                    assert_eq!(
                        marks.next(geometry, from, live),
                        next.map(|next| (next, geometry.slot_of(next))),
                        "{buckets}: {from} to {live}"
                    );
                    from += 10;
                }
            }
            assert_eq!(marks.oldest.load(Ordering::Relaxed), marked[0]);
        }
    }

    /// A change of geometry may begin anew behind what was marked.
    #[test]
    fn the_oldest_mark_falls() {
        let geometry = Geometry::of_length(Duration::from_nanos(10), 50).expect("sound");
        let marks = Marks::new(50);
        for (start, oldest) in [(300, 300), (400, 300), (200, 200), (200, 200)] {
            marks.mark(geometry.slot_of(start), start);
            assert_eq!(marks.oldest.load(Ordering::Relaxed), oldest);
            let next = marks.next(geometry, 190, 400);
            assert_eq!(next, Some((oldest, geometry.slot_of(oldest))));
        }
    }

    #[test]
    fn the_last_bucket_of_all_time_is_marked() {
        for length in [1, 10] {
            let geometry = Geometry::of_length(Duration::from_nanos(length), 4).expect("sound");
            let (marks, last) = (Marks::new(4), geometry.start_of(u64::MAX));
            assert_eq!(marks.next(geometry, last - length, u64::MAX), None);
            marks.mark(geometry.slot_of(last), last);
            let marked = marks.next(geometry, last - length, u64::MAX);
            assert_eq!(marked, Some((last, geometry.slot_of(last))));
        }
    }
}
