//! `windrow::export`: visits, reads, and the names that a catalog refuses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use windrow::clock::Manual;
use windrow::export::{
    AnyMetric, Catalog, CatalogError, Exported, Form, PartKind, Source, Value, field, field_fn,
    from_fn, total_fn,
};
use windrow::histogram::{Distribution, Scale};
use windrow::{
    Clock, Counter, Family, Gate, Gauge, Histogram, InFlight, Maximum, Minimum, SlidingWindow,
    Stats, events, family::Metric, labels,
};

events! { enum All { Pass: Count, Open: Signed, Took: Value, Rt: Histogram, Most: Maximum, Least: Minimum } }
events! { enum Hits { Hit: Count } }
events! { enum Pool { Open: Signed } }
events! { enum Depth { Deepest: Maximum, Flattest: Minimum } }
labels! {
    enum Method { Get, Post }
    struct Route { route: str, method: Method }
    struct Flag { method: Method }
    struct Reserved { overflow: str }
    struct OfEvent { event: Method }
}

/// Every number of a source, by labels, part, and the labels of the sample.
fn numbers(source: &dyn Source) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    source.visit(&mut |series| {
        let mut labels = String::new();
        series.labels(&mut |name, value| write!(labels, "{name}={value},").unwrap());
        let whole = series.metric().read();
        for part in whole.form.parts() {
            let mut put = |value: Value<'_>, sample: &str| {
                let (number, kind) = match value {
                    Value::Count(number) => (number as f64, PartKind::Counter),
                    Value::Unsigned(number) => (number as f64, part.kind),
                    Value::Signed(number) => (number as f64, PartKind::Level),
                    Value::Real(number) => (number, PartKind::RealGauge),
                    Value::RealTotal(number) => (number, PartKind::RealCounter),
                    Value::Distribution(values) => (values.count() as f64, PartKind::Histogram),
                };
                assert_eq!(kind, part.kind, "{}", part.suffix);
                let key = format!("{labels}{}{sample}", part.suffix);
                assert_eq!(all.insert(key.clone(), number), None, "{key} is there twice");
            };
            let sample_labels = |sample: &windrow::export::Sample<'_>| {
                let pairs = sample.labels().map(|(name, value)| format!(" {name}={value}"));
                pairs.collect::<Vec<_>>().concat()
            };
            whole.samples(part, &mut |sample| put(sample.value, &sample_labels(&sample)));
            // The samples of one part are those of a full read.
            let (mut of_whole, mut of_part) = (Vec::new(), Vec::new());
            whole.samples(part, &mut |sample| of_whole.push(format!("{sample:?}")));
            let only = series.metric().read_part(part);
            only.samples(part, &mut |sample| of_part.push(format!("{sample:?}")));
            assert_eq!(of_whole, of_part, "{}", part.suffix);
        }
    });
    all
}

fn map(expected: &[(&str, f64)]) -> BTreeMap<String, f64> {
    expected.iter().map(|(key, number)| ((*key).to_owned(), *number)).collect()
}

#[test]
fn metrics_of_one_number() {
    let (counter, gauge, level) = (Counter::new(), Gauge::new(), InFlight::new());
    let (maximum, minimum, histogram) = (Maximum::new(), Minimum::new(), Histogram::new());
    counter.add(7);
    assert_eq!(counter.take(), 7);
    gauge.add(-3);
    let _guard = level.enter(5);
    assert_eq!(numbers(&counter), map(&[("", 7.0)]), "drained counts are included");
    assert_eq!(numbers(&gauge), map(&[("", -3.0)]));
    assert_eq!(numbers(&level), map(&[("", 5.0)]));
    assert_eq!(numbers(&maximum), map(&[]), "nothing was recorded");
    maximum.record(9);
    minimum.record(4);
    histogram.record(1_000);
    assert_eq!(numbers(&maximum), map(&[("", 9.0)]));
    assert_eq!(numbers(&minimum), map(&[("", 4.0)]));
    assert_eq!(numbers(&histogram), map(&[("", 1.0)]));
}

