//! The pages of `docs`: how to use the library, how it works, how it was verified, and its cost.
//!
//! * [`design`]: how it works, with a page each for rows, windows, histograms, gates, families,
//!   heavy keys, and one limit for many machines.
//! * [`orderings`]: every atomic operation, its partner, what breaks without it.
//! * [`verification`]: claim by claim, what shows it, and what is not verified.
//! * [`models`]: the models under loom, shuttle and real threads; [`promela`]: the rotation in
//!   Promela.
//! * [`performance`]: what everything costs, beside other crates.
//! * [`parity`]: what other libraries can do, and the call here that does it.
//! * [`cluster`]: many machines as one: how each kind of number is merged, what a restart loses,
//!   what it costs.
//!
//! This module exists in the documentation only: a program cannot name it.
//!
//! [`drain_closed`]: crate::SlidingWindow::drain_closed
//! [`Event`]: crate::Event
//! [`export`]: crate::export
//! [cluster.md]: cluster
//! [from-atomic.md]: from_atomic
//! [exact-numbers.md]: exact_numbers
//! [sizing.md]: sizing
//! [where-it-runs.md]: where_it_runs
//! [from-striped.md]: from_striped
//! [from-prometheus.md]: from_prometheus
//! [from-sentinel.md]: from_sentinel
//! [tower.md]: tower
//! [otlp.md]: otlp
//! [many-processes.md]: many_processes
//! [shared-limits.md]: shared_limits
//! [circuit-breaker.md]: circuit_breaker
//! [retry-budget.md]: retry_budget
//! [token-budget.md]: token_budget
//! [limits.md]: limits
//! [paces.md]: paces
//! [in-flight.md]: in_flight
//! [rate-display.md]: rate_display
//! [endpoints.md]: endpoints
//! [heavy-keys.md]: heavy_keys
//! [percentiles.md]: percentiles
//! [histogram.md]: histogram
//! [parity.md]: parity
//! [performance.md]: performance
#![doc = include_str!("../docs/guide/README.md")]

// Each page defines its links at its end, by the names of files. The definitions here come before
// the page: of two definitions, rustdoc takes the first.

/// [rows.md]: design::rows
/// [windows.md]: design::windows
/// [windows.md#what-a-stalled-thread-costs]: design::windows#what-a-stalled-thread-costs
/// [histograms.md]: design::histograms
/// [gates.md]: design::gates
/// [families.md]: design::families
/// [heavy.md]: design::heavy
/// [shared.md]: design::shared
/// [orderings.md]: orderings
/// [verification.md]: verification
#[doc = include_str!("../docs/design.md")]
pub mod design {
    /// [design.md]: super::design
    /// [windows.md]: windows
    /// [gates.md]: gates
    /// [heavy.md]: heavy
    #[doc = include_str!("../docs/design/rows.md")]
    pub mod rows {}

    /// [design.md]: super::design
    /// [histograms.md]: histograms
    /// [rows.md]: rows
    /// [where-it-runs.md]: super::where_it_runs
    /// [`SlidingWindow::strategy`]: crate::SlidingWindow::strategy
    #[doc = include_str!("../docs/design/windows.md")]
    pub mod windows {}

    /// [design.md]: super::design
    #[doc = include_str!("../docs/design/histograms.md")]
    pub mod histograms {}

    /// [design.md]: super::design
    #[doc = include_str!("../docs/design/gates.md")]
    pub mod gates {}

    /// [design.md]: super::design
    /// [gates.md]: gates
    #[doc = include_str!("../docs/design/families.md")]
    pub mod families {}

    /// [design.md]: super::design
    /// [families.md]: families
    #[doc = include_str!("../docs/design/heavy.md")]
    pub mod heavy {}

    /// [design.md]: super::design
    /// [gates.md]: gates
    #[doc = include_str!("../docs/design/shared.md")]
    pub mod shared {}
}

#[doc = include_str!("../docs/orderings.md")]
pub mod orderings {}

/// [models.md]: models
/// [models.md#executions]: models#executions
/// [models.md#histories]: models#histories
/// [orderings.md]: orderings
/// [design.md]: design
/// [promela/README.md]: promela
/// [where-it-runs.md]: where_it_runs
#[doc = include_str!("../docs/verification.md")]
pub mod verification {}

/// [verification.md]: verification
/// [verification.md#means]: verification#means
/// [design.md]: design
#[doc = include_str!("../docs/models.md")]
pub mod models {}

/// [../orderings.md]: orderings
#[doc = include_str!("../docs/promela/README.md")]
pub mod promela {}

/// [guide/where-it-runs.md]: where_it_runs
#[doc = include_str!("../docs/pictures.md")]
#[doc = include_str!("../docs/performance.md")]
pub mod performance {}

/// [guide/limits.md]: limits
/// [guide/percentiles.md]: percentiles
/// [guide/retry-budget.md]: retry_budget
#[doc = include_str!("../docs/parity.md")]
pub mod parity {}

/// [guide/many-processes.md]: many_processes
#[doc = include_str!("../docs/cluster.md")]
pub mod cluster {}

