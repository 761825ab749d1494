//! Limits for all processes: paces, and paces by key.

use std::time::Duration;

use windrow::LimitError;
use windrow::pace::Terms;

use super::File;
use crate::error::MappedError;
use crate::keyed::KeyedPace;
use crate::limit::ends::MOST;
use crate::pace::Pace;
use crate::paces::Paces;
use crate::system::time::Boot;
use crate::text;

/// # Limits of all processes
impl File {
    /// Returns the pace with this name and these labels, which is registered if it is not there:
    /// one call in each `period`, and `burst` at once after a rest, over all processes.
    ///
    /// The labels are the keys of a limit by client, tenant or partner. A file has at most 16 384
    /// paces, of 64 bytes each.
    ///
    /// # Errors
    ///
    /// The errors of [`counter`](Self::counter), and
    ///
    /// * [`MappedError::BadTerms`]: the period or the burst is zero, or the burst's periods are
    ///   longer together than 2^62 nanoseconds.
    /// * [`MappedError::OtherTerms`]: the pace is there with another period or burst. New terms
    ///   need a new name or label.
    /// * [`MappedError::Full`]: also if the file has 16 384 paces.
    /// * [`MappedError::ShiftedClock`], [`UnknownClock`](MappedError::UnknownClock): the monotonic
    ///   clock of this process is not that of the others, or that is not known.
    ///
    /// # Cost
    ///
    /// That of a [`counter`](Self::counter), and some tens of microseconds to look at the clock.
    /// Keep the pace: a call of it costs neither.
    pub fn pace(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        period: Duration,
        burst: u64,
    ) -> Result<Pace, MappedError> {
        let terms = Terms::new(period, burst)?;
        let boot = Boot::of_this_process()?;
        Ok(Pace { word: self.shared.pace(&text::join(name, labels)?, terms, boot)? })
    }

    /// Returns the limits with this name and these labels, which are registered if they are not
    /// there. Each is a period and a burst, as of a [`pace`](Self::pace); one to four are decided
    /// at once, over all processes.
    ///
    /// One set of limits takes the place of four paces, 256 bytes: a file has at most 4096 sets.
    ///
    /// # Errors
    ///
    /// The errors of [`pace`](Self::pace), also [`MappedError::BadTerms`] if there are no limits or
    /// more than four, and
    ///
    /// * [`MappedError::OtherTerms`]: also if the set is there with another number of limits.
    /// * [`MappedError::NoWideExchange`]: the processor is too old.
    pub fn paces(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        limits: &[(Duration, u64)],
    ) -> Result<Paces, MappedError> {
        if limits.is_empty() {
            return Err(LimitError::NoLimits.into());
        }
        if limits.len() > MOST {
            return Err(LimitError::TooManyLimits { limits: limits.len(), most: MOST }.into());
        }
        let terms = limits.iter().map(|(period, burst)| Terms::new(*period, *burst));
        let terms = terms.collect::<Result<Vec<_>, _>>()?;
        let boot = Boot::of_this_process()?;
        Ok(Paces { ends: self.shared.several(&text::join(name, labels)?, &terms, boot)? })
    }

    /// Returns paces by key, all with this name and these terms: the key is the value of the label.
    /// Nothing is registered before the first key comes.
    ///
    /// # Errors
    ///
    /// [`MappedError::BadName`], [`BadTerms`](MappedError::BadTerms),
    /// [`ShiftedClock`](MappedError::ShiftedClock), [`UnknownClock`](MappedError::UnknownClock), as
    /// [`pace`](Self::pace).
    pub fn keyed_pace(
        &self,
        name: &str,
        label: &str,
        period: Duration,
        burst: u64,
    ) -> Result<KeyedPace, MappedError> {
        KeyedPace::new(self.shared, name, label, Terms::new(period, burst)?)
    }
}
