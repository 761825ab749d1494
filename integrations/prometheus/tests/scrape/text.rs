//! The text of a scrape, to the letter.

mod families;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use windrow::clock::Manual;
use windrow::export::{field, field_count_fn, field_fn, from_fn};
use windrow::{
    Counter, Family, Gate, Gauge, Histogram, InFlight, Maximum, Minimum, SlidingWindow, events,
    family::Metric, histogram::Scale, labels, labels::RuntimeLabels,
};
use windrow_prometheus::registry::Shared;
use windrow_prometheus::{Buckets, Exposition, buckets};

labels! {
    enum Method { Get = "GET", Post = "POST" }
    struct Request { route: str, status: u16 }
    struct ByMethod { method: Method, secure: bool }
    struct Shift { shift: i32 }
}

events! { enum Queue { Pushed: Count, Waited: Value } }
events! { enum Upload { Started: Count, Bytes: Histogram(Scale::fixed::<2, 1, { 1 << 20 }>()) } }
events! { enum Hits { Hit: Count, Miss: Count } }
events! { enum Cart { Items: Signed } }
events! { enum Depth { Deepest: Maximum, Flattest: Minimum } }

fn text(metrics: &Exposition) -> String {
    metrics.to_string()
}

/// Returns the samples of a text, sorted: a family's are in no order.
fn samples(metrics: &Exposition) -> Vec<String> {
    let text = text(metrics);
    let mut samples: Vec<String> =
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    samples.sort_unstable();
    samples
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
fn a_counter_shows_what_was_ever_added() {
    static HITS: Counter = Counter::new();
    let mut metrics = Exposition::new();
    metrics.register("hits", "Hits", &HITS).unwrap();
    HITS.add(3);
    _ = HITS.take();
    HITS.add(4);
    assert_eq!(text(&metrics), "# HELP hits_total Hits\n# TYPE hits_total counter\nhits_total 7\n");
}

#[test]
fn a_gauge_shows_its_level_and_an_extreme_nothing_before_it_has_a_value() {
    let (level, greatest, least) =
        (Shared::<Gauge>::default(), Shared::<Maximum>::default(), Arc::new(Minimum::new()));
    let mut metrics = Exposition::new();
    metrics.register("level", "Level", level.clone()).unwrap();
    metrics.register("greatest", "Greatest", greatest.clone()).unwrap();
    metrics.register("least", "Least", Arc::clone(&least)).unwrap();
    level.add(-2);
    assert_eq!(samples(&metrics), ["level -2"]);
    greatest.record(0);
    least.record(u64::MAX);
    assert_eq!(samples(&metrics), ["greatest 0", "least 18446744073709551615", "level -2"]);
}

events! { enum Pool { Busy: Maximum } }

#[test]
fn what_is_in_flight_shows_its_level_and_its_window_the_most_at_once() {
    let clock = Manual::default();
    let window = Arc::new(SlidingWindow::<Pool>::builder().clock(clock.clone()).build().unwrap());
    let busy = Shared::<InFlight>::default();
    let mut metrics = Exposition::new();
    metrics.register("busy", "Busy", busy.clone()).unwrap();
    metrics.register("pool", "Pool", Arc::clone(&window)).unwrap();
    let one = busy.record_peaks(&window, Pool::Busy).enter(2);
    drop(busy.record_peaks(&window, Pool::Busy).enter(3));
    clock.advance(Duration::from_millis(500));
    assert!(text(&metrics).contains("# TYPE busy gauge\nbusy 2\n"));
    assert_eq!(samples(&metrics), ["busy 2", r#"pool_max{event="Busy"} 5"#]);
    drop(one);
}

#[test]
fn a_histogram_shows_how_many_values_there_ever_were_up_to_each_power_of_two() {
    let sizes = Shared::from(Histogram::with_scale(Scale::new(4, 3, 16).unwrap()));
    let mut metrics = Exposition::new();
    metrics.register("sizes", "Sizes", sizes.clone()).unwrap();
    for size in [0, 2, 3, 4, 5, 16, 17, 1_000] {
        sizes.record(size);
        _ = sizes.take(); // a drain does not change a scrape
    }
    let expected = "\
# HELP sizes Sizes
# TYPE sizes histogram
sizes_bucket{le=\"2.0\"} 2
sizes_bucket{le=\"4.0\"} 4
sizes_bucket{le=\"8.0\"} 5
sizes_bucket{le=\"16.0\"} 6
sizes_bucket{le=\"+Inf\"} 8
sizes_sum 1047.0
sizes_count 8
";
    assert_eq!(text(&metrics), expected);
}

#[test]
fn a_histogram_of_nanoseconds_can_be_shown_in_seconds_and_at_other_bounds() {
    static RT: Histogram = Histogram::new();
    let mut metrics = Exposition::new();
    let shown = Buckets::at(&[1 << 29, 1 << 28, 900_000_000]).per(1_000_000_000);
    metrics.register("rt_seconds", "", buckets(&RT, shown)).unwrap();
    RT.record_many(250_000_000, 3);
    RT.record(2_000_000_000);
    assert_eq!(
        samples(&metrics),
        [
            r#"rt_seconds_bucket{le="+Inf"} 4"#,
            r#"rt_seconds_bucket{le="0.268435456"} 3"#,
            r#"rt_seconds_bucket{le="0.536870912"} 3"#,
            r#"rt_seconds_bucket{le="0.90290565"} 3"#, // the end of the cell of 0.9
            "rt_seconds_count 4",
            "rt_seconds_sum 2.75",
        ]
    );
}

#[test]
fn families_and_fields_of_histograms_show_each_series_and_what_finds_no_room() {
    #[derive(Default)]
    struct Endpoint {
        requests: Counter,
        rt: Histogram,
    }

    impl Metric for Endpoint {
        type Total = u64;

        fn total(&self) -> u64 {
            self.requests.total()
        }

        fn merge(one: &mut u64, other: u64) {
            Counter::merge(one, other);
        }
    }

    let shifts = Arc::new(Family::<Shift, Histogram>::new().with_max_series(1));
    let endpoints = Arc::new(Family::<Shift, Endpoint>::new());
    let mut metrics = Exposition::new();
    let one_bound = || Buckets::at(&[1 << 20]);
    metrics.register("shifts", "", buckets(Arc::clone(&shifts), one_bound())).unwrap();
    let rt = field(Arc::clone(&endpoints), |endpoint: &Endpoint| &endpoint.rt);
    metrics.register("rt", "", buckets(rt, one_bound().per(1 << 10))).unwrap();
    shifts.with(Shift { shift: 1 }).record(5_000);
    shifts.with(Shift { shift: 2 }).record(2_000_000);
    endpoints.with(Shift { shift: 3 }).rt.record(1 << 20);
    assert_eq!(
        samples(&metrics),
        [
            r#"rt_bucket{shift="3",le="+Inf"} 1"#,
            r#"rt_bucket{shift="3",le="1024.0"} 1"#,
            r#"rt_count{shift="3"} 1"#,
            "rt_overflow_total 0",
            r#"rt_sum{shift="3"} 1024.0"#,
            r#"shifts_bucket{overflow="true",le="+Inf"} 1"#,
            r#"shifts_bucket{overflow="true",le="1.048576e+06"} 0"#,
            r#"shifts_bucket{shift="1",le="+Inf"} 1"#,
            r#"shifts_bucket{shift="1",le="1.048576e+06"} 1"#,
            r#"shifts_count{overflow="true"} 1"#,
            r#"shifts_count{shift="1"} 1"#,
            "shifts_overflow_total 1",
            r#"shifts_sum{overflow="true"} 2e+06"#,
            r#"shifts_sum{shift="1"} 5000.0"#,
        ]
    );
}

/// A counter that falls is a restart to Prometheus, which then takes all of it for new.
#[test]
fn a_time_that_means_never_puts_no_sum_back() {
    let (latency, window) = (Arc::new(Histogram::new()), Arc::new(queue(&Manual::default())));
    let mut metrics = Exposition::new();
    metrics.register("rt", "Latency", Arc::clone(&latency)).unwrap();
    metrics.register("queue", "Queue", Arc::clone(&window)).unwrap();
    for value in [Duration::from_secs(1_000_000), Duration::MAX, Duration::MAX] {
        latency.record(value);
        window.record(Queue::Waited, value);
        let samples = samples(&metrics);
        let ever = ["rt_sum 1e+15", r#"queue_sum_total{event="Waited"} 1000000000000000"#];
        assert!(ever.iter().all(|ever| samples.iter().any(|line| line == ever)), "{samples:?}");
    }
    assert_eq!((latency.count(), window.lifetime(Queue::Waited).count), (3, 3));
}

#[test]
fn a_window_shows_its_events_ever_and_in_its_closed_buckets() {
    let clock = Manual::default();
    let window = Arc::new(queue(&clock));
    let mut metrics = Exposition::new();
    metrics.register("queue", "Queue", Arc::clone(&window)).unwrap();
    for wait in [10, 30] {
        window.add(Queue::Pushed, 3);
        window.record(Queue::Waited, wait);
    }
    let ever = [
        r#"queue_count_total{event="Waited"} 2"#,
        r#"queue_per_second{event="Pushed"} 0.0"#,
        r#"queue_sum_total{event="Waited"} 40"#,
        r#"queue_total{event="Pushed"} 6"#,
        r#"queue_values_per_second{event="Waited"} 0.0"#,
    ];
    assert_eq!(samples(&metrics), ever);

    clock.advance(Duration::from_millis(500));
    window.record(Queue::Waited, 99); // in a bucket that is not closed
    let closed = [
        r#"queue_count_total{event="Waited"} 3"#,
        r#"queue_max{event="Waited"} 30"#,
        r#"queue_mean{event="Waited"} 20.0"#,
        r#"queue_min{event="Waited"} 10"#,
        r#"queue_per_second{event="Pushed"} 4.0"#,
        r#"queue_sum_total{event="Waited"} 139"#,
        r#"queue_total{event="Pushed"} 6"#,
        r#"queue_values_per_second{event="Waited"} 1.3333333333333333"#,
    ];
    assert_eq!(samples(&metrics), closed);
    let text = text(&metrics);
    assert!(text.contains(
        "# HELP queue_per_second Queue: rate per second over the closed buckets of the window\n"
    ));
}

#[test]
fn a_window_shows_the_buckets_of_its_histograms_ever_and_percentiles_of_its_closed_buckets() {
    let clock = Manual::default();
    let window = SlidingWindow::<Upload>::builder().clock(clock.clone()).build().unwrap();
    let window = Shared::from(window);
    let mut metrics = Exposition::new();
    let few = Buckets::at(&[1 << 10, 1 << 12]);
    metrics.register("upload", "Uploads", buckets(window.clone(), few)).unwrap();
    window.add(Upload::Started, 1);
    (1..=100).for_each(|_| window.record(Upload::Bytes, 1_000));
    let shown = |what: &str| -> Vec<String> {
        samples(&metrics).into_iter().filter(|sample| sample.starts_with(what)).collect()
    };
    let values = [
        r#"upload_values_bucket{event="Bytes",le="+Inf"} 100"#,
        r#"upload_values_bucket{event="Bytes",le="1024.0"} 100"#,
        r#"upload_values_bucket{event="Bytes",le="4096.0"} 100"#,
        r#"upload_values_count{event="Bytes"} 100"#,
        r#"upload_values_per_second{event="Bytes"} 0.0"#,
        r#"upload_values_sum{event="Bytes"} 100000.0"#,
    ];
    assert_eq!(shown("upload_values"), values);
    assert_eq!(shown("upload_percentile"), [""; 0], "no bucket is closed");
    clock.advance(Duration::from_millis(500));
    window.record(Upload::Bytes, 4_000); // in a bucket that is not closed
    let percentiles = [
        r#"upload_percentile{event="Bytes",q="0.5"} 1000"#,
        r#"upload_percentile{event="Bytes",q="0.9"} 1000"#,
        r#"upload_percentile{event="Bytes",q="0.99"} 1000"#,
    ];
    assert_eq!(shown("upload_percentile"), percentiles);
    let ever =
        [r#"upload_values_sum{event="Bytes"} 104000.0"#, r#"upload_total{event="Started"} 1"#];
    assert_eq!(shown("upload_values_sum"), ever[..1]);
    assert_eq!(shown("upload_values_count"), [r#"upload_values_count{event="Bytes"} 101"#]);
    assert_eq!(shown("upload_total"), ever[1..]);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(shown("upload_percentile"), [""; 0], "it was long ago");
    let sum = r#"upload_values_sum{event="Bytes"} 104000.0"#;
    assert_eq!(shown("upload_values_sum"), [sum], "and stays counted");
}

#[test]
fn a_window_of_one_bucket_has_no_closed_ones_and_shows_none() {
    let window = SlidingWindow::<Hits>::builder().buckets(1).build().unwrap();
    let window = Shared::from(window);
    let mut metrics = Exposition::new();
    metrics.register("cache", "Cache", window.clone()).unwrap();
    window.add(Hits::Hit, 2);
    assert_eq!(
        samples(&metrics),
        [r#"cache_total{event="Hit"} 2"#, r#"cache_total{event="Miss"} 0"#]
    );
    let described = text(&metrics).lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(described, 1, "no name without a sample");
}

#[test]
fn a_window_of_extremes_shows_them_and_counts_none() {
    let clock = Manual::default();
    let window = SlidingWindow::<Depth>::builder().clock(clock.clone()).build().unwrap();
    let window = Shared::from(window);
    let mut metrics = Exposition::new();
    metrics.register("depth", "Depth", window.clone()).unwrap();
    for depth in [3, 8, 5] {
        window.record(Depth::Deepest, depth);
        window.record(Depth::Flattest, depth);
    }
    assert_eq!(samples(&metrics), [""; 0]);
    clock.advance(Duration::from_millis(500));
    let shown = [r#"depth_max{event="Deepest"} 8"#, r#"depth_min{event="Flattest"} 3"#];
    assert_eq!(samples(&metrics), shown);
    let described = text(&metrics).lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(described, 2, "no name without a sample");
}

#[test]
fn a_window_shows_the_level_of_a_signed_event_as_a_gauge() {
    let clock = Manual::default();
    let window = SlidingWindow::<Cart>::builder().clock(clock.clone()).build().unwrap();
    let window = Shared::from(window);
    let mut metrics = Exposition::new();
    metrics.register("cart", "Cart", window.clone()).unwrap();
    window.add(Cart::Items, 3);
    window.add(Cart::Items, -5);
    clock.advance(Duration::from_millis(500));
    let expected = "\
# HELP cart_level Cart: all-time additions minus subtractions
# TYPE cart_level gauge
cart_level{event=\"Items\"} -2
# HELP cart_per_second Cart: rate per second over the closed buckets of the window
# TYPE cart_per_second gauge
cart_per_second{event=\"Items\"} -4.0
";
    assert_eq!(text(&metrics), expected);
}

#[test]
fn a_number_of_the_programs_own_is_a_gauge() {
    let gates =
        Arc::new(Family::<Shift, _, _>::with_constructor(|| Gate::builder(5).build().unwrap()));
    let (number, other) = (Arc::new(AtomicI64::new(3)), from_fn(|| f64::NAN));
    let mut metrics = Exposition::new();
    let half = from_fn({
        let number = Arc::clone(&number);
        move || number.load(Ordering::Relaxed) as f64 / 2.0
    });
    let left = field_fn(Arc::clone(&gates), |gate: &Gate| gate.left() as f64);
    metrics.register("half", "Half", half).unwrap();
    metrics.register("absent", "Absent", other).unwrap();
    metrics.register("left", "Left", left).unwrap();
    assert!(gates.with(Shift { shift: -1 }).try_admit(2));
    let shown = ["half 1.5", "left_overflow_total 0", r#"left{shift="-1"} 3.0"#];
    assert_eq!(samples(&metrics), shown);
    number.store(-8, Ordering::Relaxed);
    assert!(text(&metrics).contains("# TYPE half gauge\nhalf -4.0\n"));
}

#[test]
fn a_count_of_the_programs_own_is_a_counter_and_a_panic_has_none() {
    let gates =
        Arc::new(Family::<Shift, _, _>::with_constructor(|| Gate::builder(5).build().unwrap()));
    let granted = |gate: &Gate| match gate.granted() {
        4 => panic!("for the test"),
        granted => granted,
    };
    let mut metrics = Exposition::new();
    metrics.register("granted", "Granted", field_count_fn(Arc::clone(&gates), granted)).unwrap();
    assert!(gates.with(Shift { shift: 7 }).try_admit(2));
    assert!(gates.with(Shift { shift: 8 }).try_admit(4));
    let shown = text(&metrics);
    assert!(shown.contains("# TYPE granted_total counter\n"), "{shown}");
    let shown = ["granted_overflow_total 0", r#"granted_total{shift="7"} 2"#];
    let mut samples = samples(&metrics);
    samples.sort_unstable();
    assert_eq!(samples, shown);
}

#[test]
fn a_family_of_windows_shows_the_samples_of_each_name_together() {
    let clock = Manual::default();
    let windows = Arc::new(Family::<Shift, _, _>::with_constructor({
        let clock = clock.clone();
        move || queue(&clock)
    }));
    let mut metrics = Exposition::new();
    metrics.register("queue", "Queue", Arc::clone(&windows)).unwrap();
    for shift in 0..10 {
        windows.with(Shift { shift }).add(Queue::Pushed, 1);
    }
    clock.advance(Duration::from_millis(500));
    let text = text(&metrics);
    let mut names: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('{').next().unwrap())
        .collect();
    assert_eq!(names.len(), 10 * 5 + 1);
    names.dedup();
    let once = [
        "queue_total",
        "queue_per_second",
        "queue_count_total",
        "queue_values_per_second",
        "queue_sum_total",
        "queue_overflow_total 0",
    ];
    assert_eq!(names, once);
    assert!(text.contains("queue_total{shift=\"7\",event=\"Pushed\"} 1\n"));
}

#[test]
fn prefixes_and_labels_of_all_series_stand_before_ours() {
    static HITS: Counter = Counter::new();
    static OPEN: Family<ByMethod, Gauge> = Family::new();
    let mut metrics = Exposition::new();
    metrics.register("plain", "", from_fn(|| 1.0)).unwrap();
    let mut metrics = metrics.with_prefix("shop").with_label("zone", "a\"b").with_label("x", "");
    metrics.register("hits", "Hits", &HITS).unwrap();
    metrics.register("open", "Open", &OPEN).unwrap();
    OPEN.with(ByMethod { method: Method::Get, secure: true }).increment();
    let expected = [
        "plain 1.0",
        r#"shop_hits_total{zone="a\"b",x=""} 0"#,
        r#"shop_open{zone="a\"b",x="",method="GET",secure="true"} 1"#,
    ];
    assert_eq!(samples(&metrics), expected);
}
