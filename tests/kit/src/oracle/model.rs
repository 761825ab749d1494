//! The contract of a window in the plainest way: a mutex around a map from start to tallies.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::ops::{Geometry, Plan};
use super::tallies::{Tallies, Values, View};
use super::tier::{Span, Tier};
use crate::ledger::Tally;

/// A ring of buckets: the window's own, or a tier.
pub(crate) type Source = Option<usize>;

/// A bucket that was not handed out yet; or, where changes have merged them, several.
#[derive(Clone, Debug)]
pub(crate) struct Turn<E> {
    /// The place of the newest bucket in it.
    place: (u64, u64),
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The start of the present bucket that it went into, unless it has left the ring.
    now: Option<u64>,
    /// The adds to it that were not drained.
    pub(crate) tallies: Tallies<E>,
    /// The places of those that were merged.
    parts: Vec<(u64, u64)>,
    /// It may have been handed out already.
    may_be_past: bool,
}

impl<E> Turn<E> {
    /// Returns the number of buckets that were merged in it.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }
}

/// The reason for refusing a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    AfterNow,
    BeforeRing { oldest: u64 },
}

#[derive(Debug)]
struct State<E> {
    length: u64,
    buckets: u64,
    /// The newest start ever opened in this geometry.
    newest: u64,
    /// The buckets in the ring that were ever opened or counted in.
    ring: BTreeMap<u64, Tallies<E>>,
    tiers: Vec<Tier<E>>,
    lifetime: Tallies<E>,
    late: Tallies<E>,
    /// The number of changes of the geometry.
    changes: u64,
    /// The turns, by the number of changes before, and by start.
    turns: BTreeMap<(u64, u64), Turn<E>>,
    /// The place of the last turn.
    had: Option<(u64, u64)>,
    /// The first start that has a turn since the geometry was changed or the ring was cleared.
    first_turn: u64,
    /// The end of all that had its turn before the ring was last cleared, if that left it there, or
    /// since.
    turned: u64,
}

impl<E: Copy + Eq + Hash> State<E> {
    fn interval(&self) -> u64 {
        self.length * self.buckets
    }

    fn start_of(&self, time: u64) -> u64 {
        time - time % self.length
    }

    fn in_ring(&self, start: u64) -> bool {
        u128::from(start) + u128::from(self.interval()) > u128::from(self.newest)
    }

    /// Counts in the bucket `start`, which is in the ring or newer than everything in it.
    fn count(&mut self, start: u64, event: E, tally: Tally) {
        self.ring.entry(start).or_default().note(event, tally);
        self.lifetime.note(event, tally);
        if let Some(turn) = self.open(start) {
            turn.tallies.note(event, tally);
        }
        if start > self.newest {
            self.newest = start;
            self.forget();
        }
        self.count_in_tiers(start, event, tally);
    }

    /// Counts in each tier that reaches back to a time.
    fn count_in_tiers(&mut self, at: u64, event: E, tally: Tally) {
        let newest = self.newest;
        self.tiers.iter_mut().for_each(|tier| tier.count(at, newest, event, tally));
    }

    /// Returns the turn that the bucket at `start` will have, unless that has passed.
    fn open(&mut self, start: u64) -> Option<&mut Turn<E>> {
        let place = (self.changes, start);
        if self.had.is_some_and(|had| place <= had) || start < self.first_turn {
            return None;
        }
        let end = start.saturating_add(self.length);
        let (now, tallies, parts) = (Some(start), Tallies::default(), vec![place]);
        let new = || Turn { place, start, end, now, tallies, parts, may_be_past: false };
        Some(self.turns.entry(place).or_insert_with(new))
    }

    fn forget(&mut self) {
        let mut ring = std::mem::take(&mut self.ring);
        ring.retain(|&start, _| self.in_ring(start));
        self.ring = ring;
        let mut turns = std::mem::take(&mut self.turns);
        turns.retain(|&(changes, start), _| changes < self.changes || self.in_ring(start));
        self.turns = turns;
        let newest = self.newest;
        self.tiers.iter_mut().for_each(|tier| tier.forget(newest));
    }

