//! The watches of all series, which frames and answers share.
//!
//! A watch that has been left alone, because no client was there, is made anew from the window's
//! tiers. That takes longer than a look, so each pass over the series makes them for [`MAKING`]
//! only; the others have their turn in the next pass. Watches are [freed](rest) when no pass needs
//! them.
//!
//! The lock is taken for one series at a time: so two passes, one for a frame and one for an
//! answer, go on side by side.

pub(crate) mod rest;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use windrow::Kind;
use windrow::export::{AnyMetric, AnyWindow, Series};

use crate::changes::{PERCENTILES, Seen, Settings, Watch};
use crate::number::Number;
use crate::past::{self, millis};
use crate::roles::Roles;

/// The time that a pass may take to read the past of series.
const MAKING: Duration = Duration::from_millis(100);

/// The age of a watch's last look, in milliseconds, from which it is made anew.
const LEFT_ALONE: u64 = 90_000;

/// The time in milliseconds after which this time of yesterday is read anew.
const QUARTER: u64 = 900_000;

/// The watches, by metric and key.
#[derive(Default)]
pub(crate) struct Watches {
    settings: Settings,
    /// The place of each, and the watches themselves.
    places: Vec<HashMap<String, usize>>,
    all: Vec<Watched>,
    /// The places of forgotten watches.
    free: Vec<usize>,
    roles: Vec<Roles>,
    /// The number of passes that have begun.
    passes: u64,
    /// The time that a pass may take to read the past.
    making: Duration,
    /// The place in a pass from which on series have their turn to have their past read.
    from: usize,
    rest: rest::Rest,
}

/// A pass over all series.
pub(crate) struct Pass {
    number: u64,
    /// The time that it has taken to read the past.
    made_for: Duration,
    /// The place from which on series have their turn, and that of the next series.
    from: usize,
    next: usize,
    /// The first one that had no turn: from `from` on, or otherwise before it.
    missed: Option<usize>,
    missed_before: Option<usize>,
}

impl Pass {
    /// Takes note that a series has no turn.
    fn miss(&mut self, place: usize) {
        let missed = if place >= self.from { &mut self.missed } else { &mut self.missed_before };
        missed.get_or_insert(place);
    }
}

/// The watch of a series.
struct Watched {
    /// The number of the series itself. (Its key may come to be another series'.)
    series: u64,
    watch: Watch,
    /// The last look, and the last reading of the past, in milliseconds of the window's clock.
    looked: Option<u64>,
    read: Option<u64>,
    /// The rate of the first event in this hour of yesterday.
    yesterday: Option<f64>,
    /// The beginning of what the window has recorded, in milliseconds of its clock, if that is all
    /// that a watch needs.
    recorded: Option<u64>,
    /// The number of the last pass that has met the series.
    pass: u64,
}

impl Watches {
    /// Returns watches over nothing yet. `events` has those of each metric.
    pub(crate) fn new(
        settings: Settings,
        events: impl Iterator<Item = &'static [Event]>,
    ) -> Watches {
        let roles: Vec<Roles> = events.map(Roles::of).collect();
        let places = roles.iter().map(|_| HashMap::new()).collect();
        Watches { settings, places, roles, making: MAKING, ..Watches::default() }
    }

    /// Begins a pass over all series.
    pub(crate) fn begin(&mut self) -> Pass {
        self.passes += 1;
        self.rest.looked();
        Pass {
            number: self.passes,
            made_for: Duration::ZERO,
            from: self.from,
            next: 0,
            missed: None,
            missed_before: None,
        }
    }

    /// Ends a pass: forgets the series that neither it nor a later one has met.
    pub(crate) fn end(&mut self, pass: &Pass) {
        self.from = pass.missed.or(pass.missed_before).unwrap_or(0);
        for places in &mut self.places {
            places.retain(|_, place| {
                let stays = self.all[*place].pass >= pass.number;
                if !stays {
                    self.all[*place] = Watched::new(0);
                    self.free.push(*place);
                }
                stays
            });
        }
    }

    /// Returns the watch of a series; `None` if it is not made yet, or the series is no window.
    pub(crate) fn of(
        &mut self,
        pass: &mut Pass,
        metric: usize,
        key: &str,
        series: &dyn Series,
    ) -> Option<Looking<'_>> {
        let AnyMetric::Window(window) = series.metric() else { return None };
        let series = series.number();
        let now = millis(window.now());
        let roles = &self.roles[metric];
        let place = self.places[metric].get(key).copied().unwrap_or_else(|| {
            let place = self.free.pop().unwrap_or_else(|| {
                self.all.push(Watched::new(series));
                self.all.len() - 1
            });
            self.places[metric].insert(key.to_owned(), place);
            place
        });
        let watched = &mut self.all[place];
        watched.pass = watched.pass.max(pass.number);
        if watched.series != series {
            *watched = Watched { pass: watched.pass, ..Watched::new(series) };
        }
        let turn = pass.next;
        pass.next += 1;
        let is_left = watched.looked.is_none_or(|looked| now > looked + LEFT_ALONE);
        let is_old = watched.read.is_none_or(|read| now > read + QUARTER);
        if is_left || is_old {
            if pass.made_for > self.making || turn < pass.from {
                pass.miss(turn);
                // A season may come later, a past may not.
                return (!is_left).then_some(Looking {
                    watched,
                    roles,
                    settings: &self.settings,
                    now,
                });
            }
            let begun = Instant::now();
            if is_left {
                watched.make(window, roles, &self.settings);
            } else {
                watched.watch.set_season(past::season(window, roles));
            }
            watched.recorded = past::recorded(window);
            watched.yesterday = roles.first.and_then(|event| past::yesterday(window, event));
            watched.read = Some(now);
            pass.made_for += begun.elapsed();
        }
        Some(Looking { watched, roles, settings: &self.settings, now })
    }
}

/// The name and the kind of an event.
type Event = (&'static str, Kind);

impl Watched {
    fn new(series: u64) -> Watched {
        Watched {
            series,
            watch: Watch::new(series),
            looked: None,
            read: None,
            yesterday: None,
            recorded: None,
            pass: 0,
        }
    }

    /// Makes the watch anew from the window's past; or, if that is short, or does not reach back to
    /// the beginning of a change that goes on, lets it go on: what the looks have found is then all
    /// that there is.
    fn make(&mut self, window: &dyn AnyWindow, roles: &Roles, settings: &Settings) {
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
    fn changes_begin_after(&self, time: Option<u64>) -> bool {
        let begins_after = |since| time.is_some_and(|time| since > time);
        self.watch.changes().iter().all(|change| begins_after(change.since))
    }
}

/// The watch of a series, as a pass looks at it.
pub(crate) struct Looking<'w> {
    watched: &'w mut Watched,
    roles: &'w Roles,
    settings: &'w Settings,
    now: u64,
}

impl Looking<'_> {
    /// Returns the values above which values are to be counted.
    pub(crate) fn bounds(&self) -> Option<[u64; PERCENTILES]> {
        self.watched.watch.bounds()
    }

    /// Takes the row's numbers, and the all-time counts of values above each bound.
    pub(crate) fn look(&mut self, numbers: &[Number], above: [u32; PERCENTILES]) {
        let mut seen = Seen { at: self.now, above, ..Seen::default() };
        self.roles.see(numbers, &mut seen);
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
