//! A generation of the ring: its geometry, its slots, and what it has taken over from earlier ones.
//!
//! A window's geometry changes by a move to the next generation. The change does not copy what the
//! old ring holds: adds to it may still be under way. The new generation *inherits* the old one's
//! slots, and a read merges each bucket in them into the new bucket that contains its start. The
//! next change adds up the numbers of older slots, once a grace period has made certain that no
//! thread writes to them any more, and *carries* the sums as plain values. So neither memory nor
//! reads grow with the number of changes. Numbers that no drain has handed out yet are carried
//! twice: for readers, and by themselves for drains. So nothing loses its turn by a change.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::Versioned;
use crate::ring::order::carried::AllCarried;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slots::Slots;
use crate::ring::order::tier::Tiers;

/// One change of geometry. It maps old starts to new ones.
#[derive(Clone, Copy, Debug)]
pub(in crate::ring) struct Change {
    pub(in crate::ring) from: Geometry,
    /// The newest start at the change, in the old geometry.
    pub(in crate::ring) newest: u64,
    pub(in crate::ring) to: Geometry,
}

impl Change {
    /// Returns the start of the new bucket that an old one went into; `None` if the old bucket had
    /// left its ring, or the new one is not in the new ring.
    pub(in crate::ring) fn apply(&self, start: u64) -> Option<u64> {
        let (new, newest) = (self.to.start_of(start), self.to.start_of(self.newest));
        (self.from.in_ring(start, self.newest) && self.to.in_ring(new, newest)).then_some(new)
    }
}

/// The slots of an earlier generation.
#[derive(Clone, Debug)]
pub(in crate::ring) struct Inherited {
    /// The number of the generation.
    pub(in crate::ring) number: u64,
    pub(in crate::ring) slots: Arc<Slots>,
    /// The changes since, oldest first.
    pub(in crate::ring) changes: Vec<Change>,
    /// That [of the generation](Generation::first_turn).
    pub(in crate::ring) first_turn: u64,
}

impl Inherited {
    /// Returns the start of the present bucket that a bucket of these slots went into.
    #[inline(never)] // its code once
    pub(in crate::ring) fn start_now(&self, start: u64) -> Option<u64> {
        self.changes.iter().try_fold(start, |start, change| change.apply(start))
    }

    /// Returns the newest start that any bucket of these slots can have now. If that is out of the
    /// ring, all are.
    pub(in crate::ring) fn newest_now(&self) -> Option<u64> {
        self.start_now(self.changes[0].newest)
    }
}

/// The buckets that drains have handed out.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ring) struct Passed {
    /// The rank of the last bucket that was handed out.
    pub(in crate::ring) bucket: Option<(u64, u64)>,
    /// The last of a generation's carried numbers that were handed out: the number of the
    /// generation, and their start.
    pub(in crate::ring) carried: Option<(u64, u64)>,
    /// The number of the generation of the last bucket that was handed out, and the end of all that
    /// was.
    pub(in crate::ring) until: Option<(u64, u64)>,
}

impl Passed {
    /// Returns whether the bucket at a rank has had its turn.
    pub(in crate::ring) fn has(&self, rank: (u64, u64)) -> bool {
        self.bucket.is_some_and(|last| rank <= last)
    }

    /// Returns the last start of a generation's carried numbers that have had their turn.
    fn carried_of(&self, number: u64) -> Option<u64> {
        self.carried.filter(|(of, _)| *of == number).map(|(_, start)| start)
    }
}

/// The ring from one change of geometry to the next. Only the content of its slots changes.
#[derive(Debug)]
pub(in crate::ring) struct Generation {
    pub(in crate::ring) number: u64,
    /// No bucket of an earlier generation that counts in these tiers begins here or later.
    /// The last nanosecond of time says nothing: one may begin even there.
    pub(in crate::ring) own_from: u64,
    pub(in crate::ring) slots: Arc<Slots>,
    pub(in crate::ring) inherited: Vec<Inherited>,
    /// Slots whose numbers are carried. A read that began before may still be reading them: their
    /// buckets must not be reused before it has ended.
    pub(in crate::ring) superseded: Vec<Arc<Slots>>,
    /// Numbers from generations in which no thread writes any more, by start.
    pub(in crate::ring) carried: AllCarried,
    /// The first start in the slots that has a turn: earlier ones had it in a ring that was
    /// forgotten.
    pub(in crate::ring) first_turn: u64,
    /// The number and the first turn of the last generation that forgot the one before.
    pub(in crate::ring) anew: (u64, u64),
    pub(in crate::ring) tiers: Tiers,
}

