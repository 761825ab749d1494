//! What a scrape shows, to the letter.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use windrow::clock::Manual;
use windrow::{Counter, Family, Gauge, Maximum, Minimum, SlidingWindow, events, labels};
use windrow_prometheus::{Shared, register};

labels! {
    enum Method { Get = "GET", Post = "POST" }
    struct Request { route: str, status: u16 }
    struct ByMethod { method: Method, secure: bool }
    struct Shift { shift: i32 }
}

events! { enum Queue { Pushed: Count, Waited: Value } }
events! { enum Hits { Hit: Count, Miss: Count } }
events! { enum Depth { Deepest: Maximum, Flattest: Minimum } }

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    text
}

/// The samples of a text, sorted: a family's are in no order.
fn samples(registry: &Registry) -> Vec<String> {
    let text = text(registry);
    let mut samples: Vec<String> =
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    samples.sort_unstable();
    samples
}

#[test]
fn a_counter_shows_what_was_ever_added() {
    static HITS: Counter = Counter::new();
    let mut registry = Registry::default();
    register(&mut registry, "hits", "Hits", &HITS).unwrap();
    HITS.add(3);
    HITS.reset();
    HITS.add(4);
    assert_eq!(text(&registry), "# HELP hits Hits\n# TYPE hits counter\nhits_total 7\n# EOF\n");
}

#[test]
fn a_gauge_shows_its_level_and_an_extreme_nothing_before_it_has_a_value() {
    let (level, greatest, least) =
        (Shared::<Gauge>::default(), Shared::<Maximum>::default(), Arc::new(Minimum::new()));
    let mut registry = Registry::default();
    register(&mut registry, "level", "Level", level.clone()).unwrap();
    register(&mut registry, "greatest", "Greatest", greatest.clone()).unwrap();
    register(&mut registry, "least", "Least", Arc::clone(&least)).unwrap();
    level.add(-2);
    assert_eq!(samples(&registry), ["level -2"]);
    greatest.record(0);
    least.record(u64::MAX);
    assert_eq!(samples(&registry), ["greatest 0", "least 18446744073709551615", "level -2"]);
}

#[test]
fn a_family_shows_each_series_by_its_labels_the_overflow_and_how_much_it_was() {
    let requests = Arc::new(Family::<Request, Counter>::new().limit(2));
    let mut registry = Registry::default();
    register(&mut registry, "requests", "Requests", Arc::clone(&requests)).unwrap();
    assert_eq!(samples(&registry), ["requests_overflow_total 0"]);
    requests.with(Request { route: "/a", status: 200 }).add(2);
    requests.with(Request { route: "/b", status: 404 }).add(3);
    requests.with(Request { route: "/c", status: 200 }).add(5);
    requests.with(Request { route: "/d", status: 200 }).add(7);
    assert_eq!(
        samples(&registry),
        [
            r"requests_overflow_total 2",
            r#"requests_total{overflow="true"} 12"#,
            r#"requests_total{route="/a",status="200"} 2"#,
            r#"requests_total{route="/b",status="404"} 3"#,
        ]
    );
    assert!(
        text(&registry)
            .starts_with("# HELP requests Requests\n# TYPE requests counter\nrequests_total{")
    );
}

