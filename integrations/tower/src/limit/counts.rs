//! The counts of a key's requests, its standing, and its longest wait: two words.
//!
//! Most of very many keys are asked now and then. So all of this begins in one word, to which
//! requests add by a compare-exchange. The rest is allocated for a key that needs it: one that
//! requests of two threads ask at the same moment, one that shares the overflow gate, or one with
//! waits by the rules.
//!
//! ```text
//!    word   [ blocked: 29 bits | passed: 29 bits | hot | waits: 2 bits | standing: 2 bits ]
//! ```
//!
//! # Why nothing is lost
//!
//! A request counts by one successful exchange of the word, or by one add to a counter. Sums are of
//! both. The counts in the word never sink, and once the key is hot they stay.
//!
//! The second word is set before a bit says that there is something in it, with Release; and a
//! thread that has read the bit has read it with Acquire. (All changes of the word are
//! read-modify-writes, so what the first has released is acquired with each later one.)

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windrow::{__Once as Once, Counter, Timestamp};

/// The counts, the standing and the longest wait of a key.
pub(super) struct Counts {
    word: AtomicU64,
    more: Once<More>,
}

/// The rest, which few keys need.
struct More {
    /// The time at which the key shares no longer; zero if it has never shared.
    until: AtomicU64,
    /// The longest wait by the rules, in nanoseconds.
    max_wait: AtomicU64,
    /// The requests since the key is hot: admitted, and refused.
    counters: [Counter; 2],
}

/// The gates that a key asks.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// Its own gate.
    Alone,
    /// The overflow gate, for the overflow key.
    Overflow,
    /// Its own gate and, until this has ended, the overflow gate.
    Sharing(Timestamp),
}

/// The answer to a request, by its place among the counters.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    Passed = 0,
    Blocked = 1,
}

/// The bits of the standing; all zero if it is not known yet.
const STANDING: u64 = 0b11;
const ALONE: u64 = 1;
const OVERFLOW: u64 = 2;
const SHARING: u64 = 3;

/// The bits of the longest wait; all zero if there are no rules, and callers decide.
const WAITS: u64 = 0b11 << 2;
const NO_WAIT: u64 = 1 << 2;
const SOME_WAIT: u64 = 2 << 2;

/// Set if requests count in the counters from now on.
const HOT: u64 = 1 << 4;

/// The first bit of the first count.
const FIRST: u32 = 5;
/// The number of bits of a count.
const COUNT: u32 = 29;
/// The greatest count.
const MOST: u64 = (1 << COUNT) - 1;

impl Answer {
    /// Returns the first bit of the count.
    fn shift(self) -> u32 {
        FIRST + COUNT * self as u32
    }

    /// Returns the count of a word.
    fn of(self, word: u64) -> u64 {
        (word >> self.shift()) & MOST
    }
}

impl Counts {
    pub(super) const fn new() -> Counts {
        Counts { word: AtomicU64::new(0), more: Once::new() }
    }

