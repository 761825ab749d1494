//! A generation of the ring: its geometry, its slots, and what it has taken over.
//!
//! A window's geometry changes by moving on to the next generation. The change does not copy what
//! the old ring holds: adds to it may still be under way. The new generation *inherits* the old
//! one's slots, and a read merges each bucket in them into the new bucket that contains its start.
//! The next change adds up the numbers of older slots, once a grace period has made certain that no
//! thread writes to them any more, and *carries* the sums as plain values. So neither memory nor
//! reads grow with the number of changes. Numbers that no drain has handed out yet are carried
//! twice: for readers, and by themselves for drains. So nothing loses its turn by a change.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::error::BuildError;
use crate::ring::cursor::Passed;
use crate::ring::geometry::Geometry;
use crate::ring::slots::Slots;
use crate::ring::tiers::Tiers;

/// One change of geometry, and where it took the old buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) from: Geometry,
    /// The newest start at the change, in the old geometry.
    pub(super) newest: u64,
    pub(super) to: Geometry,
}

impl Change {
    /// The start of the new bucket that an old one went into; `None` if the old one had left its
    /// ring, or the new one is not in the new ring.
    pub(super) fn apply(&self, start: u64) -> Option<u64> {
        let (new, newest) = (self.to.start_of(start), self.to.start_of(self.newest));
        (self.from.in_ring(start, self.newest) && self.to.in_ring(new, newest)).then_some(new)
    }
}

/// The slots of an earlier generation.
#[derive(Clone, Debug)]
pub(super) struct Inherited {
    /// The number of the generation.
    pub(super) number: u64,
    pub(super) slots: Arc<Slots>,
    /// The changes since, oldest first.
    pub(super) changes: Vec<Change>,
    /// As of the [generation](Generation::first_turn).
    pub(super) first_turn: u64,
}

impl Inherited {
    /// The start of the present bucket that a bucket of these slots went into.
    pub(super) fn start_now(&self, start: u64) -> Option<u64> {
        self.changes.iter().try_fold(start, |start, change| change.apply(start))
    }

    /// The newest start that any bucket of these slots can have now. If that is out of a ring, all
    /// are.
    pub(super) fn newest_now(&self) -> Option<u64> {
        self.start_now(self.changes[0].newest)
    }
}

/// The final numbers of buckets that changes of geometry have merged into one.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) numbers: Box<[u64]>,
    /// Of these, what awaited its turn when it was carried. Shared, so that a drain can hand it out
    /// without keeping the generation.
    pub(super) waiting: Option<Arc<[u64]>>,
}

/// The ring from one change of geometry to the next. Nothing in it changes but what the slots hold.
#[derive(Debug)]
pub(super) struct Generation {
    pub(super) number: u64,
    /// No bucket of an earlier generation that counts in its tiers begins here or later.
    pub(super) own_from: u64,
    pub(super) slots: Arc<Slots>,
    pub(super) inherited: Vec<Inherited>,
    /// Slots whose numbers are carried. A read that began before may still be reading them: their
    /// buckets must not be reused before it has ended.
    pub(super) superseded: Vec<Arc<Slots>>,
    /// Numbers from generations in which no thread writes any more, by start.
    pub(super) carried: BTreeMap<u64, Carried>,
    /// The first start in its slots that has a turn: those before had it in a ring that was
    /// forgotten.
    pub(super) first_turn: u64,
    /// The last generation that forgot the one before: its number, and its first turn.
    pub(super) anew: (u64, u64),
    pub(super) tiers: Arc<Tiers>,
}

impl Generation {
    /// The first generation, which takes nothing over.
    pub(super) fn first(geometry: Geometry, tiers: &[Geometry]) -> Result<Generation, BuildError> {
        let slots = Arc::new(Slots::new(geometry)?);
        let tiers = Arc::new(Tiers::new(tiers, 0)?);
        Ok(Generation {
            number: 0,
            own_from: 0,
            slots,
            tiers,
            inherited: Vec::new(),
            superseded: Vec::new(),
            carried: BTreeMap::new(),
            first_turn: 0,
            anew: (0, 0),
        })
    }

    #[inline]
    pub(super) fn geometry(&self) -> Geometry {
        self.slots.geometry
    }

    /// All slots that hold buckets.
    pub(super) fn all_slots(&self) -> impl Iterator<Item = &Arc<Slots>> {
        let inherited = self.inherited.iter().map(|inherited| &inherited.slots);
        inherited.chain(&self.superseded).chain([&self.slots])
    }

    /// What is carried and awaits its turn, by start.
    pub(super) fn waiting(&self, passed: Passed) -> impl Iterator<Item = (u64, &Arc<[u64]>)> {
        let from = passed.carried_of(self.number).map_or(Bound::Unbounded, Bound::Excluded);
        let carried = self.carried.range((from, Bound::Unbounded));
        let waiting =
            carried.filter_map(|(start, carried)| Some((*start, carried.waiting.as_ref()?)));
        waiting.filter(|(_, numbers)| numbers.iter().any(|number| *number != 0))
    }

    /// The first start that has a turn in a ring that begins at `start` and forgets this one.
    pub(super) fn first_turn_behind(&self, passed: Passed, start: u64) -> u64 {
        let turned = self.turned(passed).max(self.anew.1);
        self.geometry().first_from(turned).min(start)
    }

    /// What has had its turn when a bucket that ends at `end` has it.
    pub(super) fn until(&self, passed: Passed, end: u64) -> (u64, u64) {
        (self.number, self.turned(passed).max(end))
    }

    /// The end of all that has had its turn since a generation last forgot the one before.
    fn turned(&self, passed: Passed) -> u64 {
        passed.until.filter(|(number, _)| *number >= self.anew.0).map_or(0, |(_, end)| end)
    }

    /// Whether it has taken anything over that may be in the interval that begins at `oldest`.
    pub(super) fn has_older_in(&self, oldest: u64) -> bool {
        let inherited = self.inherited.iter().filter_map(Inherited::newest_now);
        let carried = self.carried.last_key_value().map(|(start, _)| *start);
        inherited.chain(carried).any(|newest| newest >= oldest)
    }

    /// Whether it has taken anything over.
    #[inline]
    pub(super) fn has_older(&self) -> bool {
        !self.inherited.is_empty() || !self.carried.is_empty()
    }
}
