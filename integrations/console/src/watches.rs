//! The watches of all series, which frames and answers share.
//!
//! A watch that has been left alone, because no client was there, is made anew from the window's
//! tiers. That takes longer than a look, so each pass over the series makes them for [`MAKING`]
//! only; the others have their turn in the next pass.

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
    /// The number of this pass over the series.
    pass: u64,
    /// The time that this pass has taken to read the past, and the time that it may take.
    made_for: Duration,
    making: Duration,
    turns: Turns,
}

/// The places in a pass of the series whose past is read in this one.
#[derive(Debug, Default)]
struct Turns {
    /// The place from which on they have their turn, and that of the next series.
    from: usize,
    next: usize,
    /// The first one that had no turn: from `from` on, or otherwise before it.
    missed: Option<usize>,
    missed_before: Option<usize>,
}

impl Turns {
    /// Begins a pass where the time of the one before was over.
    fn begin(&mut self) {
        let from = self.missed.or(self.missed_before).unwrap_or(0);
        *self = Turns { from, ..Turns::default() };
    }

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
    pub(crate) fn begin(&mut self) {
        self.pass += 1;
        self.made_for = Duration::ZERO;
        self.turns.begin();
    }

    /// Ends a pass: forgets the series that it has not met.
    pub(crate) fn end(&mut self) {
        for places in &mut self.places {
            places.retain(|_, place| {
                let stays = self.all[*place].pass == self.pass;
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
        watched.pass = self.pass;
        if watched.series != series {
            *watched = Watched { pass: self.pass, ..Watched::new(series) };
        }
        let turn = self.turns.next;
        self.turns.next += 1;
        let is_left = watched.looked.is_none_or(|looked| now > looked + LEFT_ALONE);
        let is_old = watched.read.is_none_or(|read| now > read + QUARTER);
        if is_left || is_old {
            if self.made_for > self.making || turn < self.turns.from {
                self.turns.miss(turn);
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
            watched.read = Some(now);
            self.made_for += begun.elapsed();
        }
        Some(Looking { watched, roles, settings: &self.settings, now })
    }
}

/// The name and the kind of an event.
type Event = (&'static str, Kind);

impl Watched {
    fn new(series: u64) -> Watched {
        Watched { series, watch: Watch::new(series), looked: None, read: None, pass: 0 }
    }

    /// Makes the watch anew from the window's past; or, if that is short, lets it go on: what the
    /// looks have found is then all that there is.
    fn make(&mut self, window: &dyn AnyWindow, roles: &Roles, settings: &Settings) {
        let made = past::watch(window, roles, settings, self.series);
        let is_short = !made.is_ready();
        if is_short && (self.watch.is_ready() || made.known_since().is_none()) {
            self.watch.set_season(past::season(window, roles));
        } else {
            self.watch = made;
        }
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

    /// Returns the milliseconds since a time of the window's clock.
    pub(crate) fn ago(&self, at: u64) -> u64 {
        self.now.saturating_sub(at)
    }

    /// Returns the position of the event whose values are compared.
    pub(crate) fn values(&self) -> Option<usize> {
        self.roles.values
    }
}

#[cfg(test)]
mod tests {
    use windrow::clock::Manual;
    use windrow::export::Source;
    use windrow::{Family, SlidingWindow, events, labels};

    use super::*;

    events! { enum Web { Pass: Count, Failed: Count } }

    labels! { struct Path { path: str } }

    /// Looks at three windows every two minutes, as often as `passes`. Returns the names of those
    /// that were looked at, by pass, and whether the last one has a past to compare with.
    fn looked_at(passes: usize, making: Duration) -> (Vec<Vec<String>>, bool) {
        let clock = Manual::default();
        let of_family = clock.clone();
        let make = move || {
            let window = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
            window.clock(of_family.clone()).build().unwrap()
        };
        let family: &'static Family<Path<'static>, _, _> =
            Box::leak(Box::new(Family::with_constructor(make)));
        let handles = ["/a", "/b", "/c"].map(|path| family.handle(Path { path }));
        let mut watches =
            Watches::new(Settings::default(), [<Web as windrow::Events>::EVENTS].into_iter());
        watches.making = making;
        let mut is_ready = false;
        let passes = (0..passes).map(|_| {
            for window in &handles {
                window.add(Web::Pass, 1_000);
            }
            clock.advance(Duration::from_secs(120));
            let mut looked = Vec::new();
            watches.begin();
            Source::visit(&family, &mut |series| {
                let AnyMetric::Window(window) = series.metric() else { return };
                let key = series.number().to_string();
                let Some(mut looking) = watches.of(0, &key, series) else { return };
                let mut numbers = Vec::new();
                let (_, above) = crate::window::numbers(window, looking.bounds(), &mut numbers);
                looking.look(&numbers, above);
                is_ready = looking.watch().is_ready();
                looked.push(key);
            });
            watches.end();
            looked
        });
        (passes.collect(), is_ready)
    }

    #[test]
    fn each_series_has_its_turn_though_a_pass_has_time_for_one() {
        let (passes, _) = looked_at(6, Duration::ZERO);
        assert!(passes.iter().all(|looked| looked.len() == 1), "{passes:?}");
        for three in passes.chunks(3) {
            let mut looked: Vec<&String> = three.iter().flatten().collect();
            looked.sort();
            looked.dedup();
            assert_eq!(looked.len(), 3, "{passes:?}");
        }
    }

    #[test]
    fn a_window_without_a_past_learns_from_rare_looks() {
        assert!(!looked_at(10, MAKING).1, "it is too young");
        assert!(looked_at(40, Duration::from_secs(60)).1);
    }
}
