//! Metrics that cannot be registered, and of which nothing is shown.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter as TheirCounter;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use windrow::{Counter, Family, Gauge, SlidingWindow, events, histogram::Scale, labels};
use windrow_prometheus::registry::register;
use windrow_prometheus::{Buckets, RegisterError, buckets};

labels! {
    struct Route { route: str }
    struct Überall { wäre: str }
    struct Reserved { __name__: str }
    struct Overflow { overflow: str }
    struct OverflowFlag { overflow: bool }
    struct Flag { on: bool }
    struct Event { event: str }
    struct Bound { le: u64 }
}

events! { enum Hits { Hit: Count } }
events! { enum Upload { Bytes: Histogram } }

static COUNTER: Counter = Counter::new();
static GAUGE: Gauge = Gauge::new();
static RT: windrow::Histogram = windrow::Histogram::new();
static ROUTES: Family<Route, Counter> = Family::new();

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    text
}

fn taken(name: &str) -> Result<(), RegisterError> {
    Err(RegisterError::NameTaken { name: name.to_owned() })
}

/// Checks that a registry refuses a metric, and shows nothing of it.
#[track_caller]
fn refuses(
    mut registry: Registry,
    register: impl FnOnce(&mut Registry) -> Result<(), RegisterError>,
    error: &RegisterError,
) {
    let before = text(&registry);
    assert_eq!(register(&mut registry).as_ref(), Err(error));
    assert_eq!(text(&registry), before, "something of it is shown");
    assert!(!error.to_string().contains('\n'));
}

#[test]
fn what_a_histogram_shows_twice_or_not_at_all() {
    let twice = RegisterError::LabelTwice { label: "le".to_owned() };
    let labelled = || Registry::with_labels([("le".into(), "1".into())].into_iter());
    refuses(labelled(), |registry| register(registry, "rt", "", &RT), &twice);
    register(&mut labelled(), "hits", "", &COUNTER).unwrap(); // a counter has none
    let bounds = Arc::new(Family::<Bound, windrow::Histogram>::new());
    refuses(Registry::default(), |registry| register(registry, "rt", "", bounds), &twice);
    let per_zero = RegisterError::PerZero { name: "rt".to_owned() };
    let source = || buckets(&RT, Buckets::octaves().per(0));
    refuses(Registry::default(), |registry| register(registry, "rt", "", source()), &per_zero);
    for (name, taken_name) in [("rt_sum", "rt"), ("rt_bucket", "rt"), ("rt_count", "rt")] {
        let mut registry = Registry::default();
        register(&mut registry, name, "", &GAUGE).unwrap();
        refuses(
            registry,
            |registry| register(registry, "rt", "", &RT),
            &taken(taken_name).unwrap_err(),
        );
    }
}

#[test]
fn bounds_below_the_scale_which_would_be_shown_as_one_far_greater() {
    static FINE: Family<Route, windrow::Histogram> =
        Family::with_constructor(|| windrow::Histogram::with_scale(Scale::fixed::<2, 1, 4_096>()));
    static COARSE: Family<Route, windrow::Histogram> = Family::new();
    let error = |bound| RegisterError::BoundBelow { name: "rt".to_owned(), bound, least: 512 };
    let at = |bounds: &[u64]| Buckets::at(bounds);
    let new = Registry::default;
    let source = || buckets(&RT, at(&[1 << 20, 100, 5, 200]));
    refuses(new(), |registry| register(registry, "rt", "", source()), &error(5));
    let source = || buckets(&COARSE, at(&[511]));
    refuses(new(), |registry| register(registry, "rt", "", source()), &error(511));
    let window = || {
        let window = SlidingWindow::<Upload>::builder().build().unwrap();
        buckets(Arc::new(window), at(&[1 << 20, 0]))
    };
    refuses(new(), |registry| register(registry, "rt", "", window()), &error(0));
    for bound in [512, 1 << 40] {
        register(&mut new(), "rt", "", buckets(&RT, at(&[bound]))).unwrap();
        register(&mut new(), "rt", "", buckets(&COARSE, at(&[bound]))).unwrap();
    }
    register(&mut new(), "rt", "", buckets(&FINE, at(&[1, 5, 100]))).unwrap();
    register(&mut new(), "rt", "", buckets(&COUNTER, at(&[1]))).unwrap(); // it has none
    assert_eq!(COARSE.len(), 0);
}

