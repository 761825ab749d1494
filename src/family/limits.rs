//! Gates, paces and breakers in families: limits by key.

use crate::breaker::{Breaker, Counts, Owner};
use crate::clock::Clock;
use crate::family::handle::Handle;
use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::gate::{Gate, RationedGate};
use crate::pace::{Pace, Paces};

/// The total is the weight that counts against the limit: [granted](Gate::granted) plus
/// [waiting](Gate::waiting). For a removed series it is the value at the time the series was freed:
/// zero, if the gate was [retired](Gate::retire).
impl<C: Clock + Send + Sync + 'static> Metric for Gate<C> {
    type Total = u64;

    fn total(&self) -> u64 {
        self.in_use()
    }

    fn merge(one: &mut u64, other: u64) {
        *one = one.wrapping_add(other);
    }
}

/// The total is that of the [underlying gate](RationedGate::gate): unused rations were granted, so
/// they count. To remove a series without a rest, [retire](Gate::retire) that gate first, as with a
/// plain gate:
///
/// ```
/// use windrow::{Family, Gate, labels, gate::RationedGate};
///
/// labels! { pub struct Tenant { tenant: str } }
///
/// static GATES: Family<Tenant, RationedGate> = Family::with_constructor(|| {
///     Gate::builder(1_000_000).build_rationed(500).expect("a million a second")
/// });
///
/// assert!(GATES.with(Tenant { tenant: "a" }).try_admit(1));
/// // From time to time:
/// let forgotten = GATES.retain(|gate, _| !gate.gate().retire());
/// assert_eq!(forgotten, 0); // only after a second has passed
/// ```
impl<C: Clock + Send + Sync + 'static> Metric for RationedGate<C> {
    type Total = u64;

    fn total(&self) -> u64 {
        self.gate().in_use()
    }

    fn merge(one: &mut u64, other: u64) {
        *one = one.wrapping_add(other);
    }
}

/// The total is the weight whose periods are not over: the part of the burst that is missing, and
/// the weight of calls that wait. For a removed series it is the value at the time the series was
/// freed: zero, if the pace was [retired](Pace::retire).
impl<C: Clock + Send + Sync + 'static> Metric for Pace<C> {
    type Total = u64;

    fn total(&self) -> u64 {
        self.in_use()
    }

    fn merge(one: &mut u64, other: u64) {
        *one = one.wrapping_add(other);
    }
}

/// The total is that of a [`Pace`], for the limit whose total is the greatest.
impl<C: Clock + Send + Sync + 'static> Metric for Paces<C> {
    type Total = u64;

    fn total(&self) -> u64 {
        self.in_use()
    }

    fn merge(one: &mut u64, other: u64) {
        *one = one.wrapping_add(other);
    }
}

/// The total is that of the [counts](Breaker::counts), each wrapping.
impl<C: Clock + Send + Sync + 'static> Metric for Breaker<C> {
    type Total = Counts;

    fn total(&self) -> Counts {
        self.counts()
    }

    fn merge(one: &mut Counts, other: Counts) {
        *one = one.plus(other);
    }
}

/// A call that owns a handle keeps the series.
impl<L: Labels, M: Owner> Owner for Handle<L, M> {
    type Clock = M::Clock;

    #[inline]
    fn breaker(&self) -> &Breaker<M::Clock> {
        (**self).breaker()
    }
}
