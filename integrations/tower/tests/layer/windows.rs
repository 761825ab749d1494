//! Windows of routes whose geometries go by rules, which are swapped while requests are counted.

mod broken;
mod threads;

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use windrow::{BuildError, SlidingWindow};
use windrow_tower::{
    Endpoint, Geometry, Http, Method, Route, Routes, Rules, RulesBuilder, RulesError, WindowRules,
};

/// An interval in seconds, and its buckets.
type Shape = (u64, usize);

const MINUTE: Shape = (60, 60);

fn geometry((seconds, buckets): Shape) -> Geometry {
    Geometry::new(Duration::from_secs(seconds), buckets)
}

fn builder(default: Shape, by_route: &[(&str, Shape)]) -> RulesBuilder<Geometry> {
    by_route.iter().fold(Rules::builder(geometry(default)), |rules, (route, shape)| {
        rules.rule([("route", *route)], geometry(*shape))
    })
}

fn rules(default: Shape, by_route: &[(&str, Shape)]) -> WindowRules {
    builder(default, by_route).build().expect("rules")
}

fn get(route: &str) -> Route<'_> {
    Route { method: Method::Get, route }
}

/// Counts a request; returns the geometry of the window in which it counts.
fn count(routes: &Routes, route: &str) -> Shape {
    let endpoint = routes.with(get(route));
    endpoint.window().add(Http::Request, 1);
    shape(&endpoint)
}

fn shape(endpoint: &Endpoint) -> Shape {
    (endpoint.window().interval().as_secs(), endpoint.window().buckets())
}

/// Returns the geometry of the overflow series.
fn overflow(routes: &Routes) -> Shape {
    let overflow = routes.family().iter().find(|endpoint| endpoint.labels().is_none());
    shape(&overflow.expect("an overflow series"))
}

#[test]
fn a_swap_reaches_the_windows_that_are_there_and_those_that_come() {
    let routes = Routes::new();
    assert_eq!((count(&routes, "/a"), count(&routes, "/b/1")), (MINUTE, MINUTE));
    let changes = routes.replace(rules((10, 10), &[("/b/*", (300, 5))])).unwrap();
    assert_eq!((changes.keys, changes.failed), (2, 0));
    assert_eq!((count(&routes, "/a"), count(&routes, "/b/1")), ((10, 10), (300, 5)));
    assert_eq!((count(&routes, "/c"), count(&routes, "/b/2")), ((10, 10), (300, 5)));
    // The rule is gone, and the default is as it was.
    assert_eq!(routes.replace(rules((10, 10), &[])).unwrap().keys, 2);
    assert_eq!((count(&routes, "/b/1"), count(&routes, "/b/2")), ((10, 10), (10, 10)));
    assert_eq!(routes.replace(rules((10, 10), &[])).unwrap().keys, 0, "no window is different");
    for series in routes.family() {
        let route = series.labels().expect("no overflow").route;
        let counted = if ["/a", "/c"].contains(&route) { [2, 1] } else { [3, 2] };
        let lifetime = series.window().lifetime(Http::Request).count;
        assert!(counted.contains(&lifetime), "{route}: {lifetime}");
    }
}

#[test]
fn a_rule_is_matched_by_method_and_route() {
    let routes = Routes::new();
    let slow = builder(MINUTE, &[]).rule([("method", "P*"), ("route", "/a*")], geometry((10, 1)));
    routes.replace(slow.build().unwrap()).unwrap();
    let of = |method, route| shape(&routes.with(Route { method, route }));
    assert_eq!(of(Method::Put, "/a"), (10, 1));
    assert_eq!(of(Method::Patch, "/ab"), (10, 1));
    assert_eq!(of(Method::Get, "/a"), MINUTE);
    assert_eq!(of(Method::Put, "/b"), MINUTE);
}

#[test]
fn the_overflow_series_has_a_geometry_of_its_own_or_else_the_default() {
    let routes = Routes::with_constructor(1, Endpoint::default);
    assert_eq!((count(&routes, "/a"), count(&routes, "/b")), (MINUTE, MINUTE));
    routes.replace(rules((10, 5), &[("/b", (20, 1))])).unwrap();
    assert_eq!(overflow(&routes), (10, 5));
    routes.replace(builder((10, 5), &[]).overflow(geometry((30, 3))).build().unwrap()).unwrap();
    assert_eq!(
        (overflow(&routes), count(&routes, "/b"), count(&routes, "/a")),
        ((30, 3), (30, 3), (10, 5))
    );
    // Also where it is made after the rules.
    let routes = Routes::with_constructor(0, Endpoint::default);
    routes.replace(builder((10, 5), &[]).overflow(geometry((30, 3))).build().unwrap()).unwrap();
    assert_eq!(count(&routes, "/b"), (30, 3));
}

#[test]
fn a_route_that_is_removed_comes_back_with_the_geometry_of_its_rule() {
    let routes = Routes::new();
    routes.replace(rules((10, 5), &[])).unwrap();
    assert_eq!(count(&routes, "/a"), (10, 5));
    assert_eq!(routes.family().retain(|_, _| false), 1);
    assert_eq!(count(&routes, "/a"), (10, 5));
    assert_eq!(routes.family().lifetime().0.stats(Http::Request).count, 2);
}

/// A geometry that was set by hand goes with the next swap, also if the rules stay.
#[test]
fn a_geometry_that_was_set_by_hand_is_overwritten() {
    let routes = Routes::new();
    routes.replace(rules((10, 5), &[])).unwrap();
    count(&routes, "/a");
    routes.with(get("/a")).window().reconfigure(Duration::from_secs(7), 7).unwrap();
    assert_eq!(count(&routes, "/a"), (7, 7));
    assert_eq!(routes.replace(rules((10, 5), &[])).unwrap().keys, 1);
    assert_eq!(count(&routes, "/a"), (10, 5));
}

