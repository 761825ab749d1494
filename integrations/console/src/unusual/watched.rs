//! The watch of a series over time: how it is made from a window's past, and looked at.

use windrow::export::AnyWindow;

use super::past;
use super::seen::Seen;
use super::settings::Settings;
use super::watch::Watch;
use crate::read::number::Number;
use crate::shown::layout::{FIRST_PERCENTILE, PERCENTILES};
use crate::shown::roles::Roles;

/// The watch of a series.
#[derive(Default)]
pub(super) struct Watched {
    /// The number of the series itself. (Its key may come to be another series'.)
    pub(super) series: u64,
    pub(super) watch: Watch,
    /// The last look, and the last reading of the past, in milliseconds of the window's clock.
    pub(super) looked: Option<u64>,
    pub(super) read: Option<u64>,
    /// The rate of the first event in this hour of yesterday.
    pub(super) yesterday: Option<f64>,
    /// The beginning of what the window has recorded, in milliseconds of its clock, if that is all
    /// that a watch needs.
    pub(super) recorded: Option<u64>,
    /// The number of the last pass that has met the series.
    pub(super) pass: u64,
}

impl Watched {
    pub(super) fn new(series: u64) -> Watched {
        Watched { series, watch: Watch::new(series), ..Watched::default() }
    }

    /// Makes the watch anew from the window's past; or, if that is short, or does not reach back to
    /// the beginning of a change that goes on, lets it go on: what the looks have found is then all
    /// that there is.
    pub(super) fn make(&mut self, window: &dyn AnyWindow, roles: &Roles, settings: &Settings) {
        let made = past::watch(window, roles, settings, self.series);
        let is_short = !made.is_ready();
        if is_short && (self.watch.is_ready() || made.known_since().is_none())
            || !self.changes_begin_after(made.known_since())
        {
            self.watch.set_season(past::season(window, roles));
        } else {
            self.watch = made;
        }
    }

    /// Returns whether all changes that go on have begun after this time.
    pub(super) fn changes_begin_after(&self, time: Option<u64>) -> bool {
        let begins_after = |since| time.is_some_and(|time| since > time);
        self.watch.changes().iter().all(|change| begins_after(change.since))
    }
}

/// The watch of a series, as a pass looks at it.
pub(crate) struct Looking<'w> {
    pub(super) watched: &'w mut Watched,
    pub(super) roles: &'w Roles,
    pub(super) settings: &'w Settings,
    pub(super) now: u64,
}

impl Looking<'_> {
    /// Returns the values above which values are to be counted.
    pub(crate) fn bounds(&self) -> Option<[u64; PERCENTILES]> {
        self.watched.watch.bounds()
    }

    /// Takes the row's numbers, and the all-time counts of values above each bound.
    pub(crate) fn look(&mut self, numbers: &[Number], above: [u32; PERCENTILES]) {
        let seen = seen(self.roles, self.now, numbers, above);
        self.watched.watch.look(self.settings, &seen);
        self.watched.looked = Some(self.now);
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watched.watch
    }

    /// Returns the rate of the first event in this hour of yesterday, a second.
    pub(crate) fn yesterday(&self) -> Option<f64> {
        self.watched.yesterday
    }

    /// Returns the milliseconds since a time of the window's clock.
    pub(crate) fn ago(&self, at: u64) -> u64 {
        self.now.saturating_sub(at)
    }

    /// Returns the position of the event whose values are compared.
    pub(crate) fn values(&self) -> Option<usize> {
        self.roles.values
    }
}

/// Returns what a row's numbers say: see [`layout`](crate::shown::layout).
pub(super) fn seen(roles: &Roles, at: u64, numbers: &[Number], above: [u32; PERCENTILES]) -> Seen {
    let mut seen = Seen { at, above, ..Seen::default() };
    let unsigned = |at: usize| match numbers.get(at) {
        Some(Number::Unsigned(number)) => *number,
        _ => 0,
    };
    // The first number of an event that only grows is its all-time count.
    [seen.all, seen.failed, seen.refused] = roles.counts(|event| unsigned(roles.places[event]));
    if let Some(at) = roles.values.map(|values| roles.places[values]) {
        seen.values = unsigned(at);
        seen.interval = u32::try_from(unsigned(at + 1)).unwrap_or(u32::MAX);
        let first = at + FIRST_PERCENTILE;
        seen.percentiles = std::array::from_fn(|index| unsigned(first + index) as f32);
    }
    seen
}