#[test]
fn names_that_prometheus_would_not_read() {
    for (name, character) in [("1st", '1'), ("a-b", '-'), ("a b", ' '), ("a{", '{'), ("ä", 'ä')] {
        let error = RegisterError::Name { name: name.to_owned(), character };
        refuses(Registry::default(), |registry| register(registry, name, "", &GAUGE), &error);
        assert!(error.to_string().contains(name));
    }
    refuses(
        Registry::default(),
        |registry| register(registry, "", "", &COUNTER),
        &RegisterError::NoName,
    );
}

#[test]
fn a_prefix_of_the_registry_that_prometheus_would_not_read() {
    let error = RegisterError::Name { name: "my-shop_hits".to_owned(), character: '-' };
    refuses(
        Registry::with_prefix("my-shop"),
        |registry| register(registry, "hits", "", &COUNTER),
        &error,
    );
}

#[test]
fn the_suffix_of_a_counter_given_by_hand() {
    let error = RegisterError::Total { name: "hits_total".to_owned() };
    refuses(Registry::default(), |registry| register(registry, "hits_total", "", &COUNTER), &error);
    refuses(Registry::default(), |registry| register(registry, "hits_total", "", &ROUTES), &error);
    register(&mut Registry::default(), "hits_total", "", &GAUGE).unwrap();
}

#[test]
fn helps_that_would_need_an_escape() {
    for (help, character) in [("a\nevil 1", '\n'), ("C:\\new", '\\'), ("a\r", '\r')] {
        let error = RegisterError::Help { help: help.to_owned(), character };
        refuses(Registry::default(), |registry| register(registry, "a", help, &COUNTER), &error);
    }
}

#[test]
fn labels_that_prometheus_would_not_read() {
    static GERMAN: Family<Überall, Counter> = Family::new();
    static RESERVED: Family<Reserved, Counter> = Family::new();
    let error = RegisterError::Label { label: "wäre".to_owned(), character: Some('ä') };
    refuses(Registry::default(), |registry| register(registry, "a", "", &GERMAN), &error);
    let error = RegisterError::ReservedLabel { label: "__name__".to_owned() };
    refuses(Registry::default(), |registry| register(registry, "a", "", &RESERVED), &error);
}

#[test]
fn labels_of_run_time_that_prometheus_would_not_read_or_that_are_taken() {
    let of = |names: &[&str]| Family::<_, Counter>::with_names(names).unwrap();
    for (name, character) in [("http.route", '.'), ("{a=b}", '{'), ("1a", '1'), ("a b", ' ')] {
        let error = RegisterError::Label { label: name.to_owned(), character: Some(character) };
        let family = Arc::new(of(&["fine", name]));
        refuses(Registry::default(), |registry| register(registry, "a", "", family), &error);
    }
    let error = RegisterError::ReservedLabel { label: "__name__".to_owned() };
    let family = Arc::new(of(&["__name__"]));
    refuses(Registry::default(), |registry| register(registry, "a", "", family), &error);
    let error = RegisterError::LabelTwice { label: "le".to_owned() };
    let family = Arc::new(Family::<_, windrow::Histogram>::with_names(["le"]).unwrap());
    refuses(Registry::default(), |registry| register(registry, "a", "", family), &error);
}

#[test]
fn a_label_by_the_name_of_the_overflow_unless_nothing_overflows() {
    static OVERFLOW: Family<Overflow, Counter> = Family::new();
    static FLAG: Family<OverflowFlag, Counter> = Family::new();
    let error = RegisterError::ReservedLabel { label: "overflow".to_owned() };
    refuses(Registry::default(), |registry| register(registry, "a", "", &OVERFLOW), &error);
    register(&mut Registry::default(), "a", "", &FLAG).unwrap();
}

#[test]
fn a_registrys_label_by_the_name_of_the_overflow_unless_nothing_overflows() {
    static FLAG: Family<OverflowFlag, Counter> = Family::new();
    static FLAGS: Family<Flag, Counter> = Family::new();
    // Before any set of labels is refused: a scrape would have the label twice only from then on.
    let labelled = || Registry::with_labels([("overflow".into(), "never".into())].into_iter());
    let error = RegisterError::ReservedLabel { label: "overflow".to_owned() };
    refuses(labelled(), |registry| register(registry, "a", "", &ROUTES), &error);
    let beneath = |registry: &mut Registry| {
        let label = ("overflow".into(), "x".into());
        register(registry.sub_registry_with_label(label), "a", "", &ROUTES)
    };
    refuses(Registry::default(), beneath, &error);
    assert!(error.to_string().contains("`overflow`"), "{error}");
    register(&mut labelled(), "a", "", &FLAGS).unwrap();
    register(&mut labelled(), "a", "", &COUNTER).unwrap();
    // Its own label and the registry's have one name, whether or not it overflows.
    let error = RegisterError::LabelTwice { label: "overflow".to_owned() };
    refuses(labelled(), |registry| register(registry, "a", "", &FLAG), &error);
}

