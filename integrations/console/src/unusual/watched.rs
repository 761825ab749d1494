//! The watch of a series over time: how it is made from a window's past, and looked at.

use std::sync::Arc;
use std::time::Duration;

use windrow::export::AnyWindow;

use super::counts::{Counts, Seen};
use super::evidence::Settings;
use super::past::{self, millis};
use super::watch::Watch;
use crate::read::number::Number;
use crate::shown::layout::{FIRST_PERCENTILE, PERCENTILES};
use crate::shown::roles::Roles;

/// The age of a watch's last look, in milliseconds, from which it is made anew.
const LEFT_ALONE: u64 = 90_000;

/// The time without a pass after which watches are freed whose windows record the past.
pub(super) const RECORDED: Duration = Duration::from_millis(LEFT_ALONE);

/// The time in milliseconds after which this time of yesterday is read anew.
const QUARTER: u64 = 900_000;

/// The watch of a series.
#[derive(Default)]
pub(crate) struct Watched {
    /// The number of the series itself. (Its key may come to be another series'.)
    pub(super) series: u64,
    pub(crate) watch: Watch,
    pub(crate) roles: Arc<Roles>,
    /// The time of this look, the last look, and the last reading of the past, in milliseconds of
    /// the window's clock.
    now: u64,
    pub(super) looked: Option<u64>,
    read: Option<u64>,
    /// The rate of the first event in this hour of yesterday.
    pub(crate) yesterday: Option<f64>,
    /// The beginning of what the window has recorded, in milliseconds of its clock, if that is all
    /// that a watch needs.
    recorded: Option<u64>,
    /// The number of the last pass that has met the series.
    pub(super) pass: u64,
}

impl Watched {
    pub(super) fn new(series: u64, settings: Settings, roles: Arc<Roles>, pass: u64) -> Watched {
        let watch = Watch::new(series, settings);
        Watched { series, watch, roles, pass, ..Watched::default() }
    }

    /// Begins a look at the window. Returns whether the watch has been left alone, and whether the
    /// past is to be read.
    pub(super) fn begin(&mut self, window: &dyn AnyWindow) -> [bool; 2] {
        self.now = millis(window.lifetime().end);
        let is_left = self.looked.is_none_or(|looked| self.now > looked + LEFT_ALONE);
        [is_left, is_left || self.read.is_none_or(|read| self.now > read + QUARTER)]
    }

    /// Reads the past that the window has kept. A watch that was left alone is made anew from it.
    /// But the old watch stays in two cases: the past is too short to make a better one, or a
    /// change that still goes on began before it. Then the watch knows only what its own looks have
    /// found.
    pub(super) fn read(&mut self, window: &dyn AnyWindow, settings: Settings, is_left: bool) {
        let made = is_left.then(|| past::watch(window, &self.roles, settings, self.series));
        let made = made.filter(|made| {
            let known = made.known_since;
            let is_enough =
                made.levels.is_ready() || !self.watch.levels.is_ready() && known.is_some();
            is_enough && self.changes_begin_after(known)
        });
        if let Some(made) = made {
            self.watch = made;
        } else {
            self.watch.levels.season = past::season(window, &self.roles);
        }
        self.recorded = past::recorded(window);
        self.yesterday = self.roles.first.and_then(|event| past::yesterday(window, event));
        self.read = Some(self.now);
    }

    /// Returns whether the window has recorded all that the watch knows.
    pub(super) fn is_recorded(&self) -> bool {
        self.recorded.is_some() && self.changes_begin_after(self.recorded)
    }

    /// Returns whether all changes that go on have begun after this time.
    fn changes_begin_after(&self, time: Option<u64>) -> bool {
        let begins_after = |since| time.is_some_and(|time| since > time);
        self.watch.changes.on.iter().all(|change| begins_after(change.since))
    }

    /// Takes the row's numbers, and the all-time counts of values above each bound.
    pub(crate) fn look(&mut self, numbers: &[Number], above: [u32; PERCENTILES]) {
        self.watch.look(&seen(&self.roles, self.now, numbers, above));
        self.looked = Some(self.now);
    }

    /// Returns the milliseconds since a time of the window's clock.
    pub(crate) fn ago(&self, at: u64) -> u64 {
        self.now.saturating_sub(at)
    }
}

/// Returns what a row's numbers say: see [`layout`](crate::shown::layout).
pub(super) fn seen(roles: &Roles, at: u64, numbers: &[Number], above: [u32; PERCENTILES]) -> Seen {
    let unsigned = |at: usize| match numbers.get(at) {
        Some(Number::Whole(number)) => u64::try_from(*number).unwrap_or(0),
        _ => 0,
    };
    // The first number of an event that only grows is its all-time count.
    let [all, failed, refused] =
        roles.counts(|event| unsigned(roles.places[event])).map(|count| count as u32);
    let counts = Counts { all, failed, refused, values: 0, above };
    let mut seen = Seen { at, counts, ..Seen::default() };
    if let Some(at) = roles.values.map(|values| roles.places[values]) {
        seen.counts.values = unsigned(at) as u32;
        seen.interval = u32::try_from(unsigned(at + 1)).unwrap_or(u32::MAX);
        let first = at + FIRST_PERCENTILE;
        seen.percentiles = std::array::from_fn(|index| unsigned(first + index) as f32);
    }
    seen
}
