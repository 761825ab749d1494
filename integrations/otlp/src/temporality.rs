//! Totals or changes.

/// The span that counters and histograms are sent for.
///
/// Levels and gauges are always sent as they are.
///
/// ```
/// use windrow_otlp::{Exporter, Temporality};
///
/// let deltas = Exporter::to("http://127.0.0.1:4318").temporality(Temporality::Delta);
/// assert_eq!(Temporality::default(), Temporality::Cumulative);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Temporality {
    /// All-time totals, each with the time at which its series was made. A lost request costs
    /// nothing, since the next one has its counts.
    #[default]
    Cumulative,
    /// The changes since what the collector has acknowledged. For backends that take no totals: see
    /// [what is kept and repeated](crate#deltas).
    Delta,
}
