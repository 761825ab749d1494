//! A rate limiter that many processes share.

use std::borrow::Cow;
use std::time::Duration;

use windrow::AtMost;
use windrow::gate::Admission;

use crate::builder::{Built, Checked, SharedBuilder, checked};
use crate::change::Change;
use crate::decision::Decision;
use crate::engine::Engine;
use crate::error::SharedError;
use crate::reserve::{Reserve, SharedReservation};
use crate::shared::Shared;
use crate::time::NEVER;
use crate::wait::{Admit, Wait};

/// A rate limiter that many processes share through Redis or Valkey: all together admit at most
/// `limit` in each interval.
///
/// Each process leases *rations* from the engine, and admits from them by itself. So a call that
/// finds a permit takes nanoseconds and asks no network, and one call of the engine serves many
/// requests. ([`Gate`](windrow::Gate) is the limiter of one process.) There is no burst beside the
/// limit: all of it may be used at once, so 100 a second with bursts of 200 is 200 in two seconds.
///
/// ```no_run
/// use std::time::Duration;
/// use windrow::AtMost;
/// use windrow::gate::Admission;
/// use windrow_redis::SharedGate;
///
/// let orders = SharedGate::builder(AtMost(100_000)) // a second, of all processes together
///     .interval(Duration::from_secs(1))
///     .buckets(10)
///     .name("orders")
///     .connect("redis://127.0.0.1/")?;
/// if orders.try_admit(1) {
///     // ... answer the request
/// }
/// # async {
/// match orders.admit(1, Duration::from_millis(5)).await {
///     Admission::Refused { retry_after } => println!("come back after {retry_after:?}"),
///     _ => { /* ... */ }
/// }
/// # };
/// # Ok::<(), windrow_redis::SharedError>(())
/// ```
///
/// # What is promised
///
/// **Never over**: in each run of buckets as long as the interval, by the engine's clock, all
/// processes together admit at most the limit: whatever dies, is suspended, lost, repeated, late or
/// overtaken, and if the engine restarts empty or a lagging replica takes over. Assumed are one
/// primary at a time, clocks of the processes' machines that run within 500 parts in a million of
/// the engine's, no eviction of keys, and no step forward of the engine's clock.
///
/// *Seldom short*: with `n` buckets, at a steady load `n / (n + 1)` of the limit is admitted, since
/// a ration may be used in the bucket in which it was granted and in the next one. A process that
/// dies costs what it held, for at most `n + 1` buckets.
///
/// *No hang*: a call that finds no permit waits for at most its patience, even if the engine
/// answers nonsense, slowly or never. While the limit is known to be spent, a refusal makes no
/// call of the engine. A [policy](crate::Absence) says what a process admits while the engine is
/// away.
///
/// After a restart of an empty engine, and the first time of all, the limit is *cold*: nothing is
/// granted for `n + 1` to `n + 2` buckets, in which what may have been granted before is used up.
///
/// # Cost
///
/// One thread for each [`Engine`], and another once a future waits. On the engine two small keys
/// for each process, which expire, and one without expiry. A process makes 1 to 2 calls a bucket at
/// a steady load, and at most 16 unless it lacks permits.
///
/// A clone is of the same limit, with the same rations. What the last one held when it is dropped
/// counts as used.
#[derive(Clone)]
#[doc(alias = "rate limiter")]
#[doc(alias = "distributed rate limiter")]
#[doc(alias = "token bucket")]
#[doc(alias = "GCRA")]
pub struct SharedGate {
    pub(crate) shared: Shared,
}

impl SharedGate {
    /// Returns a builder of a rate limiter by which all processes together admit at most `limit` in
    /// each interval: one second in ten buckets, unless the builder is told otherwise.
    pub fn builder(limit: AtMost) -> SharedBuilder<SharedGate> {
        SharedBuilder::new(limit)
    }

    /// Admits a call of weight `n` if this process has permits for it; otherwise refuses, and has
    /// the engine asked for more, if that may help. It never waits.
    ///
    /// The first call of a limit, and one after a pause of some buckets, finds no permit: there
    /// [`admit`](Self::admit) waits for an answer of the engine, and this refuses. A weight above
    /// the limit never fits, nor does one above 2^32 - 1, and a weight of zero always does.
    #[inline]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    #[doc(alias = "try_acquire")]
    #[doc(alias = "check")]
    pub fn try_admit(&self, n: u64) -> bool {
        self.shared.take(n) || self.try_slowly(n)
    }

