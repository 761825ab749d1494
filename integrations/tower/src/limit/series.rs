//! A rate-limited key: its gate, and the counts of its requests.

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windrow::clock::Coarse;
use windrow::{Clock, Counter, Gate, Timestamp, family::Metric, gate::GateError};

use crate::limit::sharing::Sharing;
use crate::rules::Rate;

/// A key's gate, and the counts of its requests: a metric in the family of a
/// [`Limits`](crate::Limits).
pub struct Limit<C = Coarse> {
    /// The gate; `None` within if it could not be made, and the key is about to be removed.
    gate: OnceLock<Option<Gate<C>>>,
    /// The standing, as a [word](Standing::word), which is set before the gate; [`UNKNOWN`] until
    /// then.
    standing: AtomicU64,
    /// The longest wait by the rules, in nanoseconds; `u64::MAX` without rules.
    max_wait: AtomicU64,
    pub(super) passed: Counter,
    pub(super) blocked: Counter,
}

/// The word of a standing that is not known yet.
const UNKNOWN: u64 = 0;
/// The word of [`Standing::Alone`].
const ALONE: u64 = 1;
/// The word of [`Standing::Overflow`].
const OVERFLOW: u64 = 2;

/// The gates that a key asks.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// Its own gate.
    Alone,
    /// The overflow gate, for the overflow key.
    Overflow,
    /// Its own gate and, until this has ended, the overflow gate.
    Sharing(Sharing),
}

impl Standing {
    /// Returns the standing as a word: the time at which it ends, if it is sharing.
    fn word(self) -> u64 {
        match self {
            Standing::Alone => ALONE,
            Standing::Overflow => OVERFLOW,
            Standing::Sharing(sharing) => sharing.until().as_nanos().max(OVERFLOW + 1),
        }
    }

    /// Returns the standing of a word; `None` if it is not known yet.
    fn of(word: u64) -> Option<Standing> {
        match word {
            UNKNOWN => None,
            ALONE => Some(Standing::Alone),
            OVERFLOW => Some(Standing::Overflow),
            until => Some(Standing::Sharing(Sharing::lasting(Timestamp::from_nanos(until)))),
        }
    }
}

impl<C: Clock> Limit<C> {
    /// Returns the gate; `None` while it is being made.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// static CLIENTS: Limits<Client> =
    ///     Limits::new(1_000, |_| Gate::builder(10).build().expect("ten a second"));
    /// let client = Client { client: "alice" };
    /// assert!(CLIENTS.admit(client, 1, Duration::ZERO).is_granted());
    /// let limit = CLIENTS.family().handle(client);
    /// let gate = limit.gate().expect("it was asked");
    /// assert_eq!(gate.left(), 9);
    /// gate.set_limit(100)?; // until the key is forgotten
    /// assert_eq!(gate.left(), 99);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn gate(&self) -> Option<&Gate<C>> {
        self.gate.get()?.as_ref()
    }

    /// Returns the counter of admitted requests, at once or after a wait, whatever their weights.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Limit::<windrow::clock::Coarse>::default().passed().sum(), 0);
    /// ```
    pub fn passed(&self) -> &Counter {
        &self.passed
    }

    /// Returns the counter of refused requests, whatever their weights.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Limit::<windrow::clock::Coarse>::default().blocked().sum(), 0);
    /// ```
    pub fn blocked(&self) -> &Counter {
        &self.blocked
    }

    /// Returns the gate, and which gates the key asks.
    pub(super) fn own(&self) -> Option<(&Gate<C>, Standing)> {
        self.gate().zip(self.standing())
    }

    fn standing(&self) -> Option<Standing> {
        Standing::of(self.standing.load(Ordering::Relaxed)) // as in `set_own`
    }

    /// Returns whether the gate is still to be made.
    pub(super) fn is_without_gate(&self) -> bool {
        self.gate.get().is_none()
    }

    /// Sets the gate and the standing, unless they are set.
    pub(super) fn set_own(&self, gate: Gate<C>, standing: Standing) {
        // Relaxed, both: the first one stays. A thread that finds the gate sees it, because it was
        // set before a gate was.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.standing.compare_exchange(UNKNOWN, standing.word(), order, failed);
        self.gate.get_or_init(|| Some(gate));
    }

    /// Gives a gate its rate before it is published as the key's.
    pub(super) fn begin_by(&self, gate: &Gate<C>, rate: Rate) {
        self.set_max_wait(rate);
        // Without memory for more buckets, the gate keeps its buckets, and the lower limit.
        let _ = rate.apply(gate);
    }

    /// Gives the key's gate a rate, if there is a gate; returns whether it had another.
    pub(super) fn go_by(&self, rate: Rate) -> Result<bool, GateError> {
        let Some(gate) = self.gate() else { return Ok(false) };
        self.set_max_wait(rate);
        match rate.apply(gate) {
            Err(GateError::Retired) => Ok(false), // its successor will have the rate
            applied => applied,
        }
    }

    fn set_max_wait(&self, rate: Rate) {
        let nanos = u64::try_from(rate.max_wait.as_nanos()).unwrap_or(u64::MAX);
        // Relaxed: it publishes nothing else, and a request under way may wait by either rules.
        self.max_wait.store(nanos, Ordering::Relaxed);
    }

    /// Returns the longest wait that both the caller and the rules allow.
    pub(super) fn max_wait(&self, asked: Duration) -> Duration {
        match self.max_wait.load(Ordering::Relaxed) {
            u64::MAX => asked,
            nanos => asked.min(Duration::from_nanos(nanos)),
        }
    }

    /// Ends a key whose gate could not be made, unless another thread has made it.
    pub(super) fn end_without_gate(&self) {
        self.gate.get_or_init(|| None);
    }

    /// Returns whether the gate is retired, or was never made and never will be.
    pub(super) fn is_over(&self) -> bool {
        let is_over = |gate: &Option<Gate<C>>| gate.as_ref().is_none_or(|gate| gate.limit() == 0);
        self.gate.get().is_some_and(is_over)
    }
}

/// Creates a key without a gate.
impl<C> Default for Limit<C> {
    fn default() -> Limit<C> {
        Limit {
            gate: OnceLock::new(),
            standing: AtomicU64::new(UNKNOWN),
            max_wait: AtomicU64::new(u64::MAX),
            passed: Counter::new(),
            blocked: Counter::new(),
        }
    }
}

/// The total is the numbers of passed and of blocked requests.
impl<C: Clock + Send + Sync + 'static> Metric for Limit<C> {
    type Total = (u64, u64);

    fn total(&self) -> (u64, u64) {
        (self.passed.total(), self.blocked.total())
    }

    fn merge(one: &mut (u64, u64), other: (u64, u64)) {
        Counter::merge(&mut one.0, other.0);
        Counter::merge(&mut one.1, other.1);
    }
}

impl<C> Debug for Limit<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("gate", &self.gate.get().and_then(Option::as_ref))
            .field("passed", &self.passed)
            .field("blocked", &self.blocked)
            .finish_non_exhaustive()
    }
}
