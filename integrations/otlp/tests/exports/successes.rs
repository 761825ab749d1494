//! Exports that succeed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, metric};
use windrow::export::{Catalog, from_fn, total_fn};
use windrow::histogram::Scale;
use windrow::{Counter, Family, Gauge, Histogram, InFlight, Maximum, Minimum, SlidingWindow};
use windrow::{events, labels};
use windrow_otlp::{Exporter, HistogramForm, Temporality};

use crate::book::{Data, Point};
use crate::receiver::{Receiver, WIRES, Wire};

labels! { pub(crate) struct Request { route: str, status: u16 } }
events! {
    pub(crate) enum Http { Pass: Count, Rt: Histogram }
    enum Jobs { Done: Count, Queued: Signed }
    enum Timed { Done: Count, Size: Value, Waited: Value in "ms", Rt: Histogram in "ns" }
}

/// A period that no test lives to see.
pub(crate) const NEVER: Duration = Duration::from_secs(100_000);

pub(crate) fn exporter(receiver: &Receiver, wire: Wire) -> Exporter {
    let exporter = match wire {
        Wire::Http => Exporter::to(receiver.endpoint()),
        Wire::Grpc => Exporter::to_grpc(receiver.endpoint()),
    };
    exporter.resource("service.name", "cart")
}

