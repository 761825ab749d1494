//! Gates in statics.

use std::time::Duration;

use super::Gate;
use super::first_permits::Permits;
use super::head_sheet::Manner;
use super::rationed::RationedGate;
use super::terms::Terms;
use crate::at_most::AtMost;
use crate::clock::Coarse;
use crate::error::LimitError;
use crate::ring::Geometry;

/// # In a static
impl Gate {
    /// Makes a gate that can stand in a `static`: with a limit per interval, and the interval cut
    /// into `buckets`, on the [`Coarse`] clock.
    ///
    /// It takes memory beside its own 64 bytes [when it needs it](Gate#cost-and-progress), as any
    /// other gate, and costs the same.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, AtMost};
    ///
    /// static MAILS: Gate = Gate::of(AtMost(100), Duration::from_secs(1), 10);
    ///
    /// assert!(MAILS.try_admit(1));
    /// assert_eq!((MAILS.limit(), MAILS.granted()), (100, 1));
    /// ```
    ///
    /// (Do not put it into a `const`: each mention of a `const` is another gate, with a limit of
    /// its own.)
    ///
    /// # Panics
    ///
    /// The call panics where a [builder](Self::builder) would return an error: if the limit is zero
    /// or above 2^40, the interval or the number of buckets is zero, or the buckets do not divide
    /// the interval into whole nanoseconds. It also panics if buckets are shorter than 100 ms, or
    /// more than 100 000. In a `static`, each of these is an error of the compiler:
    ///
    /// ```compile_fail,E0080
    /// use std::time::Duration;
    /// use windrow::{Gate, AtMost};
    ///
    /// static MAILS: Gate = Gate::of(AtMost(0), Duration::from_secs(1), 10);
    /// # assert!(MAILS.try_admit(1));
    /// ```
    #[must_use]
    #[inline]
    pub const fn of(limit: AtMost, interval: Duration, buckets: usize) -> Gate {
        Gate::in_static(limit, Geometry::in_static(interval, buckets), Manner::PLAIN)
    }

    /// Makes a gate as [`of`](Self::of) does, whose limit holds in every span of time that is as
    /// long as the interval: it is [strict](crate::gate::GateBuilder::strict), and has one more
    /// bucket.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, AtMost};
    ///
    /// static MAILS: Gate = Gate::strict(AtMost(100), Duration::from_secs(1), 10);
    ///
    /// assert_eq!((MAILS.interval(), MAILS.buckets()), (Duration::from_millis(1_100), 11));
    /// ```
    ///
    /// # Panics
    ///
    /// The call panics as [`of`](Self::of).
    #[must_use]
    #[inline]
    pub const fn strict(limit: AtMost, interval: Duration, buckets: usize) -> Gate {
        let Ok(geometry) = Geometry::in_static(interval, buckets).with_spare() else {
            panic!("the interval and a bucket are longer than 2^64 - 1 ns")
        };
        Gate::in_static(limit, geometry, Manner { is_strict: true, ..Manner::PLAIN })
    }

    #[inline]
    const fn in_static(AtMost(limit): AtMost, geometry: Geometry, manner: Manner) -> Gate {
        let terms = match Terms::new(geometry, limit) {
            Ok(terms) => terms,
            Err(LimitError::ZeroLimit) => panic!("the limit is zero"),
            Err(_) => panic!("the limit is more than 2^40"),
        };
        Gate { permits: Permits::new(terms, manner, 0), clock: Coarse::NEW }
    }
}

/// # In a static
impl RationedGate {
    /// Makes a gate that can stand in a `static`, as [`Gate::of`], and gives each core a ration of
    /// up to `ration` of the limit in advance.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{AtMost, gate::RationedGate};
    ///
    /// static PACKETS: RationedGate =
    ///     RationedGate::of(AtMost(5_000_000), Duration::from_secs(1), 10, AtMost(1_000));
    ///
    /// assert!(PACKETS.try_admit(1));
    /// assert_eq!((PACKETS.gate().limit(), PACKETS.gate().buckets()), (5_000_000, 10));
    /// ```
    ///
    /// # Panics
    ///
    /// The call panics as [`Gate::of`]; and if the ration is zero, or above the limit.
    #[must_use]
    #[inline]
    pub const fn of(
        limit: AtMost,
        interval: Duration,
        buckets: usize,
        ration: AtMost,
    ) -> RationedGate {
        let geometry = Geometry::in_static(interval, buckets);
        let manner = Manner { is_rationed: true, ..Manner::PLAIN };
        let gate = Gate::in_static(limit, geometry, manner);
        let AtMost(max_ration) = ration;
        assert!(max_ration > 0, "the ration is zero");
        assert!(max_ration <= limit.0, "the ration is more than the limit");
        RationedGate::at_first_use(gate, max_ration)
    }
}
