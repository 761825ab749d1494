//! Tests of the turns of series, and of the watches that are freed.

use windrow::clock::Manual;
use windrow::export::Source;
use windrow::{Family, SlidingWindow, events, labels};

use super::*;
use crate::read::row::of_window;
use crate::unusual::change::What;

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
        let mut pass = watches.begin();
        Source::visit(&family, &mut |series| {
            let AnyMetric::Window(window) = series.metric() else { return };
            let key = series.number().to_string();
            let Some(looking) = watches.of(&mut pass, 0, &key, series) else { return };
            let mut read = Vec::new();
            let (_, above) = of_window(window, looking.watch.bounds(), &mut read);
            looking.look(&read, above);
            is_ready = looking.watch.levels.is_ready();
            looked.push(key);
        });
        watches.end(&pass);
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

type Window = SlidingWindow<Web, Manual>;
type Paths = Family<Path<'static>, Window, Box<dyn Fn() -> Window + Send + Sync>>;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Two families with a path each, whose windows have a tier of minutes, or none.
struct Site {
    clock: Manual,
    families: [&'static Paths; 2],
    watches: Watches,
}

impl Site {
    fn new() -> Site {
        Site::with_minutes([180, 0])
    }

    fn with_minutes(minutes: [usize; 2]) -> Site {
        let clock = Manual::default();
        let families = minutes.map(|minutes| {
            let clock = clock.clone();
            let make: Box<dyn Fn() -> Window + Send + Sync> = Box::new(move || {
                let window = SlidingWindow::builder().interval(60 * SECOND).buckets(60);
                let has_tier = minutes > 0;
                let window = if has_tier { window.tier(60 * SECOND, minutes) } else { window };
                window.clock(clock.clone()).build().unwrap()
            });
            &*Box::leak(Box::new(Family::with_constructor(make)))
        });
        for family in families {
            family.with(Path { path: "/" }).add(Web::Pass, 1);
        }
        let events = [<Web as windrow::Events>::EVENTS; 2].into_iter();
        let mut watches = Watches::new(Settings::default(), events);
        watches.making = HOUR;
        Site { clock, families, watches }
    }

    fn serve(&self, seconds: u32, failed: u64) {
        for _ in 0..seconds {
            for family in self.families {
                let window = family.with(Path { path: "/" });
                window.add(Web::Pass, 100);
                window.add(Web::Failed, failed);
            }
            self.clock.advance(SECOND);
        }
    }

    /// Looks at some of the families in a pass. Returns the beginning of the change of the first.
    fn look(&mut self, pass: &mut Pass, families: &[usize]) -> Option<u64> {
        let (mut read, mut since) = (Vec::new(), None);
        for family in families {
            Source::visit(&self.families[*family], &mut |series| {
                let AnyMetric::Window(window) = series.metric() else { return };
                read.clear();
                let looking = self.watches.of(pass, *family, "/", series).unwrap();
                let (_, above) = of_window(window, looking.watch.bounds(), &mut read);
                looking.look(&read, above);
                let changes = looking.watch.changes.on.iter();
                let failing = changes.filter(|change| change.what == What::Failing);
                since = since.or(failing.map(|change| change.since).next());
            });
        }
        since
    }

    /// Looks at both families, in a pass of its own.
    fn pass(&mut self) -> Option<u64> {
        let mut pass = self.watches.begin();
        let since = self.look(&mut pass, &[0, 1]);
        self.watches.end(&pass);
        since
    }

    /// Returns the metrics that have watches.
    fn watched(&self) -> Vec<usize> {
        let count = |metric: &usize| !self.watches.all[*metric].is_empty();
        (0..2).filter(count).collect()
    }
}

#[test]
fn what_tiers_record_is_freed_soon_and_anything_else_after_two_hours() {
    let mut site = Site::new();
    site.serve(60, 0);
    site.pass();
    let free = |site: &mut Site, seconds: u32| {
        let looked = site.watches.looked.unwrap();
        site.watches.free_unneeded(looked + SECOND * seconds)
    };
    free(&mut site, 91);
    assert_eq!(site.watched(), [0, 1], "neither is old enough");
    site.serve(7_200, 0);
    site.pass();
    let left = free(&mut site, 80).unwrap();
    assert!(left <= 11 * SECOND && site.watched() == [0, 1], "{left:?}");
    let left = free(&mut site, 91).unwrap();
    assert!(left == RECORDED && site.watched() == [1], "{left:?}");
    // A pass makes it anew, and finds the other where it was left.
    let looked = site.watches.all[1]["/"].looked;
    site.serve(1, 0);
    let mut pass = site.watches.begin();
    site.look(&mut pass, &[0]);
    assert!(looked.is_some() && site.watches.all[1]["/"].looked == looked);
    assert_eq!(site.watched(), [0, 1]);
    assert_eq!(free(&mut site, 7_200), None);
    assert!(site.watched().is_empty());
    assert!(site.watches.all.iter().all(|watches| watches.capacity() == 0));
}

#[test]
fn a_change_has_begun_at_the_same_time_after_its_watch_was_freed() {
    let mut site = Site::new();
    site.serve(7_200, 1);
    site.pass();
    site.serve(600, 50);
    let since = site.pass().expect("half of it fails");
    let later = Instant::now() + HOUR;
    assert!(site.watches.free_unneeded(later).is_some() && site.watched() == [1]);
    site.serve(60, 50);
    assert_eq!(site.pass(), Some(since));
}

/// The window has an hour only, in all of which half has failed.
#[test]
fn a_change_goes_on_after_the_window_has_forgotten_its_beginning() {
    let mut site = Site::with_minutes([180, 60]);
    site.serve(7_200, 1);
    site.pass();
    let mut since = None;
    for _ in 0..5 * 60 {
        site.serve(30, 50);
        let mut pass = site.watches.begin();
        since = site.look(&mut pass, &[1]);
        site.watches.end(&pass);
    }
    assert!(since.is_some(), "half of it fails");
    site.serve(100, 50); // longer than without a look
    let mut pass = site.watches.begin();
    assert_eq!(site.look(&mut pass, &[1]), since);
}

#[test]
fn a_pass_forgets_no_series_that_a_later_one_has_met() {
    let mut site = Site::new();
    site.serve(60, 0);
    let (mut first, mut second) = (site.watches.begin(), site.watches.begin());
    site.look(&mut second, &[0, 1]);
    site.look(&mut first, &[0]);
    site.watches.end(&first);
    assert_eq!(site.watched(), [0, 1]);
    site.watches.end(&second);
    assert_eq!(site.watched(), [0, 1]);
    let mut third = site.watches.begin();
    site.look(&mut third, &[0]);
    site.watches.end(&third);
    assert_eq!(site.watched(), [0], "it has not met the other");
}