fn nanos(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

fn exponential(point: &Point) -> (i32, u64, f64, i32, Vec<u64>) {
    let Data::Exponential(point) = &point.data else { panic!("{point:?}") };
    let positive = point.positive.clone().unwrap();
    (point.scale, point.zero_count, point.zero_threshold, positive.offset, positive.bucket_counts)
}

#[test]
fn each_metric_arrives_in_its_form_with_unit_description_and_times() {
    for wire in WIRES {
        let receiver = Receiver::start(wire);
        let (hits, open, level) = (Counter::new(), Gauge::new(), InFlight::new());
        let (most, least, none) = (Maximum::new(), Minimum::new(), Maximum::new());
        let sizes = Histogram::with_scale(Scale::new(0, 2, 64).unwrap());
        hits.add(7);
        open.add(-3);
        most.record(9);
        least.record(2);
        for size in [0, 1, 2, 3, 4, 100] {
            sizes.record(size);
        }
        let (level, most) = (Arc::new(level), Arc::new(most));
        let _in_flight = level.enter(1);

        let since = SystemTime::now() - Duration::from_secs(60);
        let mut catalog = Catalog::new();
        catalog.add("sizes", "Sizes", Arc::new(sizes)).unwrap().unit = "By".into();
        let started = exporter(&receiver, wire)
            .resource("deployment.environment.name", "test")
            .header("x-tenant", "ann")
            .since(since)
            .metric("hits", "Hits", Arc::new(hits))
            .metric("open", "Open", Arc::new(open))
            .metric("level", "", Arc::clone(&level))
            .metric_in("s", "most", "Most", Arc::clone(&most))
            .metric("least", "", Arc::new(least))
            .metric("none", "", Arc::new(none))
            .metric("load", "Load", from_fn(|| 0.5))
            .catalog(&catalog)
            .start(NEVER)
            .unwrap();
        let before = nanos(SystemTime::now());
        started.flush().unwrap();

        let book = receiver.book();
        let resource = book.resource();
        assert_eq!(resource["service.name"], "\"cart\"");
        assert_eq!(resource["deployment.environment.name"], "\"test\"");
        assert_eq!(resource["service.instance.id"].len(), 36 + 2);
        assert_eq!(book.headers["x-tenant"], "ann");
        let described: Vec<_> = book
            .metrics()
            .map(|it| (it.name.as_str(), it.description.as_str(), it.unit.as_str()))
            .collect();
        let expected = [
            ("hits", "Hits", ""),
            ("open", "Open", ""),
            ("level", "", ""),
            ("most", "Most", "s"),
            ("least", "", ""),
            ("load", "Load", ""),
            ("sizes", "Sizes", "By"),
        ];
        assert_eq!(described, expected); // an extreme without a value has no point

        let is_monotonic = |name: &str| {
            let found = book.metrics().find(|it| it.name == name).unwrap();
            match found.data.as_ref().unwrap() {
                metric::Data::Sum(sum) => Some(sum.is_monotonic),
                _ => None,
            }
        };
        assert_eq!(
            ["hits", "open", "level", "most"].map(is_monotonic),
            [Some(true), Some(false), Some(false), None]
        );
        for (name, count) in [("hits", 7.0), ("open", -3.0), ("level", 1.0)] {
            let point = book.last(name, "");
            assert_eq!((point.count(), point.start), (count, nanos(since)), "{name}");
            assert_eq!(point.temporality, Some(AggregationTemporality::Cumulative));
            assert!((before..=nanos(SystemTime::now())).contains(&point.time));
        }
        for (name, value) in [("most", 9.0), ("least", 2.0), ("load", 0.5)] {
            let point = book.last(name, "");
            assert_eq!((point.count(), point.temporality, point.start), (value, None, 0), "{name}");
        }
        // Range 2 to 64 at scale 0: (0.5, 1] for what is below, (1, 2], (2, 4], ..., and (64, 128].
        let sizes = book.last("sizes", "");
        assert_eq!(exponential(&sizes), (0, 0, 0.0, -1, vec![2, 1, 2, 0, 0, 0, 0, 1]));
        let Data::Exponential(sizes) = sizes.data else { unreachable!() };
        assert_eq!((sizes.sum, sizes.min, sizes.max), (Some(110.0), Some(0.0), Some(100.0)));
    }
}

#[test]
fn a_window_arrives_part_by_part_from_the_time_at_which_it_was_built() {
    let receiver = Receiver::start(Wire::Http);
    let before = nanos(SystemTime::now());
    let window = Arc::new(SlidingWindow::<Http>::builder().build().unwrap());
    window.add(Http::Pass, 3);
    window.record(Http::Rt, 1_000);
    let started = exporter(&receiver, Wire::Http)
        .since(UNIX_EPOCH)
        .metric_in("ns", "http", "HTTP", Arc::clone(&window))
        .start(NEVER)
        .unwrap();
    started.flush().unwrap();
    window.add(Http::Pass, 2);
    started.flush().unwrap();
    let book = receiver.book();
    let pass = book.last("http", "event=\"Pass\"");
    assert_eq!(pass.count(), 5.0);
    assert_eq!(book.count("http", "event=\"Pass\""), 5.0, "the start stays");
    // The window's clock and the system's differ by their resolution.
    assert!(pass.start + 100_000_000 > before, "{} {before}", pass.start);
    let values = book.last("http.values", "event=\"Rt\"");
    // 1000 is above 2^(79/8) and at most 2^(80/8).
    assert_eq!(exponential(&values), (3, 0, 0.0, 79, vec![1]));
    assert_eq!(values.sum(), 1_000.0);
    let units = |name: &str| book.metrics().find(|it| it.name == name).unwrap().unit.clone();
    assert_eq!(["http", "http.values"].map(units), ["", "ns"]);
}

#[test]
fn values_are_in_no_sum_of_counts_and_have_the_unit_that_their_event_declares() {
    let receiver = Receiver::start(Wire::Http);
    let window = Arc::new(SlidingWindow::<Timed>::builder().build().unwrap());
    for _ in 0..3 {
        window.add(Timed::Done, 1);
        window.record(Timed::Size, 100);
        window.record(Timed::Waited, 5);
        window.record(Timed::Rt, 1_000);
    }
    let jobs = exporter(&receiver, Wire::Http).metric_in("By", "jobs", "Jobs", window);
    jobs.start(NEVER).unwrap().flush().unwrap();
    let book = receiver.book();
    let counts = |name: &str| {
        let added: Vec<_> = book.added_up(name).into_iter().collect();
        added.into_iter().map(|(event, (count, _))| (event, count)).collect::<Vec<_>>()
    };
    let of = |event: &str, count| (format!("event=\"{event}\""), count);
    assert_eq!(counts("jobs"), [of("Done", 3.0)]);
    assert_eq!(counts("jobs.count"), [of("Size", 3.0), of("Waited", 3.0)]);
    assert_eq!(counts("jobs.values"), [of("Rt", 3.0)]);
    let units = |name: &str| book.metrics().find(|it| it.name == name).unwrap().unit.clone();
    let names = ["jobs", "jobs.count", "jobs.values", "jobs.sum"];
    assert_eq!(names.map(units), ["", "", "ns", ""], "sums are in two units");
}

#[test]
fn histograms_have_explicit_bounds_where_they_are_asked_for() {
    let receiver = Receiver::start(Wire::Http);
    let sizes = Arc::new(Histogram::with_scale(Scale::new(3, 5, 16).unwrap()));
    for size in [1, 4, 5, 8, 9, 16, 17] {
        sizes.record(size);
    }
    let started = exporter(&receiver, Wire::Http)
        .histograms(HistogramForm::Octaves)
        .metric("sizes", "", Arc::clone(&sizes))
        .start(NEVER)
        .unwrap();
    started.flush().unwrap();
    let Data::Explicit(point) = receiver.book().last("sizes", "").data else { panic!() };
    assert_eq!(point.explicit_bounds, [4.0, 8.0, 16.0]);
    assert_eq!(point.bucket_counts, [2, 2, 2, 1]);
}

#[test]
fn what_a_family_refused_arrives_in_the_overflow_series() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let receiver = Receiver::start(Wire::Http);
        let family = Arc::new(Family::<Request, Counter>::new().with_max_series(1));
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .metric("requests", "Requests", Arc::clone(&family))
            .start(NEVER)
            .unwrap();
        for _ in 0..2 {
            family.with(Request { route: "/a", status: 200 }).add(1);
            family.with(Request { route: "/b", status: 200 }).add(2);
            family.with(Request { route: "/c", status: 200 }).add(3);
            started.flush().unwrap();
        }
        started.flush().unwrap();
        let book = receiver.book();
        let all = book.added_up("requests");
        assert_eq!(all["route=\"/a\",status=200"].0, 2.0);
        assert_eq!(all["otel.metric.overflow=true"].0, 10.0);
        assert_eq!(all.len(), 2);
        assert_eq!(book.count("requests.overflow", ""), 4.0);
    }
}

