//! Turns whose callers have given up, for the callers that come next.
//!
//! # Promise
//!
//! A turn that is *vacated*, a moment and a weight, goes to callers that come before that moment.
//! Each part of its weight goes to at most one of them. So the calls that are admitted have the
//! same moments and weights as if no caller had given up: **whatever limit they kept, they keep**,
//! and no rule of the limiter needs to know of it.
//!
//! A caller gets the earliest vacant turn that has its weight. It is not promised one: a turn that
//! another thread is just looking at is passed over, and there is room for 960 moments. A turn that
//! no caller takes is over at its moment: its part of the rate is lost, and nothing exceeded.
//!
//! # Why
//!
//! Under overload the callers that have waited longest give up first, and there is always a later
//! one. If their turns stayed empty, a limiter whose waits are longer than the patience of its
//! callers would serve almost none of them. The later callers have been told their moments; but new
//! callers come all the time, and the vacant turns are earlier than any at the end of the queue. So
//! each turn is passed on, to one caller after the other, until its moment is so near that its
//! caller stays.
//!
//! # How
//!
//! There is a place for each moment. Its word is the moment, or [`EMPTY`], or [`BUSY`] while one
//! thread has the place to itself: from the exchange that made it so until the store that ends it.
//! Only that thread writes the rest of the place, and only its reading of it decides. A thread that
//! is suspended there keeps one place from the others, and holds up no other thread.
//!
//! Places stand in segments, each twice as long as the one before, and are made when they are
//! needed. A call that looks for a turn empties the places of those that are over.

use std::iter;
use std::ops::RangeInclusive;

use crate::once::Once;
use crate::sync::{AtomicU64, Ordering, sized};

/// The number of places in the first segment.
const AT_FIRST: usize = sized(64, 1);
/// The number of places in the last one.
const AT_LAST: usize = sized(512, 2);

/// The word of a place without a turn: no turn is at the beginning of time.
const EMPTY: u64 = 0;
/// The word of a place that one thread has to itself.
const BUSY: u64 = u64::MAX;

/// The vacant turns of one limiter. Their memory is allocated when callers give up.
#[derive(Debug)]
pub(crate) struct Vacancies(Once<Places>);

/// All places.
#[derive(Debug)]
struct Places {
    /// The latest moment of all turns that were vacated: a hint, which only rises.
    latest: AtomicU64,
    first: Segment,
}

/// Some places, and those behind them.
#[derive(Debug)]
struct Segment {
    places: Box<[Vacancy]>,
    next: Once<Segment>,
}

/// The vacant turns of one moment.
#[derive(Debug)]
struct Vacancy {
    moment: AtomicU64,
    weight: AtomicU64,
    /// The terms under which they were granted.
    terms: AtomicU64,
}

/// A turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) moment: u64,
    /// The time from its moment in which it can still be taken.
    pub(crate) lasts: u64,
    pub(crate) weight: u64,
    /// The number of the terms under which it was granted.
    /// A turn is not passed on to callers under other terms: a lower limit holds for them.
    pub(crate) terms: u64,
}

impl Vacancies {
    crate::sync::const_fn! {
        pub(crate) const fn new() -> Vacancies {
            Vacancies(Once::new())
        }
    }

    /// Returns whether all turns that were vacated until now came before this moment. Costs two
    /// loads, or one if no caller has ever given up.
    #[inline]
    pub(crate) fn are_before(&self, moment: u64) -> bool {
        self.0.get().is_none_or(|places| places.are_before(moment))
    }

    /// Takes `weight` of the earliest turn with a moment in `moments` that has it, under the same
    /// terms. Returns its moment. Turns before `moments` are over.
    #[inline]
    pub(crate) fn take(
        &self,
        weight: u64,
        terms: u64,
        moments: RangeInclusive<u64>,
    ) -> Option<u64> {
        let places = self.0.get()?;
        if places.are_before(*moments.start()) {
            return None;
        }
        places.first.take(weight, terms, &moments)
    }