/// [clock]: crate::clock
/// [coroutines]: crate::Counter#coroutines
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/where-it-runs.md")]
pub mod where_it_runs {}

/// [performance.md]: performance
/// [windows.md]: design::windows
#[doc = include_str!("../docs/guide/sizing.md")]
pub mod sizing {}

/// [design.md]: design
/// [verification.md]: verification
#[doc = include_str!("../docs/guide/exact-numbers.md")]
pub mod exact_numbers {}

/// [`Counter`]: crate::Counter
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/from-atomic.md")]
pub mod from_atomic {}

/// [performance.md]: performance
#[doc = include_str!("../docs/guide/from-striped.md")]
pub mod from_striped {}

// Its program needs `windrow-prometheus`, whose tests compile and run it.
#[cfg(not(doctest))]
/// [endpoints.md]: endpoints
/// [percentiles.md]: percentiles
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/from-prometheus.md")]
pub mod from_prometheus {}

// Its program needs `windrow-tower`, whose tests compile and run it.
#[cfg(not(doctest))]
/// [limits.md]: limits
/// [paces.md]: paces
/// [shared-limits.md]: shared_limits
/// [in-flight.md]: in_flight
/// [circuit-breaker.md]: circuit_breaker
/// [many-processes.md]: many_processes
#[doc = include_str!("../docs/guide/tower.md")]
pub mod tower {}

// Its program needs `windrow-otlp`, whose tests compile and run it.
#[cfg(not(doctest))]
/// [from-prometheus.md]: from_prometheus
/// [cluster.md]: cluster
#[doc = include_str!("../docs/guide/otlp.md")]
pub mod otlp {}

// Its programs need `windrow-mapped`, whose tests compile and run them.
#[cfg(not(doctest))]
#[doc = include_str!("../docs/guide/many-processes.md")]
pub mod many_processes {}

// Its program needs `windrow-redis`, whose tests compile and run it.
/// [limits.md]: limits
/// [many-processes.md]: many_processes
#[cfg(not(doctest))]
#[doc = include_str!("../docs/guide/shared-limits.md")]
pub mod shared_limits {}

/// [circuit-breaker.md]: circuit_breaker
/// [in-flight.md]: in_flight
/// [paces.md]: paces
/// [parity.md]: parity
/// [percentiles.md]: percentiles
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/from-sentinel.md")]
pub mod from_sentinel {}

/// [in-flight.md]: in_flight
/// [parity.md]: parity
#[doc = include_str!("../docs/guide/circuit-breaker.md")]
pub mod circuit_breaker {}

/// [performance.md]: performance
/// [`Pace`]: crate::Pace
#[doc = include_str!("../docs/guide/retry-budget.md")]
pub mod retry_budget {}

/// [paces.md]: paces
/// [tower.md]: tower
/// [`Gate`]: crate::Gate
/// [in-flight.md]: in_flight
/// [many-processes.md]: many_processes
/// [shared-limits.md]: shared_limits
/// [performance.md]: performance
/// [`Pace`]: crate::Pace
/// [`Paces`]: crate::Paces
/// [token-budget.md]: token_budget
#[doc = include_str!("../docs/guide/limits.md")]
pub mod limits {}

/// [limits.md]: limits
/// [`Pace`]: crate::Pace
/// [`Paces`]: crate::Paces
/// [tower.md]: tower
#[doc = include_str!("../docs/guide/paces.md")]
pub mod paces {}

/// [`InFlight`]: crate::InFlight
/// [limits.md]: limits
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/in-flight.md")]
pub mod in_flight {}

/// [percentiles.md]: percentiles
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/rate-display.md")]
pub mod rate_display {}

/// [`Family`]: crate::Family
/// [`labels!`]: crate::labels!
/// [`metrics!`]: crate::metrics!
/// [exact-numbers.md]: exact_numbers
/// [windows.md]: design::windows
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/endpoints.md")]
pub mod endpoints {}

/// [`waiting`]: crate::Gate::waiting
/// [limits.md]: limits
/// [paces.md]: paces
#[doc = include_str!("../docs/guide/token-budget.md")]
pub mod token_budget {}

/// [endpoints.md]: endpoints
/// [limits.md]: limits
#[doc = include_str!("../docs/guide/heavy-keys.md")]
pub mod heavy_keys {}

/// [`Scale::DEFAULT`]: crate::histogram::Scale::DEFAULT
/// [windows.md]: design::windows
/// [exact-numbers.md]: exact_numbers
/// [histogram.md]: histogram
/// [performance.md]: performance
#[doc = include_str!("../docs/guide/percentiles.md")]
pub mod percentiles {}

/// [`Histogram`]: crate::Histogram
/// [`Scale::DEFAULT`]: crate::histogram::Scale::DEFAULT
/// [percentiles.md]: percentiles
/// [performance.md]: performance
/// [exemplar]: crate::exemplar
#[doc = include_str!("../docs/guide/histogram.md")]
pub mod histogram {}