#[test]
fn a_window_of_every_kind_of_event() {
    let clock = Manual::default();
    let window = SlidingWindow::<All>::builder().clock(clock.clone()).build().unwrap();
    window.add(All::Pass, 10);
    window.add(All::Open, -2);
    window.record(All::Took, 30);
    window.record(All::Took, 50);
    window.record(All::Rt, 1_000);
    window.record(All::Most, 8);
    window.record(All::Least, 6);
    clock.advance(Duration::from_millis(500)); // a bucket
    window.add(All::Pass, 1);
    let expected = map(&[
        (" event=Pass", 11.0),
        ("count event=Took", 2.0),
        ("level event=Open", -2.0),
        ("per_second event=Pass", 20.0),
        ("per_second event=Open", -4.0),
        ("values_per_second event=Took", 4.0),
        ("values_per_second event=Rt", 2.0),
        ("sum event=Took", 80.0),
        ("mean event=Took", 40.0),
        ("mean event=Rt", 1_000.0),
        ("min event=Took", 30.0),
        ("min event=Rt", 1_000.0),
        ("min event=Least", 6.0),
        ("max event=Took", 50.0),
        ("max event=Rt", 1_000.0),
        ("max event=Most", 8.0),
        ("values event=Rt", 1.0),
        ("percentile event=Rt q=0.5", 1_000.0),
        ("percentile event=Rt q=0.9", 1_000.0),
        ("percentile event=Rt q=0.99", 1_000.0),
    ]);
    assert_eq!(numbers(&window), expected);
    let only_counts = SlidingWindow::<Hits>::builder().buckets(1).build().unwrap();
    only_counts.add(Hits::Hit, 3);
    assert_eq!(numbers(&only_counts), map(&[(" event=Hit", 3.0)]), "no bucket is ever closed");
}

/// A level is that of all adds ever: a drain takes nothing away.
#[test]
fn the_level_of_a_signed_event_outlasts_its_window() {
    let clock = Manual::default();
    let window = SlidingWindow::<Pool>::builder().clock(clock.clone()).build().unwrap();
    window.add(Pool::Open, 5);
    clock.advance(Duration::from_millis(500)); // a bucket
    window.close_past();
    assert_eq!(window.drain_closed(|bucket| assert_eq!(bucket.sum(Pool::Open), 5)), 1);
    clock.advance(Duration::from_secs(10));
    window.add(Pool::Open, -7);
    let shown = numbers(&window);
    assert_eq!(shown, map(&[("level event=Open", -2.0), ("per_second event=Open", 0.0)]));
}

#[test]
fn a_window_has_the_parts_of_its_events_and_no_others() {
    let suffixes = |form: Form| form.parts().map(|part| part.suffix).collect::<Vec<_>>();
    let extremes = SlidingWindow::<Depth>::builder().build().unwrap();
    assert_eq!(suffixes(extremes.outline().form), ["min", "max"]);
    let level = SlidingWindow::<Pool>::builder().build().unwrap();
    assert_eq!(suffixes(level.outline().form), ["level", "per_second"]);
    let all = SlidingWindow::<All>::builder().build().unwrap();
    assert_eq!(
        suffixes(all.outline().form),
        [
            "",
            "level",
            "per_second",
            "count",
            "values_per_second",
            "sum",
            "mean",
            "min",
            "max",
            "values",
            "percentile"
        ]
    );
}

#[test]
fn a_number_of_the_programs_own() {
    static LEVEL: AtomicI64 = AtomicI64::new(-7);
    let level = from_fn(|| LEVEL.load(Ordering::Relaxed) as f64 / 2.0);
    assert_eq!(level.outline().form, Form::Real);
    assert_eq!(numbers(&level), map(&[("", -3.5)]));
    LEVEL.store(8, Ordering::Relaxed);
    assert_eq!(numbers(&level), map(&[("", 4.0)]));
    for absent in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(numbers(&from_fn(move || absent)), map(&[]));
    }
    let fails = from_fn(|| panic!("for the test"));
    assert_eq!(numbers(&fails), map(&[]), "the others are exported all the same");
}

#[test]
fn counts_of_the_programs_own_are_exported_as_a_histogram_of_its_values() {
    let scale = Scale::new(2, 600, 100_000).unwrap();
    let histogram = Histogram::with_scale(scale);
    let (mut counts, mut sum) = (vec![0; scale.cells() + 2], 0);
    for value in [0, 599, 600, 1_024, 1_025, 70_000, 1 << 40] {
        histogram.record(value);
        counts[scale.place(value)] += 1;
        sum += value;
    }
    let values = Distribution::from_counts(scale, &counts, sum);
    let any = AnyMetric::Distribution(&values);
    assert_eq!(any.form(), histogram.any().form());
    assert!(any.number().is_none());
    let reading = any.read();
    let parts: Vec<_> = reading.form.parts().collect();
    assert!(histogram.any().read().form.parts().eq(parts.iter().copied()));
    let mut seen = 0;
    reading.samples(parts[0], &mut |sample| {
        let Value::Distribution(read) = sample.value else { panic!("{sample:?}") };
        assert!(read.cells().eq(histogram.distribution().cells()));
        assert_eq!((read.count(), read.sum()), (7, histogram.sum()));
        assert!(!read.has_exact_extremes());
        seen += 1;
    });
    assert_eq!(seen, 1);
}