    /// Returns a future that admits a call of weight `n`, and waits for that at most `max_wait`:
    /// for an answer of the engine, or for grants to leave the interval.
    ///
    /// It yields [`Admission::Now`] or [`Admission::Refused`]. Unlike [`Gate::admit`]'s, the wait
    /// is over by then: nothing of the future can be promised here. `retry_after` is `None` for a
    /// weight that never fits. Otherwise it is the time until enough is expected to leave the
    /// interval; many processes are told the same, so spread their attempts.
    ///
    /// The future begins when it is first polled, and takes nothing if it is dropped before it is
    /// ready. It needs no runtime.
    ///
    /// [`Gate::admit`]: windrow::Gate::admit
    #[doc(alias = "acquire")]
    #[doc(alias = "until_ready")]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admit<'_> {
        Admit { wait: Wait::new(Cow::Borrowed(&self.shared), n, max_wait) }
    }

    /// Returns the same future as [`admit`](Self::admit), which owns a clone of the limit.
    pub fn admit_owned(&self, n: u64, max_wait: Duration) -> Admit<'static> {
        Admit { wait: Wait::new(Cow::Owned(self.shared.clone()), n, max_wait) }
    }

    /// Admits a call as [`admit`](Self::admit), and blocks the thread meanwhile.
    pub fn admit_blocking(&self, n: u64, max_wait: Duration) -> Admission {
        Wait::new(Cow::Borrowed(&self.shared), n, max_wait).block().admission
    }

    /// Takes permits that can be given back, if this process has them: for a call whose cost is
    /// known when it is over.
    ///
    /// A weight of zero always fits, as in [`try_admit`](Self::try_admit). While the engine is
    /// away, a [policy](crate::Absence) may admit a call by [`reserve`](Self::reserve), and not
    /// here.
    pub fn try_reserve(&self, n: u64) -> Option<SharedReservation> {
        let now = self.shared.now();
        let lease = if n == 0 { None } else { self.shared.limit.permits.take_for(now, n) };
        if lease.is_none() && n > 0 {
            let _ = self.shared.decide(now, n, n);
            return None;
        }
        Some(SharedReservation { shared: self.shared.clone(), lease, weight: n })
    }

    /// Returns a future that reserves for a call of weight `n`, and waits for that at most
    /// `max_wait`, as [`admit`](Self::admit). The reservation can be given back, and
    /// [settled](SharedReservation::settle).
    ///
    /// It yields an error for what [`admit`](Self::admit) refuses.
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Reserve {
        Reserve { wait: Wait::new(Cow::Owned(self.shared.clone()), n, max_wait).of_a_lease() }
    }

    /// Changes the limit for all processes. Each learns of it with its next answer of the engine.
    ///
    /// It returns before the engine has heard of the change, which then goes on by itself. The
    /// [`Change`] tells the outcome: that this limit holds, or which other one does.
    ///
    /// A change wins over all that this process has heard of, over the limits with which processes
    /// were built, and until the engine loses its memory. Another process's change that this one
    /// has not heard of wins over it. Then [`SharedError::OtherLimit`] names that limit, and a
    /// second call wins over it. Of two changes at once the one holds that the engine hears first.
    ///
    /// Grants stay. So the old limit may still be used for as long as an interval after a change to
    /// a lower one.
    ///
    /// ```no_run
    /// use windrow::AtMost;
    /// use windrow_redis::{SharedError, SharedGate};
    ///
    /// # async fn change(orders: &SharedGate) -> Result<(), SharedError> {
    /// match orders.set_limit(AtMost(500))?.await {
    ///     Err(SharedError::OtherLimit { in_force, .. }) => println!("another one set {in_force}"),
    ///     outcome => outcome?, // `Ok`, or why the engine is away
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SharedError::LimitTooLarge`]; [`SharedError::NoThread`] in a forked child.
    pub fn set_limit(&self, limit: AtMost) -> Result<Change, SharedError> {
        checked(limit)?;
        if self.shared.now() == NEVER {
            return Err(SharedError::forked());
        }
        let version = self.shared.limit.set(limit.0);
        let change = Change::new(self.shared.clone(), limit.0, version);
        self.shared.ask(0, 1);
        Ok(change)
    }

    /// Returns the limit in force, as this process knows it.
    pub fn limit(&self) -> u64 {
        self.shared.limit.limit()
    }

    /// Returns the interval in which the limit holds.
    pub fn interval(&self) -> Duration {
        let limit = &self.shared.limit;
        Duration::from_micros(limit.bucket * limit.buckets)
    }

    /// Returns the limit's name.
    pub fn name(&self) -> &str {
        &self.shared.limit.name
    }

    /// Returns the permits that this process holds now, in all cores' rows together. Other threads
    /// may take them at once.
    pub fn left(&self) -> u64 {
        match self.shared.now() {
            NEVER => 0,
            now => self.shared.limit.permits.left(now) + self.shared.limit.permits.in_rows(),
        }
    }

    /// Returns why the limit's policy for an absent engine is in force, if it is: the engine is
    /// [away](Engine::is_away), or the limit's keys are unusable.
    pub fn fault(&self) -> Option<SharedError> {
        self.shared.fault()
    }

    /// Returns the engine that keeps the limit.
    pub fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    #[cold]
    #[inline(never)]
    fn try_slowly(&self, n: u64) -> bool {
        n == 0 || self.shared.decide(self.shared.now(), n, n) == Decision::Admitted
    }

    /// Returns the limit of the empty key, once the engine has answered.
    pub(crate) fn begin(engine: &Engine, checked: &Checked) -> Result<SharedGate, SharedError> {
        let limit = checked.limit(engine, b"", checked.terms);
        let shared = Shared { engine: engine.clone(), limit };
        shared.begin()?;
        Ok(SharedGate { shared })
    }
}

impl Built for SharedGate {
    const SUFFIX: &'static str = "";

    fn on(engine: &Engine, checked: Checked, _: usize) -> Result<SharedGate, SharedError> {
        SharedGate::begin(engine, &checked)
    }
}

shown! {
    /// Shows the limit, and the engine that keeps it.
    SharedGate(gate) {
        name: gate.name(), limit: gate.limit(), interval: gate.interval(), engine: gate.engine()
    }
}
