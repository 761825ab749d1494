//! The part of one limit that a process has: permits, a state machine, and the requests that wait.
//!
//! A request takes permits by itself. Only the thread that asks (see `asker`) touches the machine,
//! but for a change of the limit. Between them stand a few words: that the limit wants asking, the
//! time until which all are refused, and whether its keys are unusable. Each may be seen late by a
//! moment. A request then asks, or is refused, without need; what is admitted depends on permits
//! alone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use windrow::Gate;

use crate::absence::Absence;
use crate::error::SharedError;
use crate::lock::locked;
use crate::machine::{Answer, Attempt, Machine, Refusal, Terms};
use crate::names::Keys;
use crate::permits::Permits;
use crate::pulse::margin;
use crate::waiter::Waiters;

/// The time for which an ask that was given up holds back the next.
const GIVEN_UP: u64 = 20_000;

/// The part of one limit that a process has.
pub(crate) struct Limit {
    pub(crate) name: Arc<str>,
    /// The length of a bucket, in microseconds.
    pub(crate) bucket: u64,
    /// The number of buckets in the interval.
    pub(crate) buckets: u64,
    pub(crate) permits: Permits,
    /// The limit in force, as the engine has told it last.
    in_force: AtomicU64,
    /// Before this time, a request of at least `refused_weight` that finds no permit is refused.
    refused_until: AtomicU64,
    refused_weight: AtomicU64,
    /// The limit is on the list of those that want asking.
    is_listed: AtomicBool,
    /// The largest weight that found no permit since the last ask.
    missed: AtomicU64,
    /// A request was refused for ever: the engine is to be asked whether the limit was raised.
    inquires: AtomicBool,
    /// The time of the last such request that was noted.
    inquired: AtomicU64,
    /// The engine has answered.
    is_answered: AtomicBool,
    /// The limit's keys hold what is no ledger.
    is_unusable: AtomicBool,
    fault: Mutex<Option<SharedError>>,
    pub(crate) waiters: Waiters,
    machine: Mutex<Machine>,
    /// The id of this client on the engine.
    pub(crate) client: [u8; 8],
    pub(crate) keys: Keys,
    absence: Absence,
    /// The gate of [`Absence::Share`], made at the first absence.
    share: OnceLock<Option<Gate>>,
}

impl Limit {
    pub(crate) fn new(
        name: Arc<str>,
        terms: Terms,
        client: [u8; 8],
        keys: Keys,
        absence: Absence,
    ) -> Limit {
        Limit {
            name,
            bucket: terms.length,
            buckets: terms.buckets,
            permits: permits(&terms),
            in_force: AtomicU64::new(terms.limit),
            refused_until: AtomicU64::new(0),
            refused_weight: AtomicU64::new(0),
            is_listed: AtomicBool::new(false),
            missed: AtomicU64::new(0),
            inquires: AtomicBool::new(false),
            inquired: AtomicU64::new(0),
            is_answered: AtomicBool::new(false),
            is_unusable: AtomicBool::new(false),
            fault: Mutex::new(None),
            waiters: Waiters::default(),
            machine: Mutex::new(Machine::new(terms)),
            client,
            keys,
            absence,
            share: OnceLock::new(),
        }
    }