#[test]
fn a_total_of_the_programs_own() {
    static SPENT: AtomicI64 = AtomicI64::new(3);
    let total = total_fn(|| SPENT.load(Ordering::Relaxed) as f64 / 4.0);
    assert_eq!(total.outline().form, Form::RealTotal);
    assert_eq!(numbers(&total), map(&[("", 0.75)]));
    for absent in [f64::NAN, f64::INFINITY, -0.5] {
        assert_eq!(numbers(&total_fn(move || absent)), map(&[]));
    }
    let fails = total_fn(|| panic!("for the test"));
    assert_eq!(numbers(&fails), map(&[]), "the others are exported all the same");
}

#[test]
fn a_number_that_a_function_computes_for_each_series() {
    let make = || Gate::builder(10).build().unwrap();
    let gates: Family<Route, Gate, _> = Family::with_constructor(make).with_max_series(2);
    for (route, weight) in [("/a", 1), ("/b", 2), ("/c", 3)] {
        assert!(gates.with(Route { route, method: Method::Get }).try_admit(weight));
    }
    let left = field_fn(&gates, |gate| {
        assert_ne!(gate.left(), 8, "for the test");
        gate.left() as f64
    });
    let outline = left.outline();
    assert_eq!((outline.form, outline.max_series, outline.overflows), (Form::Real, 2, true));
    assert_eq!(outline.labels, ["route", "method"]);
    // One of them panics, and the others are there.
    let expected = [("route=/a,method=Get,", 9.0), ("overflow=true,", 7.0)];
    assert_eq!((numbers(&left), left.refused()), (map(&expected), Some(1)));
}

#[test]
fn an_erased_window_reads_as_the_window_does() {
    let window = SlidingWindow::<All>::builder().build().unwrap();
    for number in 0..100 {
        window.add(All::Pass, number);
        window.record(All::Rt, number);
        window.record(All::Most, number);
    }
    let windrow::export::AnyMetric::Window(erased) = window.any() else { panic!() };
    let walk = erased.snapshot(None).unwrap();
    for event in All::ALL {
        let index = event.index();
        assert_eq!(erased.events()[index], (event.name(), event.kind()));
        assert_eq!(erased.lifetime().stats(index), window.lifetime(event));
        assert_eq!(erased.totals().stats(index), window.totals().stats(event));
        let of_buckets = walk.buckets.iter().map(|bucket| bucket.stats(index));
        assert_eq!(of_buckets.sum::<Stats>(), window.stats(event));
        let is_histogram = event == All::Rt;
        assert_eq!(erased.totals().distribution(index).is_some(), is_histogram);
        assert_eq!(erased.lifetime().distribution(index).is_some(), is_histogram);
    }
    assert_eq!(erased.interval(), window.interval());
    assert_eq!(erased.bucket_length() * 2, window.interval());
    assert!(erased.snapshot(Some(0)).is_none(), "there is no tier");
}

/// Over several buckets, with back-dated adds, which go beside blocks, and buckets that have left.
#[test]
fn the_numbers_of_one_event_alone_are_those_among_all() {
    let clock = Manual::default();
    clock.advance(Duration::from_secs(100));
    let builder = SlidingWindow::<All>::builder().interval(Duration::from_secs(5)).buckets(5);
    let window = builder.clock(clock.clone()).build().unwrap();
    for number in 1..=9_u64 {
        window.add(All::Pass, number);
        window.add(All::Open, 3 - number.cast_signed());
        let at = window.clock().now() - Duration::from_secs(number % 3);
        window.record_at(at, All::Took, number * 700).unwrap();
        window.record_at(at, All::Rt, number * 700).unwrap();
        window.record_at(at, All::Most, number).unwrap();
        window.record_at(at, All::Least, number).unwrap();
        clock.advance(Duration::from_secs(1));
        let windrow::export::AnyMetric::Window(erased) = window.any() else { panic!() };
        let all = erased.snapshot(None).unwrap();
        for (index, event) in All::ALL.into_iter().enumerate() {
            assert_eq!(erased.lifetime().stats(index), window.lifetime(event), "{event:?}");
            let one = erased.snapshot_of(index);
            assert_eq!((one.buckets.len(), one.interval, one.at), (5, all.interval, all.at));
            for (one, all) in one.buckets.iter().zip(&all.buckets) {
                assert_eq!((one.start, one.end), (all.start, all.end));
                assert_eq!(one.stats(index), all.stats(index), "{event:?}");
                assert_eq!(one.distribution(index), all.distribution(index));
                let others = (0..erased.events().len()).filter(|other| *other != index);
                assert!(others.into_iter().all(|other| one.stats(other) == Stats::default()));
            }
        }
    }
    let windrow::export::AnyMetric::Window(erased) = window.any() else { panic!() };
    let counts: Vec<u64> = (0..6).map(|index| erased.lifetime().stats(index).count).collect();
    assert_eq!(counts[0], 45);
    assert_eq!(counts[2..], [9, 9, 0, 0]);
}