impl Generation {
    /// Makes the first generation, which takes nothing over.
    pub(in crate::ring) fn first(slots: Slots, tiers: Tiers) -> Generation {
        let tiers = ManuallyDrop::new(tiers); // a panic leaks them: see `Ring::of`
        let (slots, tiers) = (Arc::new(slots), ManuallyDrop::into_inner(tiers));
        Generation {
            number: 0,
            own_from: 0,
            slots,
            tiers,
            inherited: Vec::new(),
            superseded: Vec::new(),
            carried: AllCarried::default(),
            first_turn: 0,
            anew: (0, 0),
        }
    }

    #[inline]
    pub(in crate::ring) fn geometry(&self) -> Geometry {
        self.slots.geometry
    }

    /// Returns all slots that hold buckets.
    pub(in crate::ring) fn all_slots(&self) -> impl Iterator<Item = &Arc<Slots>> {
        let inherited = self.inherited.iter().map(|inherited| &inherited.slots);
        inherited.chain(&self.superseded).chain([&self.slots])
    }

    /// Returns what is carried and awaits its turn, by start.
    pub(in crate::ring) fn waiting(
        &self,
        passed: Passed,
    ) -> impl Iterator<Item = (u64, &Arc<[u64]>)> {
        let carried = match passed.carried_of(self.number) {
            Some(last) => self.carried.after(last),
            None => self.carried.from(0),
        };
        let waiting = carried.iter();
        let waiting =
            waiting.filter_map(|(start, carried)| Some((*start, carried.waiting.as_ref()?)));
        waiting.filter(|(_, numbers)| numbers.iter().any(|number| *number != 0))
    }

    /// Returns the first start that has a turn in a ring that begins at `start` and forgets this
    /// one.
    pub(in crate::ring) fn first_turn_behind(&self, passed: Passed, start: u64) -> u64 {
        let turned = self.turned(passed).max(self.anew.1);
        self.geometry().first_from(turned).min(start)
    }

    /// Returns [`Passed::until`] after the turn of a bucket that ends at `end`.
    pub(in crate::ring) fn until(&self, passed: Passed, end: u64) -> (u64, u64) {
        (self.number, self.turned(passed).max(end))
    }

    /// Returns the end of all that has had its turn since a generation last forgot the one before.
    fn turned(&self, passed: Passed) -> u64 {
        passed.until.filter(|(number, _)| *number >= self.anew.0).map_or(0, |(_, end)| end)
    }

    /// Returns whether the generation has taken anything over that may be in the interval that
    /// begins at `oldest`.
    pub(in crate::ring) fn has_older_in(&self, oldest: u64) -> bool {
        let inherited = self.inherited.iter().filter_map(Inherited::newest_now);
        let carried = self.carried.newest();
        inherited.chain(carried).any(|newest| newest >= oldest)
    }

    /// Calls `see` with the buckets of inherited slots that are in the interval that begins at
    /// `oldest`, until it returns false. Returns false if it has, or if a bucket has left its slot
    /// meanwhile.
    ///
    /// Takes no reference. The caller checks afterwards that `current` is what it was.
    pub(in crate::ring) fn each_inherited(
        &self,
        oldest: u64,
        see: &mut dyn FnMut(&Bucket) -> bool,
    ) -> bool {
        let is_in = |start: Option<u64>| start.is_some_and(|start| start >= oldest);
        let reach_it = self.inherited.iter().filter(|inherited| is_in(inherited.newest_now()));
        for inherited in reach_it {
            for slot in inherited.slots.all() {
                // SAFETY: buckets live as long as the window.
                let Some(found) = (unsafe { Versioned::load(slot) }) else {
                    if slot.rounds_left().is_none() {
                        return false; // there is a bucket, but another by now
                    }
                    continue;
                };
                let is_seen =
                    !is_in(inherited.start_now(found.bucket.start())) || see(found.bucket);
                if !is_seen || !found.is_valid() {
                    return false;
                }
            }
        }
        true
    }

    /// Returns whether the generation has taken anything over.
    #[inline]
    pub(in crate::ring) fn has_older(&self) -> bool {
        !self.inherited.is_empty() || !self.carried.is_empty()
    }
}