    /// Passes a turn on at the time `now`. Returns false if there is no place for it, other than
    /// those of turns that can still be taken: then it stays empty.
    #[cold]
    #[inline]
    pub(crate) fn pass_on(&self, turn: Turn, now: u64) -> bool {
        if turn.moment == EMPTY || turn.moment == BUSY {
            return false;
        }
        let Places { latest, first } = self.0.get().unwrap_or_else(|| self.0.set(Places::new()));
        // Relaxed: a hint. A call that comes behind this one sees its moment, by coherence.
        latest.fetch_max(turn.moment, Ordering::Relaxed);
        let mut has_it = false;
        for (place, moment) in first.turns(now.saturating_sub(turn.lasts)) {
            has_it = has_it || moment == turn.moment && place.adds(turn);
        }
        has_it || first.gets(turn)
    }
}

impl Places {
    fn new() -> Places {
        Places { latest: AtomicU64::new(EMPTY), first: Segment::of(AT_FIRST) }
    }

    #[inline]
    fn are_before(&self, moment: u64) -> bool {
        self.latest.load(Ordering::Relaxed) < moment // a hint: see `pass_on`
    }
}

impl Segment {
    fn of(places: usize) -> Segment {
        Segment { places: (0..places).map(|_| Vacancy::empty()).collect(), next: Once::new() }
    }

    fn places(&self) -> impl Iterator<Item = &Vacancy> {
        iter::successors(Some(self), |segment| segment.next.get()).flat_map(|it| &it.places)
    }

    /// Returns the places with turns, and their moments, and empties those that were before `over`.
    fn turns(&self, over: u64) -> impl Iterator<Item = (&Vacancy, u64)> {
        let moments = self.places().map(|place| (place, place.moment()));
        moments.filter(move |(place, moment)| match *moment {
            EMPTY | BUSY => false,
            before if before < over => {
                if place.holds(before) {
                    place.open(EMPTY);
                }
                false
            }
            _ => true,
        })
    }

    #[cold]
    #[inline]
    fn take(&self, weight: u64, terms: u64, moments: &RangeInclusive<u64>) -> Option<u64> {
        loop {
            let turns = self.turns(*moments.start());
            let fits = |(place, moment): &(&Vacancy, u64)| {
                moment <= moments.end() && place.has(weight, terms)
            };
            let (place, moment) = turns.filter(fits).min_by_key(|(_, moment)| *moment)?;
            if place.gives(moment, weight, terms) {
                return Some(moment);
            } // another thread had it to itself meanwhile
        }
    }

    fn gets(&self, turn: Turn) -> bool {
        if self.places.iter().any(|place| place.gets(turn)) {
            return true;
        }
        let places = 2 * self.places.len();
        if places > AT_LAST {
            return false;
        }
        let next = self.next.get().unwrap_or_else(|| self.next.set(Segment::of(places)));
        next.gets(turn)
    }
}

impl Vacancy {
    #[inline]
    fn empty() -> Vacancy {
        let [moment, weight, terms] = [EMPTY, 0, 0].map(AtomicU64::new);
        Vacancy { moment, weight, terms }
    }

    #[inline]
    fn moment(&self) -> u64 {
        self.moment.load(Ordering::Relaxed) // a hint, until `holds`
    }

    /// Returns whether it has a weight, under these terms: a hint, until the place is held.
    #[inline]
    fn has(&self, weight: u64, terms: u64) -> bool {
        self.weight.load(Ordering::Relaxed) >= weight && self.terms.load(Ordering::Relaxed) == terms
    }

    /// Gives the place to the caller alone, if its word is still this one.
    #[inline]
    fn holds(&self, word: u64) -> bool {
        // Acquire: pairs with the Release in `open`: what was written before comes before.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        self.moment.compare_exchange(word, BUSY, order, failed).is_ok()
    }

    /// Ends what `holds` began.
    #[inline]
    fn open(&self, word: u64) {
        // Release: pairs with the Acquire in `holds`.
        self.moment.store(word, Ordering::Release);
    }

    /// Takes a weight of its turn at this moment, if it has it under these terms.
    fn gives(&self, moment: u64, weight: u64, terms: u64) -> bool {
        if !self.holds(moment) {
            return false;
        }
        let has_it = self.has(weight, terms);
        let left = self.weight.load(Ordering::Relaxed).wrapping_sub(weight);
        if has_it {
            self.weight.store(left, Ordering::Relaxed);
        }
        self.open(if has_it && left == 0 { EMPTY } else { moment });
        has_it
    }

