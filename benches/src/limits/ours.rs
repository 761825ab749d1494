//! windrow's: a gate, a pace, several limits in one word, a family of gates, and a window that is
//! asked for its sum before an add.

use std::time::Duration;

use windrow::{
    Clock, Family, Gate, Pace, Paces, SlidingWindow, events,
    gate::{GateBuilder, RationedGate},
    labels,
};

use super::{KEYS, Limiter, Terms};

events! { enum Let { Through: Count } }

labels! { struct Client { number: u64 } }

/// Returns the settings of a gate whose limit holds for each interval of whole buckets.
fn builder<C: Clock>(terms: Terms, clock: C) -> GateBuilder<C> {
    let builder = Gate::builder(terms.limit).interval(terms.interval);
    builder.buckets(terms.buckets as usize).clock(clock).allow_coarse_clock()
}

/// Returns a gate whose limit holds for each interval of whole buckets.
///
/// # Panics
/// If no gate has these terms.
pub fn gate<C: Clock>(terms: Terms, clock: C) -> Gate<C> {
    builder(terms, clock).build().expect("sound terms")
}

/// Returns a gate whose limit holds for each span as long as the interval.
///
/// # Panics
/// If no gate has these terms.
pub fn strict<C: Clock>(terms: Terms, clock: C) -> Gate<C> {
    builder(terms, clock).strict().build().expect("sound terms")
}

/// Returns a strict gate that grants each core up to `most` in advance.
///
/// # Panics
/// If no gate has these terms.
pub fn rationed<C: Clock>(terms: Terms, most: u64, clock: C) -> RationedGate<C> {
    builder(terms, clock).strict().build_rationed(most).expect("sound terms")
}

/// Returns a pace of the same rate, whose burst is the limit.
///
/// # Panics
/// If no pace has these terms.
pub fn paced<C: Clock>(terms: Terms, clock: C) -> Pace<C> {
    let period = terms.interval.as_nanos() as u64 / terms.limit;
    let builder = Pace::builder(Duration::from_nanos(period)).burst(terms.limit);
    builder.clock(clock).allow_coarse_clock().build().expect("sound terms")
}

/// Returns a limit of these terms, and with `two` another one beside it: the same in twice the
/// interval.
///
/// # Panics
/// If no word holds these limits.
pub fn several<C: Clock>(terms: Terms, two: bool, clock: C) -> Paces<C> {
    let builder = Paces::builder().limit(terms.limit, terms.interval).max_wait(Duration::ZERO);
    let builder = if two { builder.limit(terms.limit, 2 * terms.interval) } else { builder };
    builder.clock(clock).allow_coarse_clock().build().expect("sound terms")
}

/// A limiter whose calls reserve two units, and settle one.
pub struct Settled<L>(pub L);

/// Asks a limiter of one key for one unit, or for two of which it settles one.
macro_rules! limiters {
    ($($limiter:ty: |$this:ident| $ask:expr;)*) => {$(
        impl<C: Clock + Send + Sync> Limiter for $limiter {
            #[inline]
            fn ask(&self, _key: u64) -> bool {
                let $this = self;
                $ask
            }
        }
    )*};
}

limiters! {
    Gate<C>: |gate| gate.try_admit(1);
    RationedGate<C>: |gate| gate.try_admit(1);
    Pace<C>: |pace| pace.try_admit(1);
    Paces<C>: |paces| paces.try_admit(1);
    Settled<Gate<C>>: |gate| gate.0.reserve(2, Duration::ZERO).map(|call| call.settle(1)).is_ok();
    Settled<Pace<C>>: |pace| pace.0.reserve(2, Duration::ZERO).map(|call| call.settle(1)).is_ok();
}

/// A gate for each key, found by that.
pub struct Gates<F>(Family<Client, Gate, F>);

impl<F: Fn() -> Gate> Gates<F> {
    /// Returns each made so.
    pub fn of(make: F) -> Gates<F> {
        Gates(Family::with_constructor(make).with_max_series(KEYS as usize))
    }
}

impl<F: Fn() -> Gate + Send + Sync> Limiter for Gates<F> {
    #[inline]
    fn ask(&self, key: u64) -> bool {
        self.0.with(Client { number: key }).try_admit(1)
    }
}

/// A window: sum, then add. It exceeds the limit by one for each thread between the two.
pub struct Soft<C> {
    limit: u64,
    window: SlidingWindow<Let, C>,
}

impl<C: Clock> Soft<C> {
    /// Returns the limiter on this clock.
    ///
    /// # Panics
    /// If no window has these terms.
    pub fn new(terms: Terms, clock: C) -> Soft<C> {
        let builder = SlidingWindow::builder().interval(terms.interval);
        let builder = builder.buckets(terms.buckets as usize).clock(clock).allow_coarse_clock();
        Soft { limit: terms.limit, window: builder.build().expect("sound terms") }
    }
}

impl<C: Clock + Send + Sync> Limiter for Soft<C> {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        let fits = self.window.sum(Let::Through) < self.limit;
        if fits {
            self.window.add(Let::Through, 1);
        }
        fits
    }
}
