//! Metrics of every type, with labels that are hard to read, and what a parser must find of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::histogram::{Distribution, Scale};
use windrow::{Counter, Family, Gauge, Histogram, Maximum, Minimum, SlidingWindow, events, labels};
use windrow_prometheus::registry::Shared;
use windrow_prometheus::{Buckets, Exposition, Format, buckets};

use super::Samples;

labels! {
    struct Request { route: str, status: u16 }
    struct Tenant { tenant: str }
    struct Tenants { route: str }
    struct Shift { shift: i32 }
}

events! { enum Queue { Pushed: Count, Waited: Histogram } }

/// The number of response times: one of each millisecond up to it, beside one of zero.
pub(crate) const MILLIS: u64 = 1_000;

/// Values of a label. The first is counted once, the second twice, and so on.
const HOSTILE: [&str; 9] = [
    "",
    "\"",
    "\\",
    "\n",
    "\"} 1\n# EOF\nevil_total 1",
    "\\n\\\"\\\\",
    "# HELP a b",
    "{a=\"b\"}, ,= \t\r",
    "é\u{1F600}\u{2028}\u{7f}",
];

pub(crate) struct Metrics {
    requests: Arc<Family<Request<'static>, Counter>>,
    shifts: Arc<Family<Shift, Counter>>,
    done: Shared<Counter>,
}

pub(crate) fn exposition() -> (Metrics, Exposition) {
    let clock = Manual::default();
    let metrics = Metrics {
        requests: Arc::new(Family::new()),
        shifts: Arc::new(Family::new().with_max_series(50)),
        done: Shared::default(),
    };
    for (route, times) in HOSTILE.iter().zip(1..) {
        metrics.requests.with(Request { route, status: 200 }).add(times);
    }
    let tenants = Arc::new(Family::<Tenant, Gauge>::new().with_max_series(1));
    tenants.with(Tenant { tenant: "first" }).add(-5);
    tenants.with(Tenant { tenant: "second" }).add(6);
    let windows_clock = clock.clone();
    let make =
        move || SlidingWindow::<Queue>::builder().clock(windows_clock.clone()).build().unwrap();
    let queues = Arc::new(Family::<Shift, SlidingWindow<Queue, Manual>, _>::with_constructor(make));
    queues.with(Shift { shift: -1 }).add(Queue::Pushed, 7);
    queues.with(Shift { shift: -1 }).record(Queue::Waited, 30);
    clock.advance(Duration::from_millis(500));
    let greatest = Shared::<Maximum>::default();
    greatest.record(0);
    let rts = Arc::new(Family::<Tenant, Histogram>::new().with_max_series(1));
    rts.with(Tenant { tenant: HOSTILE[4] }).record(0);
    for millis in 1..=MILLIS {
        rts.with(Tenant { tenant: HOSTILE[4] }).record(millis * 1_000_000);
        rts.with(Tenant { tenant: "without room" }).record(100_000_000_000);
    }
    let in_seconds = buckets(rts, Buckets::octaves().per(1_000_000_000));

    let mut all = Exposition::new().with_prefix("shop");
    all.register("requests", "Requests, \"by\" route #1 {a=b}", Arc::clone(&metrics.requests))
        .unwrap();
    all.register("shifts", "Shifts", Arc::clone(&metrics.shifts)).unwrap();
    all.register("done", "Done", metrics.done.clone()).unwrap();
    all.register("open", "Open", tenants).unwrap();
    all.register("queue", "Queue", queues).unwrap();
    all.register("rt_seconds", "Response times", in_seconds).unwrap();
    all.register("greatest", "Greatest", greatest).unwrap();
    all.register("least", "Least: nothing recorded", Shared::<Minimum>::default()).unwrap();
    (metrics, all)
}

/// Returns histograms that are shown as native ones, and more; and the distribution of one.
pub(crate) fn natives() -> (Exposition, Distribution) {
    let rts = Arc::new(Family::<Tenants, Histogram>::new());
    let slow = rts.handle(Tenants { route: HOSTILE[4] });
    slow.record(0);
    for millis in 1..=MILLIS {
        slow.record(millis * 1_000_000);
    }
    for far in [1, 1 << 40, u64::MAX] {
        rts.with(Tenants { route: "far" }).record(far);
    }
    for near in [100, 200, 300] {
        rts.with(Tenants { route: "near" }).record(near);
    }
    let hits = Arc::new(Counter::new());
    hits.add(7);
    let mut metrics = Exposition::new();
    metrics.register("rt", "", Arc::clone(&rts)).unwrap();
    metrics.register("empty", "", Arc::new(Histogram::new())).unwrap();
    let from_one = Histogram::with_scale(Scale::fixed::<3, 1, 1024>());
    metrics.register("sizes", "", Arc::new(from_one)).unwrap();
    let seconds = buckets(rts, Buckets::octaves().per(1_000_000_000));
    metrics.register_in("seconds", "rt_seconds", "", seconds).unwrap();
    metrics.info("build", "", &[("version", "1")]).unwrap();
    let mut metrics = metrics.with_label("zone", "e\"u");
    metrics.register("hits", "", hits).unwrap();
    (metrics, slow.lifetime())
}

