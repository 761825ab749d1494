//! A watch over a real window, as the console looks at it.

use std::time::Duration;

use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{Clock, SlidingWindow, events};

use crate::read::row::of_window;
use crate::shown::roles::Roles;
use crate::unusual::change::{Of, What};
use crate::unusual::evidence::Settings;
use crate::unusual::past::{self, millis};
use crate::unusual::watch::Watch;
use crate::unusual::watched::seen;

events! { enum Web { Pass: Count, Rt: Histogram } }

const SECOND: Duration = Duration::from_secs(1);

/// A window that is looked at once a second.
struct Site {
    clock: Manual,
    window: SlidingWindow<Web, Manual>,
    watch: Watch,
    roles: Roles,
}

impl Site {
    fn new(interval: u32) -> Site {
        let clock = Manual::default();
        let window = SlidingWindow::builder().interval(interval * SECOND).buckets(60);
        let window = window.tier(60 * SECOND, 180).clock(clock.clone()).build().unwrap();
        let roles = Roles::of(AnyWindow::events(&window));
        Site { clock, window, watch: Watch::default(), roles }
    }

    /// Serves fifty operations in a second, some of which are slow.
    fn serve(&self, slow: u64) {
        self.window.add(Web::Pass, 50);
        for value in 0..50 {
            let millis = if value < slow { 400 } else { 2 };
            self.window.record(Web::Rt, millis * 1_000_000 + value * 1_000);
        }
        self.clock.advance(SECOND);
    }

    /// Serves an hour, and makes the watch from that past.
    fn serve_an_hour(&mut self) {
        (0..3_600).for_each(|_| self.serve(0));
        self.watch = past::watch(&self.window, &self.roles, Settings::default(), 0);
        assert!(self.watch.bounds().is_some());
    }

    fn look(&mut self) {
        let mut numbers = Vec::new();
        let (_, above) = of_window(&self.window, self.watch.bounds(), &mut numbers);
        let at = millis(self.window.clock().now());
        self.watch.look(&seen(&self.roles, at, &numbers, above));
    }
}

#[test]
fn a_slow_value_is_counted_once_whatever_the_interval() {
    for interval in [60, 120, 300] {
        let mut site = Site::new(interval);
        site.serve_an_hour();
        let mut slow = Vec::new();
        for second in 0..1_800_usize {
            // One in 833 is slow, which is usual: the 99th percentile is elsewhere.
            slow.push(u64::from(second % 17 == 0));
            site.serve(slow[second]);
            site.look();
            let Some(span) = site.watch.record.recent.span(60) else { continue };
            let expected: u64 = slow[second - 59..].iter().sum();
            let found = span.sum(Of::Above(2)).0;
            assert_eq!(found, (expected as f64, 3_000.0), "{interval} s, second {second}");
            assert!(site.watch.changes.on.is_empty(), "{:?}", site.watch.changes.on);
        }
    }
}

#[test]
fn slow_values_are_found_whatever_the_interval() {
    for interval in [60, 120, 300] {
        let mut site = Site::new(interval);
        site.serve_an_hour();
        for second in 0..120 {
            site.serve(if second < 60 { 0 } else { 10 });
            site.look();
        }
        let found: Vec<_> = site.watch.changes.on.iter().map(|change| change.what).collect();
        assert_eq!(found, [What::Slow], "{interval} s");
    }
}

#[test]
fn slow_values_in_each_minute_are_usual_even_if_they_come_together() {
    let mut site = Site::new(60);
    let slow = |second: u64| if second % 60 < 8 { 50 } else { 0 };
    (0..3_600).for_each(|second| site.serve(slow(second)));
    site.watch = past::watch(&site.window, &site.roles, Settings::default(), 0);
    for second in 0..2_400 {
        site.serve(slow(second));
        site.look();
        assert!(site.watch.changes.on.is_empty(), "second {second}: {:?}", site.watch.changes.on);
    }
    // Minutes in a row are no burst.
    for _ in 0..300 {
        site.serve(50);
        site.look();
    }
    let found: Vec<_> = site.watch.changes.on.iter().map(|change| change.what).collect();
    assert_eq!(found, [What::Slow]);
}

#[test]
fn above_a_lower_bound_it_is_unknown_whether_values_come_together() {
    let mut site = Site::new(60);
    site.serve_an_hour();
    for second in 0..1_800 {
        site.serve(u64::from(second % 17 == 0));
        site.look();
    }
    let known = site.watch.levels.usual.clumps;
    assert!(known[0].is_some(), "{known:?}");
    let mut set = |factor: f64| {
        for level in site.watch.levels.usual.percentiles.iter_mut().flatten() {
            level.high *= factor;
        }
        site.watch.levels.set_bounds(&mut site.watch.record);
        let mut learned = site.watch.levels.usual;
        learned.learn(&site.watch.record.minutes);
        learned.clumps
    };
    assert_eq!(set(1.5)[0], known[0], "above a higher one, they are some of those");
    assert_eq!(set(0.5), [None; 3]);
}