    /// Forgets the turns of earlier geometries: those that are out of the ring at a change lose
    /// their place in it.
    fn forget_turns(&mut self) {
        let mut turns = std::mem::take(&mut self.turns);
        for turn in turns.values_mut() {
            turn.now = turn.now.filter(|start| self.in_ring(*start));
        }
        self.turns = turns;
    }

    fn view(&self, start: u64) -> View<E> {
        let tallies = self.ring.get(&start);
        let closed = if start >= self.newest {
            Some(false)
        } else if self.in_ring(start) && tallies.is_none() {
            Some(true)
        } else {
            None
        };
        View {
            start,
            end: start.saturating_add(self.length),
            tallies: tallies.cloned().unwrap_or_default(),
            closed,
        }
    }
}

/// A window, slow and obvious. Its callers pass the clock's time.
#[derive(Debug)]
pub(crate) struct Oracle<E> {
    state: Mutex<State<E>>,
}

impl<E: Copy + Eq + Hash> Oracle<E> {
    /// Creates the oracle of a window whose clock shows `now`.
    pub(crate) fn new(plan: &Plan, now: u64) -> Oracle<E> {
        let Geometry { length, buckets } = plan.ring;
        let newest = now - now % length;
        let mut state = State {
            length,
            buckets,
            newest,
            ring: BTreeMap::from([(newest, Tallies::default())]),
            tiers: plan.tiers.iter().map(|tier| Tier::new(*tier)).collect(),
            lifetime: Tallies::default(),
            late: Tallies::default(),
            changes: 0,
            turns: BTreeMap::new(),
            had: None,
            first_turn: 0,
            turned: 0,
        };
        state.open(newest);
        Oracle { state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().expect("no holder panics")
    }

    pub(crate) fn length(&self) -> u64 {
        self.state().length
    }

    pub(crate) fn buckets(&self) -> u64 {
        self.state().buckets
    }

    pub(crate) fn interval(&self) -> u64 {
        self.state().interval()
    }

    pub(crate) fn newest(&self) -> u64 {
        self.state().newest
    }

    pub(crate) fn add(&self, now: u64, event: E, tally: Tally) {
        let mut state = self.state();
        let start = state.start_of(now);
        if state.in_ring(start) {
            state.count(start, event, tally);
        } else {
            state.lifetime.note(event, tally);
            state.late.note(event, tally);
            state.count_in_tiers(now, event, tally);
        }
    }

    pub(crate) fn add_at(&self, now: u64, at: u64, event: E, tally: Tally) -> Result<(), Refused> {
        self.admits(None, now, at)?;
        let mut state = self.state();
        let start = state.start_of(at);
        state.count(start, event, tally);
        Ok(())
    }

    /// Returns whether the bucket of `at` counts at `now`, and is in the ring, or in the tier.
    pub(crate) fn admits(&self, source: Source, now: u64, at: u64) -> Result<(), Refused> {
        let Geometry { length, buckets } = self.geometry(source);
        let state = self.state();
        let start_of = |time: u64| time - time % length;
        let (start, of_now) = (start_of(at), start_of(now));
        if start > of_now {
            return Err(Refused::AfterNow);
        }
        // The clock says what counts, whether or not adds were made since; and the ring, should it
        // be ahead of the clock.
        let newest = start_of(state.newest).max(of_now);
        if u128::from(start) + u128::from(length * buckets) <= u128::from(newest) {
            return Err(Refused::BeforeRing { oldest: newest - length * (buckets - 1) });
        }
        Ok(())
    }

    /// Returns the length and the number of the window's own buckets, or of a tier's.
    pub(crate) fn geometry(&self, source: Source) -> Geometry {
        let state = self.state();
        let own = Geometry { length: state.length, buckets: state.buckets };
        source.map_or(own, |tier| state.tiers[tier].geometry)
    }

    pub(crate) fn tiers(&self) -> usize {
        self.state().tiers.len()
    }

    /// Returns the finest buckets that reach back `nanos`; `None` if there are none.
    pub(crate) fn source(&self, nanos: u64) -> Option<Source> {
        let sources = [None].into_iter().chain((0..self.tiers()).map(Some));
        let reaches = |source: &Source| {
            let Geometry { length, buckets } = self.geometry(*source);
            length * buckets >= nanos
        };
        sources.into_iter().find(reaches)
    }

    /// Returns the `buckets` buckets of which the newest is the one of `at`, which lies before time
    /// zero if there is none.
    pub(crate) fn span(&self, source: Source, at: Option<u64>, buckets: u64) -> Span<E> {
        let covers = buckets * self.geometry(source).length;
        match (source, at) {
            (_, None) => Span { covers, views: Vec::new() },
            (None, Some(at)) => Span { covers, views: self.newest_buckets(at, buckets) },
            (Some(tier), Some(at)) => {
                let state = self.state();
                state.tiers[tier].span(at, buckets, state.newest)
            }
        }
    }

    /// Returns all buckets of a tier that count at `now`, oldest first.
    pub(crate) fn series(&self, tier: usize, now: u64) -> Vec<View<E>> {
        let state = self.state();
        let tier = &state.tiers[tier];
        tier.views(now, tier.geometry.buckets, state.newest)
    }

    /// Forgets what the interval holds, and begins anew at `now`. Where tiers would have to begin
    /// anew too, because that is an earlier bucket of theirs, only if `now` has left the ring.
    /// Returns whether they have.
    pub(crate) fn clear(&self, now: u64) -> bool {
        let mut state = self.state();
        let (start, was) = (state.start_of(now), state.newest);
        let is_other = |tier: &Tier<E>| was / tier.geometry.length != start / tier.geometry.length;
        let takes_tiers_back = start < was && state.tiers.iter().any(is_other);
        let newest = if takes_tiers_back && state.in_ring(start) { was } else { start };
        let begins_anew = takes_tiers_back && newest == start;
        if begins_anew {
            state.tiers = state.tiers.iter().map(|tier| Tier::new(tier.geometry)).collect();
        }
        state.newest = newest;
        state.tiers.iter_mut().for_each(|tier| tier.forget(newest));
        let lies_before = state.turned.div_ceil(state.length);
        state.first_turn = lies_before.saturating_mul(state.length).min(newest);
        state.turned = state.first_turn;
        state.changes += 1;
        state.ring.clear();
        state.turns.clear();
        state.ring.insert(newest, Tallies::default());
        state.open(newest);
        begins_anew
    }

    /// Returns the newest `buckets` buckets at `now`, oldest first.
    pub(crate) fn newest_buckets(&self, now: u64, buckets: u64) -> Vec<View<E>> {
        let state = self.state();
        let current = state.start_of(now);
        let back = |k: u64| current.checked_sub(k.checked_mul(state.length)?);
        (0..buckets).rev().filter_map(back).map(|start| state.view(start)).collect()
    }

    pub(crate) fn previous(&self, now: u64) -> View<E> {
        let state = self.state();
        match state.start_of(now).checked_sub(state.length) {
            Some(start) => state.view(start),
            None => View { start: 0, end: 0, tallies: Tallies::default(), closed: None },
        }
    }

    pub(crate) fn lifetime(&self, event: E) -> Tally {
        self.state().lifetime.of(event)
    }

    pub(crate) fn lifetime_values(&self, event: E) -> Values {
        self.state().lifetime.values_of(event)
    }

    pub(crate) fn late(&self, event: E) -> Tally {
        self.state().late.of(event)
    }

    /// Returns whether the new geometry is valid; where it is not, nothing has changed.
    pub(crate) fn reconfigure(&self, interval: Duration, buckets: usize) -> bool {
        let Some(length) = bucket_length(interval, buckets) else {
            return false;
        };
        let mut state = self.state();
        let interval = length * buckets as u64;
        let nests = |tier: &Tier<E>| {
            let coarse = tier.geometry.length;
            coarse.is_multiple_of(length) && coarse <= interval
        };
        if !state.tiers.first().is_none_or(nests) {
            return false;
        }
        if (state.length, state.buckets) == (length, buckets as u64) {
            return true;
        }
        state.forget_turns();
        state.changes += 1;
        state.first_turn = 0;
        state.length = length;
        state.buckets = buckets as u64;
        state.newest = state.start_of(state.newest);
        for turn in state.turns.values_mut() {
            turn.now = turn.now.map(|start| start - start % length);
        }
        state.forget_turns();
        for (start, tallies) in std::mem::take(&mut state.ring) {
            let start = state.start_of(start);
            state.ring.entry(start).or_default().merge(&tallies);
        }
        state.forget();
        let newest = state.newest;
        state.open(newest);
        true
    }

    /// Returns the ways in which the buckets older than the newest may be handed out that hold
    /// anything and were not. Up to which geometry they are merged depends on how fast the epochs
    /// go: not the last one before the present. And what may have been handed out, was or was not.
    pub(crate) fn turns(&self) -> Vec<Vec<Turn<E>>> {
        let state = self.state();
        let is_unsure = state.turns.values().any(|turn| turn.may_be_past);
        let ways = (0..state.changes.max(1)).flat_map(|merged| [(merged, false), (merged, true)]);
        let ways = ways.filter(|(_, are_past)| is_unsure || !are_past);
        ways.map(|(merged, are_past)| {
            let is_due = |turn: &&Turn<E>| !(are_past && turn.may_be_past);
            let mut carried: BTreeMap<u64, Turn<E>> = BTreeMap::new();
            for turn in state.turns.range(..(merged, 0)).map(|(_, turn)| turn).filter(is_due) {
                let Some(start) = turn.now else { continue };
                let end = start.saturating_add(state.length);
                match carried.entry(start) {
                    Entry::Vacant(entry) => _ = entry.insert(Turn { start, end, ..turn.clone() }),
                    Entry::Occupied(mut entry) => {
                        entry.get_mut().tallies.merge(&turn.tallies);
                        entry.get_mut().parts.extend(&turn.parts);
                    }
                }
            }
            let behind = state.turns.range((merged, 0)..(state.changes, state.newest));
            let behind = behind.map(|(_, turn)| turn).filter(is_due).cloned();
            let turns = carried.into_values().chain(behind);
            turns.filter(|turn| !turn.tallies.is_empty()).collect()
        })
        .collect()
    }

    /// Buckets were handed out: `least`, or up to `most`.
    pub(crate) fn have_had(&self, least: &[Turn<E>], most: &[Turn<E>]) {
        let mut state = self.state();
        let parts = |had: &[Turn<E>]| had.iter().flat_map(|turn| turn.parts.clone()).collect();
        let [sure, maybe]: [Vec<(u64, u64)>; 2] = [parts(least), parts(most)];
        state.had = state.had.max(least.last().map(|turn| turn.place));
        state.turned = least.iter().map(|turn| turn.end).fold(state.turned, u64::max);
        state.turns.retain(|place, _| !sure.contains(place));
        for place in maybe {
            if let Some(turn) = state.turns.get_mut(&place) {
                turn.may_be_past = true;
            }
        }
    }
}

fn bucket_length(interval: Duration, buckets: usize) -> Option<u64> {
    let interval = u64::try_from(interval.as_nanos()).ok()?;
    let buckets = u64::try_from(buckets).ok()?;
    let valid = interval > 0 && buckets > 0 && interval.is_multiple_of(buckets);
    valid.then(|| interval / buckets)
}