#[test]
fn a_series_that_is_removed_and_made_again_has_another_start_and_nothing_falls() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let receiver = Receiver::start(Wire::Http);
        let family = Arc::new(Family::<Request, Histogram>::new());
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .metric("rt", "", Arc::clone(&family))
            .start(NEVER)
            .unwrap();
        let record = |times| {
            for _ in 0..times {
                family.with(Request { route: "/", status: 200 }).record(1_000);
            }
        };
        record(1_000);
        started.flush().unwrap();
        family.retain(|_, _| false);
        started.flush().unwrap();
        record(1);
        started.flush().unwrap();
        record(1);
        started.flush().unwrap();
        let book = receiver.book();
        let key = "route=\"/\",status=200";
        let points = book.of("rt", key);
        let counts: Vec<_> = points.iter().map(Point::count).collect();
        let last = if temporality == Temporality::Delta { 1.0 } else { 2.0 };
        assert_eq!(counts, [1_000.0, 1.0, last]);
        assert!(points[1].start > points[0].time, "{points:?}");
        assert_eq!(book.added_up("rt")[key], (1_002.0, 1_002_000.0));
    }
}

#[test]
fn changes_are_those_since_the_last_answer_and_nothing_is_sent_of_what_did_not_change() {
    for wire in WIRES {
        let receiver = Receiver::start(wire);
        let (family, open) = (Arc::new(Family::<Request, Counter>::new()), Gauge::new());
        open.add(5);
        let sizes = Arc::new(Histogram::new());
        let jobs = Arc::new(SlidingWindow::<Jobs>::builder().build().unwrap());
        jobs.add(Jobs::Queued, 3);
        let started = exporter(&receiver, wire)
            .temporality(Temporality::Delta)
            .metric("requests", "", Arc::clone(&family))
            .metric("open", "", Arc::new(open))
            .metric("sizes", "", Arc::clone(&sizes))
            .metric("jobs", "", Arc::clone(&jobs))
            .start(NEVER)
            .unwrap();
        let [a, b] = ["/a", "/b"].map(|route| Request { route, status: 200 });
        for (of_a, of_b) in [(5, 1), (0, 2), (7, 0), (0, 0), (1, 1)] {
            family.with(a).add(of_a);
            family.with(b).add(of_b);
            (0..of_a).for_each(|_| sizes.record(2_000));
            jobs.add(Jobs::Done, of_b);
            started.flush().unwrap();
        }
        let book = receiver.book();
        let counts = |key| {
            let points = book.of("requests", key).into_iter();
            points.map(|point| (point.count(), point.start)).unzip::<_, _, Vec<_>, Vec<_>>()
        };
        assert_eq!(counts("route=\"/a\",status=200").0, [5.0, 7.0, 1.0]);
        assert_eq!(counts("route=\"/b\",status=200").0, [1.0, 2.0, 1.0]);
        // A change begins where the last look ended, also if that had nothing to send.
        let times: Vec<_> = book.of("open", "").iter().map(|point| point.time).collect();
        let starts = counts("route=\"/a\",status=200").1;
        assert!(starts[1] >= times[0] && starts[2] > times[2], "{starts:?} {times:?}");
        let sizes: Vec<_> = book.of("sizes", "").iter().map(Point::count).collect();
        assert_eq!(sizes, [5.0, 7.0, 1.0]);
        // A window has both: its counts are changes, and its levels are not.
        let done: Vec<_> = book.of("jobs", "event=\"Done\"").iter().map(Point::count).collect();
        assert_eq!(done, [1.0, 2.0, 1.0]);
        let queued = book.of("jobs.level", "event=\"Queued\"");
        assert!(queued.iter().all(|point| point.count() == 3.0 && point.start == queued[0].start));
        assert_eq!(queued.len(), 5);
        // Levels stay what they are.
        assert!(book.of("open", "").iter().all(|point| point.count() == 5.0));
        assert_eq!(book.last("open", "").temporality, Some(AggregationTemporality::Cumulative));
        assert_eq!(
            book.last("requests", "route=\"/a\",status=200").temporality,
            Some(AggregationTemporality::Delta)
        );
    }
}