/// Returns an endpoint of a minute in seconds, and an hour in minutes beside it.
fn with_an_hour() -> Endpoint {
    let minute = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
    Endpoint::new(minute.tier(Duration::from_secs(60), 60).build().expect("a minute and an hour"))
}

/// By its clock, its tiers, and the labels that it has: the last of several geometries.
#[test]
fn rules_that_these_windows_cannot_keep_are_refused_whole() {
    let routes = Routes::with_constructor(10, with_an_hour);
    let good = rules((60, 30), &[("/a", (120, 60))]);
    routes.replace(good.clone()).unwrap();
    assert_eq!((count(&routes, "/a"), count(&routes, "/b")), ((120, 60), (60, 30)));
    let too_fine = Geometry::new(Duration::from_millis(2), 2);
    let cases = [
        (
            builder((60, 20), &[("/a", (60, 10)), ("/b", (70, 10))]),
            "rules[1]: the tier's buckets of 60s are not a whole number of the buckets of 7s below",
        ),
        (
            builder((60, 20), &[("/a", (60, 10)), ("/c", (30, 30))]),
            "rules[1]: the tier's buckets of 60s are longer than the interval of 30s below",
        ),
        (
            builder((30, 30), &[]),
            "default: the tier's buckets of 60s are longer than the interval of 30s below",
        ),
        (
            builder((60, 20), &[]).overflow(geometry((70, 10))),
            "overflow: the tier's buckets of 60s are not a whole number of the buckets of 7s below",
        ),
        (
            builder((60, 20), &[("/a", (60, 10))]).rule([("path", "/b")], geometry(MINUTE)),
            r#"rules[1]: keys have no label "path"; they have ["method", "route"]"#,
        ),
    ];
    for (builder, message) in cases {
        let broken = builder.build().expect("some window has these geometries");
        assert_eq!(routes.check(&broken).unwrap_err().to_string(), message);
        assert_eq!(routes.replace(broken).unwrap_err().to_string(), message);
    }
    let broken = builder((60, 20), &[]).rule([("route", "/a")], too_fine).build().unwrap();
    let error = routes.replace(broken).unwrap_err();
    let RulesError::Part { problem, .. } = &error else { panic!("{error}") };
    let clock = matches!(problem.downcast_ref(), Some(BuildError::ClockTooCoarse { .. }));
    assert!(clock && error.to_string().starts_with("rules[0]: "), "{error}");
    assert_eq!(routes.rules().as_deref(), Some(&good));
    assert_eq!((count(&routes, "/a"), count(&routes, "/b")), ((120, 60), (60, 30)));
    assert_eq!(count(&routes, "/c"), (60, 30));
}

#[test]
fn rules_that_are_checked_change_nothing() {
    let routes = Routes::new();
    count(&routes, "/a");
    routes.check(&rules((10, 5), &[])).unwrap();
    assert!(routes.rules().is_none());
    assert_eq!((count(&routes, "/a"), count(&routes, "/b")), (MINUTE, MINUTE));
}

/// It fails as where there is no memory: the function has made this window with a tier, and the
/// one that the rules were checked by without.
#[test]
fn a_window_that_cannot_be_changed_stays_and_all_others_follow() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let routes = Routes::with_constructor(10, || match MADE.fetch_add(1, Ordering::Relaxed) {
        1 => with_an_hour(),
        _ => Endpoint::default(),
    });
    for route in ["/a", "/b", "/c"] {
        count(&routes, route);
    }
    let changes = routes.replace(rules((70, 10), &[])).unwrap();
    assert_eq!((changes.keys, changes.failed), (2, 1));
    assert_eq!(changes.to_string(), "changed keys: 2; keys that could not be changed: 1");
    let shapes = ["/a", "/b", "/c", "/d"].map(|route| count(&routes, route));
    assert_eq!(shapes, [(70, 10), MINUTE, (70, 10), (70, 10)]);
    // It follows as soon as it can.
    let changes = routes.replace(rules((120, 60), &[])).unwrap();
    assert_eq!((changes.keys, changes.failed), (4, 0));
}

#[test]
fn a_function_that_panics_changes_nothing() {
    thread_local! { static PANICS: Cell<bool> = const { Cell::new(false) }; }
    let routes = Routes::with_constructor(10, || {
        assert!(!PANICS.get(), "no endpoint this time");
        Endpoint::default()
    });
    count(&routes, "/a");
    PANICS.set(true);
    let act = std::panic::AssertUnwindSafe(|| routes.replace(rules((10, 5), &[])));
    assert!(std::panic::catch_unwind(act).is_err() && routes.rules().is_none());
    let act = std::panic::AssertUnwindSafe(|| count(&routes, "/b"));
    assert!(std::panic::catch_unwind(act).is_err());
    PANICS.set(false);
    assert_eq!((count(&routes, "/a"), routes.family().len()), (MINUTE, 1));
}

/// The whole of a swap happens while a thread is making a window, which it has not published yet.
#[test]
fn a_window_that_is_made_during_a_swap_goes_by_the_new_rules() {
    thread_local! { static SWAPS: Cell<bool> = const { Cell::new(false) }; }
    static ROUTES: Routes = Routes::with_constructor(10, || {
        if SWAPS.take() {
            ROUTES.replace(rules((10, 5), &[("/a", (20, 5))])).unwrap();
        }
        Endpoint::default()
    });
    ROUTES.replace(rules((30, 5), &[])).unwrap();
    SWAPS.set(true);
    assert_eq!(count(&ROUTES, "/a"), (20, 5));
}