#[test]
fn a_label_twice() {
    let windows = || {
        let make = || SlidingWindow::<Hits>::builder().build().unwrap();
        Arc::new(Family::<Event, SlidingWindow<Hits>, _>::with_constructor(make))
    };
    let error = RegisterError::LabelTwice { label: "event".to_owned() };
    refuses(Registry::default(), |registry| register(registry, "a", "", windows()), &error);
    let error = RegisterError::LabelTwice { label: "route".to_owned() };
    let registry = Registry::with_labels([("route".into(), "\",x=\"".into())].into_iter());
    refuses(registry, |registry| register(registry, "a", "", &ROUTES), &error);
}

#[test]
fn a_name_twice() {
    let mut registry = Registry::default();
    register(&mut registry, "hits", "Hits", &COUNTER).unwrap();
    refuses(
        registry,
        |registry| register(registry, "hits", "", &ROUTES),
        &taken("hits").unwrap_err(),
    );

    let mut registry = Registry::default();
    register(&mut registry, "hits_total", "Hits", &GAUGE).unwrap();
    // Its samples would be of the gauge's name.
    refuses(
        registry,
        |registry| register(registry, "hits", "", &COUNTER),
        &taken("hits").unwrap_err(),
    );

    let mut registry = Registry::default();
    register(&mut registry, "a_overflow", "A", &COUNTER).unwrap();
    let error = taken("a_overflow").unwrap_err();
    refuses(registry, |registry| register(registry, "a", "", &ROUTES), &error);
}

#[test]
fn names_of_metrics_that_others_have_registered() {
    let mut registry = Registry::default();
    registry.register("theirs", "Theirs", TheirCounter::<u64>::default());
    let web = registry.sub_registry_with_prefix("web");
    web.register("time", "Theirs", Histogram::new([1.0]));
    assert_eq!(register(&mut registry, "theirs", "", &GAUGE), taken("theirs"));
    assert_eq!(register(&mut registry, "web_time_count", "", &GAUGE), taken("web_time_count"));
    let before = text(&registry);
    assert!(before.contains("theirs_total 0\n") && !before.contains("web_time_count 0 0"));
    register(&mut registry, "ours", "Ours", &GAUGE).unwrap();
    assert!(text(&registry).contains("\nours 0\n"));
}

#[test]
fn one_name_under_different_prefixes_is_two() {
    let mut registry = Registry::default();
    register(registry.sub_registry_with_prefix("a"), "hits", "Hits", &COUNTER).unwrap();
    register(registry.sub_registry_with_prefix("b"), "hits", "Hits", &COUNTER).unwrap();
    register(&mut registry, "hits", "Hits", &COUNTER).unwrap();
    assert_eq!(register(&mut registry, "a_hits", "Hits", &COUNTER), taken("a_hits"));
}

#[derive(Debug)]
struct Fails;

impl Collector for Fails {
    fn encode(&self, _: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        Err(std::fmt::Error)
    }
}

#[test]
fn a_registry_that_cannot_be_encoded() {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Fails));
    assert_eq!(register(&mut registry, "a", "", &COUNTER), Err(RegisterError::Registry));
}

#[derive(Debug)]
struct PanicsOnce(std::sync::atomic::AtomicBool);

impl Collector for PanicsOnce {
    fn encode(&self, _: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        assert!(self.0.swap(true, std::sync::atomic::Ordering::Relaxed), "for the test");
        Ok(())
    }
}

#[test]
fn a_panic_of_another_collector_leaves_nothing_that_is_shown() {
    let mut registry = Registry::default();
    register(registry.sub_registry_with_prefix("a"), "before", "Before", &COUNTER).unwrap();
    let before = text(&registry);
    let web = registry.sub_registry_with_prefix("web");
    web.register_collector(Box::new(PanicsOnce(false.into())));
    let registered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        register(&mut registry, "hits", "Hits", &COUNTER)
    }));
    assert!(registered.is_err());
    assert_eq!(text(&registry), before);
}
