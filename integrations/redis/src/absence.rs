//! Policies for an engine that is away.

use windrow::AtMost;

/// A policy for the time in which a limit's engine is away.
///
/// The engine is away from the moment at which it has left a request unanswered for
/// [`timeout`](crate::EngineBuilder::timeout), or a connection could not be made, until its next
/// answer. What a process was granted before is used up first, whatever the policy.
///
/// ```
/// use windrow::AtMost;
/// use windrow_redis::Absence;
///
/// // Each of four processes goes on with 50 in an interval. Build the limit with 800 instead of
/// // 1000, so that shares and grants together stay within 1000.
/// let absence = Absence::Share(AtMost(50));
/// assert_ne!(absence, Absence::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// Refuses everything: the limit holds.
    #[default]
    Refuse,
    /// Admits this much in each interval in each process, by a [`Gate`](windrow::Gate) of its own.
    ///
    /// For up to an interval, at the beginning and at the end of an absence, the shares come on top
    /// of what the engine has granted. The limit holds all the same if the engine is given the
    /// limit less all shares.
    Share(AtMost),
    /// Admits everything: no limit holds.
    Admit,
}
