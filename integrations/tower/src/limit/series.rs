//! A rate-limited key: its limiter, and the counts of its requests.

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;

use windrow::{Gate, family::Metric};

use crate::limit::counts::{Answer, Counts, Standing};
use crate::limiter::Limiter;
use crate::line::Line;
use crate::rules::{Problem, Rate};

/// A key's limiter, and the counts of its requests: a metric in the family of a
/// [`Limits`](crate::Limits).
pub struct Limit<G = Gate> {
    /// The limiter; `None` within if it was not made, and the key is about to be removed.
    limiter: OnceLock<Option<G>>,
    /// The standing is set before the limiter.
    pub(super) counts: Counts,
    pub(crate) line: Line,
}

impl<G> Limit<G> {
    /// Returns the limiter, such as a [`Gate`]; `None` while it is being made.
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
    /// let gate = limit.limiter().expect("it was asked");
    /// assert_eq!(gate.left(), 9);
    /// gate.set_limit(100)?; // until the key is forgotten
    /// assert_eq!(gate.left(), 99);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn limiter(&self) -> Option<&G> {
        self.limiter.get()?.as_ref()
    }

    /// Returns the number of admitted requests, at once or after a wait, whatever their weights.
    ///
    /// Exact when no request is under way. It costs a load; once two threads have asked at the same
    /// moment, what [`Counter::sum`](windrow::Counter::sum) does.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Limit::<windrow::Gate>::default().passed(), 0);
    /// ```
    pub fn passed(&self) -> u64 {
        self.counts.sum(Answer::Passed)
    }

    /// Returns the number of refused requests, whatever their weights.
    ///
    /// Cost and consistency are those of [`passed`](Self::passed).
    ///
    /// ```
    /// assert_eq!(windrow_tower::Limit::<windrow::Gate>::default().blocked(), 0);
    /// ```
    pub fn blocked(&self) -> u64 {
        self.counts.sum(Answer::Blocked)
    }

    /// Counts the answer to a request.
    pub(crate) fn count(&self, is_granted: bool) {
        self.counts.count(if is_granted { Answer::Passed } else { Answer::Blocked });
    }

    /// Returns the limiter, and which limiters the key asks.
    pub(super) fn own(&self) -> Option<(&G, Standing)> {
        self.limiter().zip(self.counts.standing())
    }

    /// Returns whether the limiter is still to be made.
    pub(super) fn is_without_limiter(&self) -> bool {
        self.limiter.get().is_none()
    }

    /// Sets the limiter and the standing, unless they are set.
    pub(super) fn set_own(&self, limiter: G, standing: Standing) {
        self.counts.set_standing(standing);
        self.limiter.get_or_init(|| Some(limiter));
    }

    /// Ends a key without a limiter, unless another thread has made it. Returns whether it has
    /// ended.
    pub(super) fn end_without_limiter(&self) -> bool {
        self.limiter.get_or_init(|| None).is_none()
    }
}

impl<G: Limiter> Limit<G> {
    /// Gives the key's limiter a rate, if there is a limiter; returns whether it had another. (The
    /// successor of a retired one will have the rate.)
    pub(super) fn go_by(&self, rate: Rate) -> Result<bool, Problem> {
        let Some(limiter) = self.limiter() else { return Ok(false) };
        self.counts.set_max_wait(rate.max_wait);
        limiter.apply(rate)
    }

    /// Returns whether the limiter is retired, or was never made and never will be.
    pub(super) fn is_over(&self) -> bool {
        let is_over = |limiter: &Option<G>| limiter.as_ref().is_none_or(G::is_retired);
        self.limiter.get().is_some_and(is_over)
    }
}

/// Creates a key without a limiter.
impl<G> Default for Limit<G> {
    fn default() -> Limit<G> {
        Limit { limiter: OnceLock::new(), counts: Counts::new(), line: Line::new() }
    }
}

/// The total is the numbers of passed and of blocked requests.
impl<G: Send + Sync + 'static> Metric for Limit<G> {
    type Total = (u64, u64);

    fn total(&self) -> (u64, u64) {
        (self.passed(), self.blocked())
    }

    fn merge(one: &mut (u64, u64), other: (u64, u64)) {
        one.0 = one.0.wrapping_add(other.0);
        one.1 = one.1.wrapping_add(other.1);
    }
}

impl<G: Debug> Debug for Limit<G> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("limiter", &self.limiter())
            .field("passed", &self.counts.sum(Answer::Passed))
            .field("blocked", &self.counts.sum(Answer::Blocked))
            .finish_non_exhaustive()
    }
}
