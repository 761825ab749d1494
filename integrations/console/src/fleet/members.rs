//! The members of a fleet: the addresses that are asked, and the processes that answer.
//!
//! A process is known by its instance and its start, not by its address: behind a balancer several
//! answer at one address, and one may answer at several. Its last reading is kept when it is gone,
//! so that all-time sums do not fall with it, and is replaced when it answers again, so that
//! nothing is counted twice.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::merge::Merged;
use super::reading::Reading;

/// The time after its last answer for which a process is taken to be there.
pub(super) const STALE: Duration = Duration::from_secs(10);

/// The greatest number of processes that are kept with their numbers.
pub(super) const MOST_LIVES: usize = 2_000;

/// The greatest number of bytes of all answers that are kept.
pub(super) const MOST_BYTES: usize = 128 << 20;

/// The greatest size of the sums of processes whose numbers are dropped: see
/// [`Merged::keep_sums`].
pub(super) const MOST_SUMS: usize = 50_000;

/// The greatest number of processes that are remembered by name once their numbers are dropped.
const MOST_NAMES: usize = 100_000;

/// A process, by its instance and its start.
pub(super) type Name = (String, String);

/// The limits of what is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) lives: usize,
    pub(super) bytes: usize,
    pub(super) sums: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { lives: MOST_LIVES, bytes: MOST_BYTES, sums: MOST_SUMS }
    }
}

/// The members. Times are those since the fleet's start.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) lives: BTreeMap<Name, Life>,
    pub(super) places: BTreeMap<String, Address>,
    /// The all-time numbers of processes that have been gone for longest: their sums alone.
    pub(super) past: Merged,
    /// The number of series of these processes whose sums are left out: there are too many.
    pub(super) left_out: usize,
    pub(super) limits: Limits,
    /// The names of these processes, the oldest first.
    dropped: VecDeque<Name>,
    is_dropped: HashSet<Name>,
    /// The number of the next process.
    next: u64,
}

/// A process from its start to its end.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// Processes are numbered as they first answer.
    pub(super) number: u64,
    pub(super) reading: Arc<Reading>,
    pub(super) answered: Duration,
    /// The addresses at which it has answered.
    pub(super) addresses: BTreeSet<String>,
    /// True once a later process has answered at its address, until it answers again.
    is_followed: bool,
}

impl Life {
    pub(super) fn is_there(&self, now: Duration) -> bool {
        !self.is_followed && now.saturating_sub(self.answered) <= STALE
    }
}

/// An address that is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Address {
    /// The target that it comes from.
    target: String,
    /// The process that answered last.
    pub(super) last: Option<Name>,
    /// The reason why it does not answer, or is refused, and since when that is so.
    pub(super) failing: Option<Failing>,
    /// True once processes have answered here in turn: it is a balancer's.
    is_shared: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Failing {
    pub(super) since: Duration,
    pub(super) why: String,
    /// True if there was an answer, but none of a member.
    pub(super) is_refused: bool,
}

/// The reason why a question has brought no reading.
#[derive(Debug)]
pub(super) enum Miss {
    /// There was no answer.
    Silent(String),
    /// The answer was none of a member.
    Refused(String),
}

impl Members {
    /// Sets the addresses that are asked, each with the target that it comes from.
    pub(super) fn set_places(&mut self, addresses: impl IntoIterator<Item = (String, String)>) {
        let mut before = std::mem::take(&mut self.places);
        let place = |(address, target): (String, String)| {
            let mut place = before.remove(&address).unwrap_or_default();
            place.target = target;
            (address, place)
        };
        self.places = addresses.into_iter().map(place).collect();
    }

    /// Returns whether nothing listens at an address because its name has others: one of IPv6 that
    /// has never answered, where those of IPv4 do, or the other way round.
    pub(super) fn is_spare(&self, address: &str) -> bool {
        let Some(spare) = self.places.get(address) else { return false };
        let is_wide = |address: &str| address.starts_with('[');
        let stands_for = |(other, place): (&String, &Address)| {
            place.target == spare.target
                && is_wide(other) != is_wide(address)
                && place.last.is_some()
                && place.failing.is_none()
        };
        spare.last.is_none() && spare.failing.is_some() && self.places.iter().any(stands_for)
    }

    /// Takes the answer of an address, or the reason why there is none.
    pub(super) fn note(&mut self, address: &str, now: Duration, answer: Result<Reading, Miss>) {
        let noted = answer.and_then(|reading| self.take(address, now, reading));
        let Some(place) = self.places.get_mut(address) else { return };
        let (why, is_refused) = match noted {
            Ok(()) => return place.failing = None,
            Err(Miss::Silent(why)) => (why, false),
            Err(Miss::Refused(why)) => (why, true),
        };
        let same = place.failing.as_ref().filter(|failing| failing.is_refused == is_refused);
        let since = same.map_or(now, |failing| failing.since);
        place.failing = Some(Failing { since, why, is_refused });
    }