    /// Adds a turn to those of the same moment and terms, if they are here.
    fn adds(&self, turn: Turn) -> bool {
        if self.moment() != turn.moment || !self.holds(turn.moment) {
            return false;
        }
        let weight = self.weight.load(Ordering::Relaxed);
        let sum = weight.checked_add(turn.weight).filter(|_| self.has(0, turn.terms));
        self.weight.store(sum.unwrap_or(weight), Ordering::Relaxed);
        self.open(turn.moment);
        sum.is_some()
    }

    /// Gets a turn, if no other is here.
    fn gets(&self, turn: Turn) -> bool {
        if self.moment() != EMPTY || !self.holds(EMPTY) {
            return false;
        }
        self.weight.store(turn.weight, Ordering::Relaxed);
        self.terms.store(turn.terms, Ordering::Relaxed);
        self.open(turn.moment);
        true
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn turn(moment: u64, weight: u64) -> Turn {
        Turn { moment, lasts: 0, weight, terms: 0 }
    }

    #[test]
    fn the_earliest_comes_first_and_each_weight_once() {
        let vacancies = Vacancies::new();
        assert_eq!(vacancies.take(1, 0, 0..=u64::MAX), None);
        for (moment, weight) in [(30, 2), (20, 1), (30, 1), (40, 5)] {
            assert!(vacancies.pass_on(turn(moment, weight), 0));
        }
        assert_eq!(vacancies.take(1, 0, 20..=39), Some(20));
        assert_eq!(vacancies.take(4, 0, 20..=39), None);
        assert_eq!(vacancies.take(2, 0, 20..=39), Some(30));
        assert_eq!(vacancies.take(2, 0, 20..=u64::MAX), Some(40));
        assert_eq!(vacancies.take(1, 0, 20..=39), Some(30));
        assert_eq!(vacancies.take(1, 0, 20..=39), None);
        assert_eq!(vacancies.take(4, 0, 0..=40), None);
        assert_eq!(vacancies.take(3, 0, 0..=40), Some(40));
        assert_eq!(vacancies.take(0, 0, 0..=u64::MAX), None);
    }

    #[test]
    fn terms_are_kept_apart() {
        let vacancies = Vacancies::new();
        assert!(vacancies.pass_on(turn(20, 1), 0));
        assert!(vacancies.pass_on(Turn { terms: 1, ..turn(20, 1) }, 0));
        assert_eq!(vacancies.take(1, 2, 0..=30), None);
        assert_eq!(vacancies.take(2, 1, 0..=30), None);
        assert_eq!(vacancies.take(1, 1, 0..=30), Some(20));
        assert_eq!(vacancies.take(1, 1, 0..=30), None);
        assert_eq!(vacancies.take(1, 0, 0..=30), Some(20));
    }

    #[test]
    fn nobody_looks_when_all_moments_are_over() {
        let vacancies = Vacancies::new();
        assert!(vacancies.are_before(1));
        assert!(vacancies.pass_on(turn(30, 1), 0) && vacancies.pass_on(turn(20, 1), 0));
        assert!(!vacancies.are_before(30) && vacancies.are_before(31));
        assert_eq!(vacancies.take(1, 0, 31..=40), None);
        assert_eq!(vacancies.take(1, 0, 20..=40), Some(20)); // no look has emptied its place
    }

    #[test]
    fn places_are_used_again_when_their_moments_are_over() {
        let vacancies = Vacancies::new();
        assert!(!vacancies.pass_on(turn(u64::MAX, 1), 0));
        for moment in 1..=960 {
            assert!(vacancies.pass_on(turn(moment, 1), 1));
        }
        assert!(!vacancies.pass_on(turn(1_000, 1), 1));
        assert!(vacancies.pass_on(turn(1_000, 1), 2));
        assert_eq!(vacancies.take(1, 0, 0..=1), None);
        assert_eq!(vacancies.take(1, 0, 961..=u64::MAX), Some(1_000));
        assert_eq!(vacancies.take(1, 0, 1..=u64::MAX), None); // those before 961 were over
    }
}