impl Metrics {
    /// Series are made and removed as long as that is to go on; and then `shop_done_total` is 1.
    pub(crate) fn come_and_go(&self, go_on: impl Fn() -> bool) {
        let mut shift = 0;
        while go_on() {
            shift += 1;
            self.shifts.with(Shift { shift }).increment();
            if shift > 40 {
                self.shifts.remove(Shift { shift: shift - 40 });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.done.increment();
    }
}

pub(crate) fn text(metrics: &Exposition, format: Format) -> String {
    String::from_utf8(metrics.encode(format)).unwrap()
}

/// Checks that a parser has found all counts.
pub(crate) fn check(samples: &Samples) {
    let get = |name: &str, labels: &[(&str, &str)]| {
        let labels: BTreeMap<String, String> = labels
            .iter()
            // The server drops empty labels.
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let without_empty = labels
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(n, v)| (n.clone(), v.clone()));
        let found = samples
            .get(&(name.to_owned(), labels.clone()))
            .or_else(|| samples.get(&(name.to_owned(), without_empty.collect())));
        *found.unwrap_or_else(|| panic!("no {name} {labels:?} in {samples:#?}"))
    };
    for (route, times) in HOSTILE.iter().zip(1_u32..) {
        let labels = [("route", *route), ("status", "200")];
        assert_eq!(get("shop_requests_total", &labels), f64::from(times), "{route:?}");
    }
    assert_eq!(get("shop_open", &[("tenant", "first")]), -5.0);
    assert_eq!(get("shop_open", &[("overflow", "true")]), 6.0);
    assert_eq!(get("shop_open_overflow_total", &[]), 1.0);
    assert_eq!(get("shop_queue_total", &[("shift", "-1"), ("event", "Pushed")]), 7.0);
    assert_eq!(get("shop_queue_per_second", &[("shift", "-1"), ("event", "Pushed")]), 14.0);
    assert_eq!(get("shop_queue_values_sum", &[("shift", "-1"), ("event", "Waited")]), 30.0);
    assert_eq!(get("shop_queue_mean", &[("shift", "-1"), ("event", "Waited")]), 30.0);
    let waited = |label, value| {
        let name = if label == "le" { "shop_queue_values_bucket" } else { "shop_queue_percentile" };
        get(name, &[("shift", "-1"), ("event", "Waited"), (label, value)])
    };
    assert_eq!(
        [waited("le", "512.0"), waited("le", "+Inf"), waited("q", "0.99")],
        [1.0, 1.0, 30.0]
    );
    assert_eq!(get("shop_greatest", &[]), 0.0);
    let bucket = |le| get("shop_rt_seconds_bucket", &[("tenant", HOSTILE[4]), ("le", le)]);
    let buckets = ["5.12e-07", "0.001048576", "0.016777216", "0.536870912", "1.073741824", "+Inf"];
    assert_eq!(buckets.map(bucket), [1.0, 2.0, 17.0, 537.0, 1_001.0, 1_001.0]);
    assert_eq!(get("shop_rt_seconds_count", &[("tenant", HOSTILE[4])]), 1_001.0);
    assert_eq!(get("shop_rt_seconds_sum", &[("tenant", HOSTILE[4])]), 500.5);
    let without_room = |le| get("shop_rt_seconds_bucket", &[("overflow", "true"), ("le", le)]);
    assert_eq!(["68.719476736", "+Inf"].map(without_room), [0.0, 1_000.0]);
    assert_eq!(get("shop_rt_seconds_sum", &[("overflow", "true")]), 100_000.0);
    let names = |prefix: &str| samples.keys().filter(|(name, _)| name.starts_with(prefix)).count();
    assert_eq!(names("shop_requests_total"), HOSTILE.len());
    assert_eq!((names("shop_least"), names("evil")), (0, 0));
}