#[test]
fn a_family_whose_labels_are_all_enums_never_overflows_and_shows_no_number_of_it() {
    static OPEN: Family<ByMethod, Gauge> = Family::new();
    let mut registry = Registry::default();
    register(&mut registry, "open", "Open", &OPEN).unwrap();
    OPEN.with(ByMethod { method: Method::Get, secure: true }).increment();
    OPEN.with(ByMethod { method: Method::Post, secure: false }).add(-1);
    assert_eq!(
        samples(&registry),
        [r#"open{method="GET",secure="true"} 1"#, r#"open{method="POST",secure="false"} -1"#]
    );
}

#[test]
fn a_removed_series_is_gone_and_its_counts_go_to_no_other() {
    static SHIFTS: Family<Shift, Counter> = Family::new();
    let mut registry = Registry::default();
    register(&mut registry, "shifts", "Shifts", &SHIFTS).unwrap();
    SHIFTS.with(Shift { shift: -1 }).add(5);
    SHIFTS.with(Shift { shift: 1 }).add(2);
    assert!(SHIFTS.remove(Shift { shift: -1 }));
    assert_eq!(samples(&registry), ["shifts_overflow_total 0", r#"shifts_total{shift="1"} 2"#]);
    assert_eq!(SHIFTS.lifetime(), 7);
}

#[test]
fn hostile_values_are_escaped_and_cannot_end_a_line_or_a_label() {
    let requests = Arc::new(Family::<Request, Counter>::new());
    let mut registry = Registry::default();
    register(&mut registry, "requests", "Requests", Arc::clone(&requests)).unwrap();
    let route = "\"} 1\n# EOF\nevil 1\\\t\u{0}é";
    requests.with(Request { route, status: 0 }).increment();
    let shown = "requests_total{route=\"\\\"} 1\\n# EOF\\nevil 1\\\\\t\u{0}é\",status=\"0\"} 1";
    assert_eq!(samples(&registry), ["requests_overflow_total 0", shown]);
}

fn queue(clock: &Manual) -> SlidingWindow<Queue, Manual> {
    SlidingWindow::builder()
        .interval(Duration::from_secs(2))
        .buckets(4)
        .clock(clock.clone())
        .build()
        .unwrap()
}

#[test]
fn a_window_shows_its_events_ever_and_in_its_closed_buckets() {
    let clock = Manual::default();
    let window = Arc::new(queue(&clock));
    let mut registry = Registry::default();
    register(&mut registry, "queue", "Queue", Arc::clone(&window)).unwrap();
    for wait in [10, 30] {
        window.add(Queue::Pushed, 3);
        window.record(Queue::Waited, wait);
    }
    let ever = [
        r#"queue_sum_total{event="Waited"} 40"#,
        r#"queue_total{event="Pushed"} 6"#,
        r#"queue_total{event="Waited"} 2"#,
    ];
    let none =
        [r#"queue_per_second{event="Pushed"} 0.0"#, r#"queue_per_second{event="Waited"} 0.0"#];
    assert_eq!(samples(&registry), [&none[..], &ever].concat());

    clock.advance(Duration::from_millis(500));
    window.record(Queue::Waited, 99); // in a bucket that is not closed
    let closed = [
        r#"queue_max{event="Waited"} 30"#,
        r#"queue_mean{event="Waited"} 20.0"#,
        r#"queue_min{event="Waited"} 10"#,
        r#"queue_per_second{event="Pushed"} 4.0"#,
        r#"queue_per_second{event="Waited"} 1.3333333333333333"#,
        r#"queue_sum_total{event="Waited"} 139"#,
        r#"queue_total{event="Pushed"} 6"#,
        r#"queue_total{event="Waited"} 3"#,
    ];
    assert_eq!(samples(&registry), closed);
    let text = text(&registry);
    assert!(text.contains(
        "# HELP queue_per_second Queue: how often per second, over the closed buckets of the window\n"
    ));
}

#[test]
fn a_window_of_one_bucket_has_no_closed_ones_and_shows_none() {
    let window = SlidingWindow::<Hits>::builder().buckets(1).build().unwrap();
    let window = Shared::from(window);
    let mut registry = Registry::default();
    register(&mut registry, "cache", "Cache", window.clone()).unwrap();
    window.add(Hits::Hit, 2);
    assert_eq!(
        samples(&registry),
        [r#"cache_total{event="Hit"} 2"#, r#"cache_total{event="Miss"} 0"#]
    );
    // No event has values: so there is no metric of values, either.
    let described = text(&registry).lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(described, 2);
}

#[test]
fn a_window_of_extremes_shows_them_and_counts_none() {
    let clock = Manual::default();
    let window = SlidingWindow::<Depth>::builder().clock(clock.clone()).build().unwrap();
    let window = Shared::from(window);
    let mut registry = Registry::default();
    register(&mut registry, "depth", "Depth", window.clone()).unwrap();
    for depth in [3, 8, 5] {
        window.record(Depth::Deepest, depth);
        window.record(Depth::Flattest, depth);
    }
    assert_eq!(samples(&registry), [""; 0]);
    clock.advance(Duration::from_millis(500));
    let shown = [r#"depth_max{event="Deepest"} 8"#, r#"depth_min{event="Flattest"} 3"#];
    assert_eq!(samples(&registry), shown);
}

#[test]
fn a_family_of_windows_shows_the_samples_of_each_name_together() {
    let clock = Manual::default();
    let windows = Arc::new(Family::<Shift, _, _>::with_constructor({
        let clock = clock.clone();
        move || queue(&clock)
    }));
    let mut registry = Registry::default();
    register(&mut registry, "queue", "Queue", Arc::clone(&windows)).unwrap();
    for shift in 0..10 {
        windows.with(Shift { shift }).add(Queue::Pushed, 1);
    }
    clock.advance(Duration::from_millis(500));
    let text = text(&registry);
    let mut names: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('{').next().unwrap())
        .collect();
    assert_eq!(names.len(), 10 * 5 + 1);
    names.dedup();
    let once = ["queue_total", "queue_per_second", "queue_sum_total", "queue_overflow_total 0"];
    assert_eq!(names, once);
    assert!(text.contains("queue_total{shift=\"7\",event=\"Pushed\"} 1\n"));
}

#[test]
fn prefixes_and_labels_of_the_registry_stand_before_ours() {
    static HITS: Counter = Counter::new();
    let mut registry =
        Registry::with_prefix_and_labels("shop", [("zone".into(), "a\"b".into())].into_iter());
    register(registry.sub_registry_with_prefix("web"), "hits", "Hits", &HITS).unwrap();
    assert_eq!(samples(&registry), [r#"shop_web_hits_total{zone="a\"b"} 0"#]);
}