#[test]
fn a_family_of_enums_counts_on_when_a_hidden_series_is_used_again() {
    labels! {
        pub(crate) enum Side { Left, Right }
        pub(crate) struct Of { side: Side }
    }

    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let receiver = Receiver::start(Wire::Http);
        let family = Arc::new(Family::<Of, Counter>::new());
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .metric("turns", "", Arc::clone(&family))
            .start(NEVER)
            .unwrap();
        for side in [Side::Left, Side::Right] {
            family.with(Of { side }).add(40);
        }
        started.flush().unwrap();
        family.retain(|_, _| false);
        started.flush().unwrap();
        family.with(Of { side: Side::Left }).add(2);
        started.flush().unwrap();
        assert_eq!(receiver.book().count("turns", "side=\"Left\""), 42.0);
    }
}

#[test]
fn many_series_come_in_requests_of_a_size_that_every_collector_takes() {
    labels! { pub(crate) struct User { user: u64 } }
    for (wire, temporality) in
        [(Wire::Http, Temporality::Cumulative), (Wire::Grpc, Temporality::Delta)]
    {
        let receiver = Receiver::start(wire);
        let family = Arc::new(Family::<User, Histogram>::new().with_max_series(20_000));
        (0..20_000).for_each(|user| family.with(User { user }).record(user * 1_000));
        let started = exporter(&receiver, wire)
            .temporality(temporality)
            .metric("rt", "", Arc::clone(&family))
            .start(NEVER)
            .unwrap();
        started.flush().unwrap();
        let book = receiver.book();
        assert!(book.messages.len() > 1);
        assert!(book.messages.iter().all(|message| message.len() < 1 << 20));
        let all = book.added_up("rt");
        assert_eq!(all.len(), 20_000);
        assert!(
            (0..20_000)
                .all(|user| { all[&format!("user={user}")] == (1.0, f64::from(user) * 1_000.0) })
        );
    }
}

