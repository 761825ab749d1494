//! Random sets of rules are swapped while other threads count, and books are kept beside.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use http::request::Parts;
use http::{Request, Response};
use http_body_util::Empty;
use testkit::{Finish, Rng, race};
use tower::{Layer, Service, service_fn};
use windrow_tower::{Endpoint, Http, MetricsLayer, Routes, WindowRules};

use super::{Shape, builder, count, geometry, get, rules, shape};

use crate::Nothing;

/// All of them cover more time than the test takes. The lengths of buckets divide one another:
/// however often a window changes, a count moves back by a minute at most.
const SHAPES: [Shape; 5] = [(3_600, 60), (3_600, 360), (7_200, 120), (7_200, 720), (3_600, 3_600)];

const PATTERNS: [&str; 6] = ["/1*", "/2*", "/17", "/3*", "/12*", "*"];

/// The number of routes that have a series of their own, of all the routes that are asked for.
const SERIES: usize = 30;
const ROUTES: usize = 40;

/// The settings of a set of rules, as this test reads them.
struct Set {
    default: Shape,
    overflow: Option<Shape>,
    rules: Vec<(&'static str, Shape)>,
}

impl Set {
    fn any(random: &mut Rng) -> Set {
        let any = |random: &mut Rng| SHAPES[random.usize(..SHAPES.len())];
        let count = random.usize(..4);
        Set {
            default: any(random),
            overflow: random.bool().then(|| any(random)),
            rules: (0..count).map(|_| (PATTERNS[random.usize(..6)], any(random))).collect(),
        }
    }

    /// Returns the rules, unless one hides another.
    fn build(&self) -> Option<WindowRules> {
        let builder = builder(self.default, &self.rules);
        let builder = match self.overflow {
            Some(overflow) => builder.overflow(geometry(overflow)),
            None => builder,
        };
        builder.build().ok()
    }

    /// Returns the geometry of a route, as the documentation says; for `None`, of the overflow
    /// series.
    fn shape(&self, route: Option<&str>) -> Shape {
        let Some(route) = route else { return self.overflow.unwrap_or(self.default) };
        let matches = |pattern: &str| match pattern.strip_suffix('*') {
            Some(prefix) => route.starts_with(prefix),
            None => route == pattern,
        };
        let first = self.rules.iter().find(|(pattern, _)| matches(pattern));
        first.map_or(self.default, |(_, shape)| *shape)
    }
}

fn inner(_: Request<Nothing>) -> Ready<Result<Response<Empty<&'static [u8]>>, Infallible>> {
    ready(Ok(Response::new(Empty::new())))
}

/// Sends a request through the layer. Its response is dropped at once.
fn send(layer: &MetricsLayer<impl Fn(&Parts) -> Option<&str> + Clone>, route: &str) {
    let request = Request::builder().uri(route).body(Nothing::new()).expect("a request");
    let response = pin!(layer.layer(service_fn(inner)).call(request));
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(response.poll(&mut context), Poll::Ready(Ok(_))));
}

#[test]
fn no_swap_loses_a_count_and_each_window_has_the_geometry_of_the_last_set() {
    for seed in 0..8 {
        let routes: &'static Routes =
            Box::leak(Box::new(Routes::with_constructor(SERIES, Endpoint::default)));
        let names: Vec<_> = (0..ROUTES).map(|number| format!("/{number}")).collect();
        let books = [const { AtomicU64::new(0) }; ROUTES];
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let _done = Finish(&done);
            for thread in 0..2 {
                let (names, books, done) = (&names, &books, &done);
                scope.spawn(move || {
                    let layer = MetricsLayer::new(routes, |parts: &Parts| Some(parts.uri.path()));
                    let mut random = Rng::with_seed(seed * 2 + thread);
                    let mut known = 1;
                    while !done.load(Ordering::Relaxed) {
                        let route = random.usize(..known);
                        send(&layer, &names[route]);
                        books[route].fetch_add(1, Ordering::Relaxed);
                        if random.u8(..64) == 0 {
                            known = ROUTES.min(known + 1); // a new one now and then
                        }
                    }
                });
            }
            swap(routes, &mut Rng::with_seed(seed));
        });
        compare(routes, &names, &books);
    }
}

/// Swaps rules, of which some are refused, and looks at each window after each swap.
fn swap(routes: &Routes, random: &mut Rng) {
    let mut last: Option<(Set, WindowRules)> = None;
    for _ in 0..60 {
        let set = Set::any(random);
        let Some(rules) = set.build() else { continue };
        if random.u8(..4) == 0 {
            // The first window could be changed, and the last one not.
            let broken = builder(set.default, &set.rules[..0])
                .rule(
                    [("route", "/never")],
                    windrow_tower::Geometry::new(std::time::Duration::from_millis(1), 1),
                )
                .build()
                .expect("a window with a finer clock has it");
            assert!(routes.check(&broken).is_err() && routes.replace(broken).is_err());
        } else {
            routes.check(&rules).expect("they are valid");
            assert_eq!(routes.replace(rules.clone()).expect("they are valid").failed, 0);
            last = Some((set, rules));
        }
        let Some((set, rules)) = &last else { continue };
        assert_eq!(routes.rules().as_deref(), Some(rules));
        for series in routes.family() {
            // Otherwise a thread is just making it.
            if series.window().lifetime(Http::Request).count > 0 {
                let expected = set.shape(series.labels().map(|labels| labels.route));
                assert_eq!(shape(&series), expected, "{:?}", series.labels());
            }
        }
    }
}

fn compare(routes: &Routes, names: &[String], books: &[AtomicU64]) {
    let all: u64 = books.iter().map(|book| book.load(Ordering::Relaxed)).sum();
    let mut shared = all;
    for (name, book) in names.iter().zip(books) {
        let Some(endpoint) = routes.family().get(get(name)) else { continue };
        let (window, book) = (endpoint.window(), book.load(Ordering::Relaxed));
        shared -= window.lifetime(Http::Request).count;
        // A route may have counted in the overflow series while the family seemed full.
        assert!(window.lifetime(Http::Request).count <= book, "{name}");
    }
    let overflow = routes.family().iter().find(|endpoint| endpoint.labels().is_none());
    let overflow = overflow.map_or(0, |endpoint| endpoint.window().lifetime(Http::Request).count);
    assert_eq!(overflow, shared);
    for series in routes.family() {
        let window = series.window();
        let passed = window.lifetime(Http::Request).count;
        assert_eq!(window.sum(Http::Request), passed, "all of it is in the interval");
        assert_eq!(window.stats(Http::Rt).count, passed);
        assert_eq!((window.lifetime(Http::Rt).count, series.in_flight().level()), (passed, 0));
        assert_eq!(window.late(Http::Request).count, 0);
    }
}

/// Each round has another route, which a thread makes while another swaps the rules.
#[test]
fn a_window_that_comes_during_a_swap_goes_by_the_new_rules() {
    let routes = Routes::with_constructor(5_000, Endpoint::default);
    for round in 0..2_000 {
        let (name, seconds) = (format!("/{round}"), 10 + round % 2);
        race(2, |thread| {
            if thread == 0 {
                routes.replace(rules((seconds, 5), &[])).unwrap();
                assert_eq!(count(&routes, &name), (seconds, 5), "round {round}");
            } else {
                let _ = count(&routes, &name);
            }
        });
        let endpoint = routes.family().get(get(&name)).expect("it was made");
        assert_eq!(shape(&endpoint), (seconds, 5), "round {round}");
        assert_eq!(endpoint.window().lifetime(Http::Request).count, 2);
        drop(endpoint);
        routes.family().retain(|_, _| false);
    }
}