    fn take(&mut self, address: &str, now: Duration, reading: Reading) -> Result<(), Miss> {
        // An address that is no longer asked has no say: its answer was under way.
        let Some(place) = self.places.get(address) else { return Ok(()) };
        let name = (reading.instance.clone(), reading.epoch.clone());
        if self.is_dropped.contains(&name) {
            let why = "it was gone for so long that only its sums were kept: start it anew";
            return Err(Miss::Refused(why.to_owned()));
        }
        let before = place.last.clone().filter(|before| *before != name);
        // It came back after another: both are there, behind one address.
        let is_back = before.is_some() && self.lives.get(&name).is_some_and(|it| it.is_followed);
        let is_shared = place.is_shared || is_back;
        let followed = before.filter(|_| !is_shared);
        self.make_room(&name, &reading, followed.as_ref(), now)?;

        if let Some(place) = self.places.get_mut(address) {
            place.last = Some(name.clone());
            place.is_shared = is_shared;
        }
        if let Some(followed) = followed.and_then(|name| self.lives.get_mut(&name)) {
            followed.is_followed = true;
        }
        let reading = Arc::new(reading);
        let life = self.lives.entry(name).or_insert_with(|| {
            self.next += 1;
            let (number, reading, addresses) = (self.next, Arc::clone(&reading), BTreeSet::new());
            Life { number, reading, answered: now, addresses, is_followed: false }
        });
        life.answered = now;
        life.is_followed = false;
        life.addresses.insert(address.to_owned());
        // By another address, an earlier answer may have taken longer.
        if reading.age_ms >= life.reading.age_ms {
            life.reading = reading;
        }
        Ok(())
    }

    /// Returns the processes that are there with their last answers, in the order in which they
    /// first answered.
    pub(super) fn there(&self, now: Duration) -> Vec<(Name, Arc<Reading>)> {
        let mut there: Vec<_> = self.lives.iter().filter(|(_, life)| life.is_there(now)).collect();
        there.sort_by_key(|(_, life)| life.number);
        there.into_iter().map(|(name, life)| (name.clone(), Arc::clone(&life.reading))).collect()
    }

    /// Makes room for a reading of this process: of processes that are gone, only the sums are
    /// kept, the oldest first, as far as needed. `followed` is gone with this answer.
    ///
    /// If that is not enough, the reading is refused, and nothing is changed.
    fn make_room(
        &mut self,
        name: &Name,
        reading: &Reading,
        followed: Option<&Name>,
        now: Duration,
    ) -> Result<(), Miss> {
        let Limits { lives: most_lives, bytes: most_bytes, .. } = self.limits;
        let others = || self.lives.iter().filter(|(other, _)| *other != name);
        let stays = |(other, life): &(&Name, &Life)| life.is_there(now) && Some(*other) != followed;
        let size = |(_, life): (&Name, &Life)| life.reading.bytes;
        let fits = |lives: usize, bytes: usize| lives <= most_lives && bytes <= most_bytes;
        let (number, bytes) = (others().count() + 1, others().map(size).sum::<usize>());
        let (mut number, mut bytes) = (number, bytes + reading.bytes);
        if fits(number, bytes) {
            return Ok(());
        }
        let least = others().filter(stays).map(size).sum::<usize>() + reading.bytes;
        if !fits(others().filter(stays).count() + 1, least) {
            let most = most_bytes >> 20;
            let why =
                format!("the fleet has more than {most_lives} processes, or {most} MiB of numbers");
            return Err(Miss::Refused(why));
        }
        let gone = others().filter(|other| !stays(other));
        let mut gone: Vec<(Duration, Name)> =
            gone.map(|(name, life)| (life.answered, name.clone())).collect();
        gone.sort();
        for (_, name) in gone {
            if fits(number, bytes) {
                break;
            }
            if let Some(life) = self.lives.remove(&name) {
                number -= 1;
                bytes -= life.reading.bytes;
                self.left_out += self.past.keep_sums(&life.reading, self.limits.sums);
            }
            self.remember_dropped(name);
        }
        Ok(())
    }

    /// Remembers that the numbers of a process are dropped.
    fn remember_dropped(&mut self, name: Name) {
        self.is_dropped.insert(name.clone());
        self.dropped.push_back(name);
        if self.dropped.len() > MOST_NAMES
            && let Some(oldest) = self.dropped.pop_front()
        {
            self.is_dropped.remove(&oldest);
        }
    }

    /// Returns the number of processes of which only the sums are kept.
    pub(super) fn dropped(&self) -> usize {
        self.dropped.len()
    }

    /// Returns the number of questions to an address in a round: a balancer passes questions on to
    /// its processes in turn, or by chance.
    pub(super) fn questions(&self, address: &str, now: Duration) -> usize {
        const MOST: usize = 16;
        if !self.places.get(address).is_some_and(|place| place.is_shared) {
            return 1;
        }
        let is_here = |life: &&Life| life.is_there(now) && life.addresses.contains(address);
        (2 * self.lives.values().filter(is_here).count()).clamp(2, MOST)
    }
}
