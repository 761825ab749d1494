//! A rate-limited key: its gate, and the counts of its requests.

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;
use std::time::Duration;

use windrow::clock::Coarse;
use windrow::{Clock, Gate, family::Metric, gate::GateError};

use crate::limit::counts::{Answer, Counts, Standing};
use crate::limit::fields::Quota;
use crate::line::Line;
use crate::rules::Rate;

/// A key's gate, and the counts of its requests: a metric in the family of a
/// [`Limits`](crate::Limits).
pub struct Limit<C = Coarse> {
    /// The gate; `None` within if it was not made, and the key is about to be removed.
    gate: OnceLock<Option<Gate<C>>>,
    /// The standing is set before the gate.
    pub(super) counts: Counts,
    line: Line,
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

    /// Returns the number of admitted requests, at once or after a wait, whatever their weights.
    ///
    /// Exact when no request is under way. It costs a load; once two threads have asked at the same
    /// moment, what [`Counter::sum`](windrow::Counter::sum) does.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Limit::<windrow::clock::Coarse>::default().passed(), 0);
    /// ```
    pub fn passed(&self) -> u64 {
        self.counts.sum(Answer::Passed)
    }

    /// Returns the number of refused requests, whatever their weights.
    ///
    /// Cost and consistency are those of [`passed`](Self::passed).
    ///
    /// ```
    /// assert_eq!(windrow_tower::Limit::<windrow::clock::Coarse>::default().blocked(), 0);
    /// ```
    pub fn blocked(&self) -> u64 {
        self.counts.sum(Answer::Blocked)
    }

    /// Returns the gate, and which gates the key asks.
    pub(super) fn own(&self) -> Option<(&Gate<C>, Standing)> {
        self.gate().zip(self.counts.standing())
    }

    /// Returns the state of the gate, if there is one.
    pub(super) fn quota(&self) -> Option<Quota> {
        let gate = self.gate()?;
        let (limit, interval, left) = (gate.limit(), gate.interval(), gate.left());
        Some(Quota { limit, interval, left, retry_after: None })
    }

    /// Returns the time at which a refused request is told to come back: that of its place in the
    /// line of this key.
    pub(super) fn turn_of(&self, weight: u64, wait: Duration) -> Option<Duration> {
        let (gate, quota) = (self.gate()?, self.quota()?);
        Some(self.line.join(gate.clock().now(), wait, quota.takes(weight)))
    }

    /// Returns whether the gate is still to be made.
    pub(super) fn is_without_gate(&self) -> bool {
        self.gate.get().is_none()
    }

    /// Sets the gate and the standing, unless they are set.
    pub(super) fn set_own(&self, gate: Gate<C>, standing: Standing) {
        self.counts.set_standing(standing);
        self.gate.get_or_init(|| Some(gate));
    }

    /// Gives a gate its rate before it is published as the key's.
    pub(super) fn begin_by(&self, gate: &Gate<C>, rate: Rate) {
        self.counts.set_max_wait(rate.max_wait);
        // Without memory for more buckets, the gate keeps its buckets, and the lower limit.
        let _ = rate.apply(gate);
    }

    /// Gives the key's gate a rate, if there is a gate; returns whether it had another.
    pub(super) fn go_by(&self, rate: Rate) -> Result<bool, GateError> {
        let Some(gate) = self.gate() else { return Ok(false) };
        self.counts.set_max_wait(rate.max_wait);
        match rate.apply(gate) {
            Err(GateError::Retired) => Ok(false), // its successor will have the rate
            applied => applied,
        }
    }

    /// Ends a key without a gate, unless another thread has made it. Returns whether it has ended.
    pub(super) fn end_without_gate(&self) -> bool {
        self.gate.get_or_init(|| None).is_none()
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
        Limit { gate: OnceLock::new(), counts: Counts::new(), line: Line::new() }
    }
}

/// The total is the numbers of passed and of blocked requests.
impl<C: Clock + Send + Sync + 'static> Metric for Limit<C> {
    type Total = (u64, u64);

    fn total(&self) -> (u64, u64) {
        (self.passed(), self.blocked())
    }

    fn merge(one: &mut (u64, u64), other: (u64, u64)) {
        one.0 = one.0.wrapping_add(other.0);
        one.1 = one.1.wrapping_add(other.1);
    }
}

impl<C> Debug for Limit<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("gate", &self.gate.get().and_then(Option::as_ref))
            .field("passed", &self.counts.sum(Answer::Passed))
            .field("blocked", &self.counts.sum(Answer::Blocked))
            .finish_non_exhaustive()
    }
}