#[test]
fn a_family_has_labels_numbers_and_times_of_creation() {
    let before = SystemTime::now();
    let family: Family<Route, Counter> = Family::new().with_max_series(2);
    for (route, count) in [("/a", 1), ("/b", 2), ("/c", 3), ("/d", 4)] {
        family.with(Route { route, method: Method::Get }).add(count);
    }
    let expected =
        [("route=/a,method=Get,", 1.0), ("route=/b,method=Get,", 2.0), ("overflow=true,", 7.0)];
    assert_eq!(numbers(&family), map(&expected));
    assert_eq!(Source::refused(&family), Some(2));
    let outline = family.outline();
    assert_eq!((outline.form, outline.max_series), (Form::Counter, 2));
    assert_eq!(outline.labels, ["route", "method"]);
    assert!(outline.overflows && !outline.series_return);
    let (mut seen, mut overflow) = (Vec::new(), 0);
    family.visit(&mut |series| {
        let created = series.created().expect("a series knows");
        assert!((before..=SystemTime::now()).contains(&created));
        seen.push(series.number());
        overflow += usize::from(series.is_overflow());
    });
    // A series keeps its time, and a later one of the same labels has another number.
    assert!(family.remove(Route { route: "/a", method: Method::Get }));
    family.with(Route { route: "/a", method: Method::Get }).increment();
    let mut again = Vec::new();
    family.visit(&mut |series| again.push(series.number()));
    assert_eq!((seen.len(), overflow), (3, 1));
    assert_eq!(again.iter().filter(|number| seen.contains(number)).count(), 2);

    let flags: Family<Flag, Gauge> = Family::new();
    assert!(flags.outline().series_return && !flags.outline().overflows);
    assert_eq!((flags.outline().max_series, Source::refused(&flags)), (2, None));
}

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

#[test]
fn fields_of_a_family_however_it_is_held() {
    let family: Arc<Family<Route, Endpoint>> = Arc::default();
    let cart = family.handle(Route { route: "/", method: Method::Post });
    cart.requests.add(5);
    cart.rt.record(1_000);
    let shared = field(Arc::clone(&family), |endpoint| &endpoint.requests);
    let rt = Arc::new(field(Arc::clone(&family), |endpoint| &endpoint.rt));
    let weak = Arc::downgrade(&rt);
    let borrowed = field(&*family, |endpoint| &endpoint.requests);
    let expected = map(&[("route=/,method=Post,", 5.0)]);
    assert_eq!(numbers(&shared), expected);
    assert_eq!(numbers(&borrowed), expected);
    assert_eq!(numbers(&weak), map(&[("route=/,method=Post,", 1.0)]));
    assert_eq!(weak.outline().form, Form::Histogram(cart.rt.distribution().scale()));
    drop(rt);
    assert_eq!(numbers(&weak), map(&[]), "it is gone");
    assert_eq!(weak.refused(), None);
}

#[test]
fn a_weak_source_has_nothing_when_the_last_reference_is_gone() {
    let hits = Arc::new(Counter::new());
    let weak: Weak<dyn Source> = Arc::downgrade(&hits) as Weak<dyn Source>;
    assert_eq!(numbers(&weak).len(), 1);
    drop(hits);
    assert_eq!(numbers(&weak).len(), 0);
    assert_eq!(weak.outline().max_series, 1);
}

#[test]
fn a_catalog_refuses_what_no_exporter_could_show() {
    static HITS: Counter = Counter::new();
    let mut catalog = Catalog::new();
    catalog.add("hits", "Hits", &HITS).unwrap().unit = "By".into();
    assert_eq!(catalog.add("", "", &HITS).unwrap_err(), CatalogError::NoName);
    let taken = CatalogError::NameTaken { name: "hits".to_owned() };
    assert_eq!(catalog.add("hits", "", &HITS).unwrap_err(), taken);
    let reserved = |label: &str| CatalogError::ReservedLabel {
        name: "family".to_owned(),
        label: label.to_owned(),
    };
    let overflow = Family::<Reserved, Counter>::new();
    assert_eq!(catalog.add("family", "", overflow).unwrap_err(), reserved("overflow"));
    let make = || SlidingWindow::<Hits>::builder().build().unwrap();
    let windows = Family::<OfEvent, SlidingWindow<Hits>>::with_constructor(make);
    assert_eq!(catalog.add("family", "", windows).unwrap_err(), reserved("event"));
    let listed: Vec<_> = catalog.iter().map(|it| (&*it.name, &*it.help, &*it.unit)).collect();
    assert_eq!(listed, [("hits", "Hits", "By")]);
}