    /// Adds one to a count.
    pub(super) fn count(&self, answer: Answer) {
        let word = self.word.load(Ordering::Relaxed); // an exchange or `heat` decides
        if word & HOT == 0 && answer.of(word) < MOST {
            let next = word + (1 << answer.shift());
            // Release: pairs with the Acquire in `sum`, as of a counter's add.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            if self.word.compare_exchange(word, next, order, failed).is_ok() {
                return;
            }
        }
        self.hot(word).counters[answer as usize].increment();
    }

    /// Returns the counters of a key that is hot, or gets it now.
    fn hot(&self, seen: u64) -> &More {
        let more = self.more();
        if seen & HOT == 0 {
            self.word.fetch_or(HOT, Ordering::Release); // pairs with the Acquire in `sum`
        }
        more
    }

    /// Returns a count.
    pub(super) fn sum(&self, answer: Answer) -> u64 {
        // Acquire: pairs with the Release in `count` and `hot`.
        let word = self.word.load(Ordering::Acquire);
        let more = self.more.get().filter(|_| word & HOT != 0);
        answer.of(word) + more.map_or(0, |more| more.counters[answer as usize].sum())
    }

    /// Returns the standing; `None` if it is not known yet.
    pub(super) fn standing(&self) -> Option<Standing> {
        // Acquire: pairs with the Release in `set_standing`.
        match self.word.load(Ordering::Acquire) & STANDING {
            ALONE => Some(Standing::Alone),
            OVERFLOW => Some(Standing::Overflow),
            SHARING => {
                let until = self.more.get()?.until.load(Ordering::Relaxed);
                Some(Standing::Sharing(Timestamp::from_nanos(until)))
            }
            _ => None,
        }
    }

    /// Sets the standing, unless it is set.
    pub(super) fn set_standing(&self, standing: Standing) {
        let bits = match standing {
            Standing::Alone => ALONE,
            Standing::Overflow => OVERFLOW,
            Standing::Sharing(until) => {
                // The first one stays. Relaxed: the word publishes it.
                let until = until.as_nanos().max(1);
                let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
                let _ = self.more().until.compare_exchange(0, until, order, failed);
                SHARING
            }
        };
        // Release: pairs with the Acquire in `standing`.
        let _ = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, |word| {
            (word & STANDING == 0).then_some(word | bits)
        });
    }

    /// Sets the longest wait by the rules. Calls that run at the same time have the same.
    pub(super) fn set_max_wait(&self, max_wait: Duration) {
        let bits = if max_wait.is_zero() {
            NO_WAIT
        } else {
            let nanos = u64::try_from(max_wait.as_nanos()).unwrap_or(u64::MAX);
            // Relaxed: the word publishes it, and a request under way may wait by either rules.
            self.more().max_wait.store(nanos, Ordering::Relaxed);
            SOME_WAIT
        };
        // Release: pairs with the Acquire in `max_wait`.
        let _ = self
            .word
            .fetch_update(Ordering::Release, Ordering::Relaxed, |word| Some(word & !WAITS | bits));
    }

    /// Returns the longest wait that both the caller and the rules allow.
    pub(super) fn max_wait(&self, asked: Duration) -> Duration {
        // Acquire: pairs with the Release in `set_max_wait`.
        match self.word.load(Ordering::Acquire) & WAITS {
            0 => asked,
            SOME_WAIT => self.more.get().map_or(asked, |more| {
                asked.min(Duration::from_nanos(more.max_wait.load(Ordering::Relaxed)))
            }),
            _ => Duration::ZERO,
        }
    }

    fn more(&self) -> &More {
        self.more.get().unwrap_or_else(|| {
            self.more.set(More {
                until: AtomicU64::new(0),
                max_wait: AtomicU64::new(u64::MAX),
                counters: [const { Counter::new() }; 2],
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn sums(counts: &Counts) -> (u64, u64) {
        (counts.sum(Answer::Passed), counts.sum(Answer::Blocked))
    }

    #[test]
    fn all_that_threads_count_is_there() {
        let counts = Counts::new();
        thread::scope(|scope| {
            for thread in 0..4 {
                let counts = &counts;
                scope.spawn(move || {
                    let mut before = (0, 0);
                    for round in 0..20_000 {
                        let is_blocked = (round + thread) % 4 == 0;
                        counts.count(if is_blocked { Answer::Blocked } else { Answer::Passed });
                        let now = sums(counts);
                        assert!(before.0 <= now.0 && before.1 <= now.1, "{before:?}, {now:?}");
                        before = now;
                    }
                });
            }
        });
        assert_eq!(sums(&counts), (60_000, 20_000));
    }

    #[test]
    fn a_key_that_is_asked_by_one_thread_stays_small() {
        let counts = Counts::new();
        (0..1_000).for_each(|_| counts.count(Answer::Passed));
        counts.set_standing(Standing::Alone);
        counts.set_max_wait(Duration::ZERO);
        (0..1_000).for_each(|_| counts.count(Answer::Blocked));
        assert!(counts.more.get().is_none());
        assert_eq!(sums(&counts), (1_000, 1_000));
        assert_eq!(counts.max_wait(Duration::MAX), Duration::ZERO);
    }

    /// The documentation of `Limits` says so.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn what_few_keys_need_takes_80_bytes() {
        assert_eq!((size_of::<Counts>(), size_of::<More>()), (16, 80));
    }

    #[test]
    fn a_count_that_fills_its_bits_goes_on() {
        for (answer, other) in
            [(Answer::Passed, Answer::Blocked), (Answer::Blocked, Answer::Passed)]
        {
            let counts = Counts::new();
            counts.set_standing(Standing::Overflow);
            counts.word.fetch_add((MOST - 2) << answer.shift(), Ordering::Relaxed);
            (0..5).for_each(|_| counts.count(answer));
            counts.count(other);
            assert_eq!((counts.sum(answer), counts.sum(other)), (MOST + 3, 1));
            assert!(matches!(counts.standing(), Some(Standing::Overflow)));
        }
    }

    #[test]
    fn the_first_standing_stays_and_the_last_wait_holds() {
        let until = |at| Standing::Sharing(Timestamp::from_nanos(at));
        let counts = Counts::new();
        assert!(counts.standing().is_none());
        counts.set_standing(until(7));
        counts.set_standing(until(9));
        counts.set_standing(Standing::Alone);
        let Some(Standing::Sharing(until)) = counts.standing() else { panic!("it shares") };
        assert_eq!(until.as_nanos(), 7);
        let alone = Counts::new();
        alone.set_standing(Standing::Alone);
        alone.set_standing(Standing::Overflow);
        assert!(matches!(alone.standing(), Some(Standing::Alone)));
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        assert_eq!(counts.max_wait(minute), minute);
        for (by_rules, expected) in
            [(second, second), (Duration::ZERO, Duration::ZERO), (Duration::MAX, minute)]
        {
            counts.set_max_wait(by_rules);
            assert_eq!(counts.max_wait(minute), expected);
        }
        counts.count(Answer::Passed);
        assert_eq!(sums(&counts), (1, 0));
    }
}