#[test]
fn exports_come_by_themselves_and_a_last_one_at_the_end() {
    let receiver = Receiver::start(Wire::Http);
    let hits = Arc::new(Counter::new());
    let begin = |period| {
        let exporter = exporter(&receiver, Wire::Http).metric("hits", "", Arc::clone(&hits));
        exporter.start(period).unwrap()
    };
    let often = begin(Duration::from_millis(5));
    hits.add(1);
    receiver.wait(|book| book.of("hits", "").iter().any(|point| point.count() == 1.0));
    hits.add(1);
    receiver.wait(|book| book.of("hits", "").iter().any(|point| point.count() == 2.0));
    drop(often);

    receiver.book().clear();
    let seldom = begin(NEVER);
    hits.add(1);
    seldom.shutdown().unwrap();
    assert_eq!(receiver.book().last("hits", "").count(), 3.0);

    let seldom = begin(NEVER);
    hits.add(1);
    drop(seldom);
    assert_eq!(receiver.book().last("hits", "").count(), 4.0);
}

#[test]
fn a_storm_of_adds_removals_and_exports_is_added_up_exactly() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let receiver = Receiver::start(Wire::Http);
        let family = Arc::new(Family::<Request, Counter>::new());
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .metric("requests", "", Arc::clone(&family))
            .start(NEVER)
            .unwrap();
        let rounds = 50_u64;
        for _ in 0..rounds {
            thread::scope(|scope| {
                for status in [200, 404] {
                    let family = &family;
                    scope.spawn(move || {
                        for route in ["/a", "/b", "/c"] {
                            family.with(Request { route, status }).add(3);
                        }
                    });
                }
                // While they add.
                let _ = started.flush();
            });
            // What was not exported when a series is removed is lost to every exporter.
            started.flush().unwrap();
            family.retain(|_, _| false);
        }
        let all = receiver.book().added_up("requests");
        assert_eq!(all.len(), 6);
        assert!(all.values().all(|added| added.0 == (3 * rounds) as f64), "{all:?}");
    }
}

/// Changes of a fractional total add up to it; one that goes back has begun anew.
#[test]
fn totals_of_the_programs_own_arrive_whole() {
    static QUARTERS: AtomicU64 = AtomicU64::new(0);
    let receiver = Receiver::start(Wire::Http);
    let started = exporter(&receiver, Wire::Http)
        .temporality(Temporality::Delta)
        .metric_in("s", "cpu", "CPU time", total_fn(|| QUARTERS.load(Relaxed) as f64 / 4.0))
        .start(NEVER)
        .unwrap();
    for (total, sent) in [(3, 0.75), (3, 0.75), (10, 2.5), (2, 3.0), (0, 3.0), (1, 3.25)] {
        QUARTERS.store(total, Relaxed);
        started.flush().unwrap();
        assert_eq!(receiver.book().count("cpu", ""), sent, "{total} quarters");
    }
}