    /// Locks the machine.
    pub(crate) fn machine(&self) -> MutexGuard<'_, Machine> {
        locked(&self.machine)
    }

    /// Notes a request that found no permit, and returns whether the limit must be put on the list
    /// of those that want asking.
    pub(crate) fn miss(&self, weight: u64, demand: u64) -> bool {
        // Relaxed: the machine wants the number, and nothing hangs on its moment.
        self.permits.miss(demand);
        self.missed.fetch_max(weight, Ordering::Relaxed);
        // AcqRel: pairs with `leave_list`, so that the thread that takes the limit off the list
        // sees the two adds, or the limit is listed again.
        !self.is_listed.swap(true, Ordering::AcqRel)
    }

    /// Notes a request whose weight is above the limit, once in a bucket: another process may have
    /// raised it. Returns whether the limit must be put on the list.
    pub(crate) fn inquire(&self, now: u64) -> bool {
        // Relaxed, all: numbers; of several threads one stores the time.
        let last = self.inquired.load(Ordering::Relaxed);
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        if now < last + self.bucket
            || self.inquired.compare_exchange(last, now, order, failed).is_err()
        {
            return false;
        }
        self.inquires.store(true, Ordering::Relaxed);
        !self.is_listed.swap(true, Ordering::AcqRel) // as in `miss`
    }

    /// Takes the limit off the list.
    pub(crate) fn leave_list(&self) {
        self.is_listed.swap(false, Ordering::AcqRel); // as above
    }

    /// Returns the ask that is due now, if one is.
    pub(crate) fn poll(&self, now: u64) -> Option<Attempt> {
        // A large request that is refused until later must not hold up a small one.
        let refusal = self.refusal();
        let below = if now < refusal.until { refusal.weight } else { u64::MAX };
        // Relaxed, here and below: those that were noted before the limit was listed are seen by
        // the AcqRel in `leave_list`.
        let need = self.missed.swap(0, Ordering::Relaxed).max(self.waiters.largest(below));
        let mut machine = self.machine();
        if self.inquires.swap(false, Ordering::Relaxed) {
            machine.inquire();
        }
        machine.poll(&self.permits, now, need)
    }

    /// Takes an answer, and wakes those that wait for it.
    pub(crate) fn answer(&self, now: u64, attempt: &Attempt, answer: &Answer) {
        let mut machine = self.machine();
        machine.answer(&self.permits, now, attempt.ask.number, attempt.attempt, answer);
        // Relaxed, here and below: numbers that may be seen late, and publish nothing.
        self.in_force.store(machine.terms.limit, Ordering::Relaxed);
        self.tell(machine.refusal);
        drop(machine);
        *locked(&self.fault) = None;
        self.is_unusable.store(false, Ordering::Relaxed);
        // Release: pairs with `is_answered`, whose caller sees the numbers above.
        self.is_answered.store(true, Ordering::Release);
        self.waiters.wake();
    }

    /// Gives up an ask: what it returns counts as used, and what it is granted too.
    pub(crate) fn give_up(&self, now: u64) {
        self.abandon(now + GIVEN_UP);
    }

    /// Gives up an ask because the limit's keys are unusable. The next one waits for a bucket.
    pub(crate) fn be_unusable(&self, now: u64, fault: SharedError) {
        *locked(&self.fault) = Some(fault);
        self.is_unusable.store(true, Ordering::Relaxed); // as in `answer`
        self.machine().keep_news();
        self.abandon(now + self.bucket.max(GIVEN_UP));
    }

    fn abandon(&self, until: u64) {
        let mut machine = self.machine();
        machine.abandon(until);
        self.tell(machine.refusal);
        drop(machine);
        self.waiters.wake();
    }

    fn tell(&self, refusal: Refusal) {
        // Relaxed, both: a request that finds one of them old is refused, or asks, without need.
        self.refused_weight.store(refusal.weight, Ordering::Relaxed);
        self.refused_until.store(refusal.until, Ordering::Relaxed);
    }

    /// Asks for another limit, for all processes, and returns the version of the change.
    pub(crate) fn set(&self, limit: u64) -> u64 {
        let mut machine = self.machine();
        let version = machine.set_limit(limit);
        self.in_force.store(limit, Ordering::Relaxed); // as in `answer`
        self.tell(machine.refusal);
        version
    }

    /// Admits by the policy for an engine that is away.
    pub(crate) fn by_policy(&self, weight: u64) -> bool {
        match self.absence {
            Absence::Refuse => false,
            Absence::Admit => true,
            Absence::Share(share) => {
                let new = || gate(share.0, self.bucket, self.buckets).ok();
                let gate = self.share.get_or_init(new);
                gate.as_ref().is_some_and(|gate| gate.try_admit(weight))
            }
        }
    }

    /// Returns whether something of the share of the present interval was admitted.
    pub(crate) fn has_used_its_share(&self) -> bool {
        self.share.get().and_then(Option::as_ref).is_some_and(|gate| gate.granted() > 0)
    }

    pub(crate) fn is_unusable(&self) -> bool {
        self.is_unusable.load(Ordering::Relaxed) // as in `answer`
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.is_answered.load(Ordering::Acquire) // pairs with the Release in `answer`
    }

    pub(crate) fn fault(&self) -> Option<SharedError> {
        locked(&self.fault).clone()
    }

    /// Returns the refusal that the engine has told last.
    pub(crate) fn refusal(&self) -> Refusal {
        let until = self.refused_until.load(Ordering::Relaxed); // both as in `tell`
        Refusal { weight: self.refused_weight.load(Ordering::Relaxed), until }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.in_force.load(Ordering::Relaxed) // as in `answer`
    }
}

/// Returns no permits yet. Rations for rows are worth their while where there are many permits, for
/// much longer than the quick clock may be behind.
fn permits(terms: &Terms) -> Permits {
    let margin = margin().filter(|margin| !terms.is_small() && terms.length > 4 * margin);
    margin.map_or(Permits::new(), Permits::with_rows)
}

/// Returns the gate of a share, with the limit's geometry.
pub(crate) fn gate(limit: u64, length: u64, buckets: u64) -> Result<Gate, windrow::LimitError> {
    let interval = Duration::from_micros(length * buckets);
    Gate::builder(limit).interval(interval).buckets(buckets as usize).build()
}

shown! {
    /// Shows the limit in force.
    Limit(own) { limit: own.limit() }
}
