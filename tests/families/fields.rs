//! Metrics of several numbers: all fields of a series are there or none, so ratios stay true where
//! a family is full.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use windrow::export::{Form, Value, fields};
use windrow::histogram::Scale;
use windrow::{Counter, Family, Gauge, Histogram, InFlight, Maximum, SlidingWindow};
use windrow::{events, labels, metrics};

labels! {
    enum Outcome { Hit = "hit", Miss = "miss" }
    struct Tenant { tenant: u32 }
    struct Lookup { tenant: u32, outcome: Outcome }
}

events! { enum Http { Pass: Count, Rt: Value } }

metrics! {
    /// The lookups of a tenant.
    pub struct Cache {
        /// Those that found something.
        pub hits: Counter,
        misses: Counter,
        r#type: Gauge,
        bytes: Histogram = Histogram::with_scale(Scale::fixed::<2, 1, 4_096>()),
    }

    struct Endpoint {
        cache: Cache,
        window: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 6),
        open: InFlight,
        longest: Maximum,
    }
}

/// Each tenant hits as often as it misses.
fn ask(tenants: u32, hit: impl Fn(u32), miss: impl Fn(u32)) {
    for tenant in 0..tenants {
        hit(tenant);
        miss(tenant);
    }
}

#[test]
fn a_label_for_the_outcome_is_a_trap_where_a_family_is_full() {
    let lookups = Family::<Lookup, Counter>::new();
    let count = |outcome| {
        let lookups = &lookups;
        move |tenant| lookups.with(Lookup { tenant, outcome }).increment()
    };
    ask(600, count(Outcome::Hit), |_| {});
    ask(600, |_| {}, count(Outcome::Miss));
    let has = |tenant, outcome| {
        let is = |labels: Lookup| labels.tenant == tenant && labels.outcome == outcome;
        lookups.iter().any(|series| series.labels().is_some_and(is))
    };
    let only_hits = |tenant: &u32| has(*tenant, Outcome::Hit) && !has(*tenant, Outcome::Miss);
    assert_eq!((0..600).filter(only_hits).count(), 200, "as the guide tells");
}

#[test]
fn ratios_are_true_for_each_tenant_and_in_the_overflow_series() {
    for (tenants, series) in [(600, 600), (1_600, 1_000)] {
        let caches = Family::<Tenant, Cache>::new();
        ask(tenants, |tenant| caches.with(Tenant { tenant }).hits.increment(), |_| {});
        ask(tenants, |_| {}, |tenant| caches.with(Tenant { tenant }).misses.increment());
        assert_eq!(caches.len(), series);
        let all: Vec<_> = caches.iter().map(|one| (one.hits.sum(), one.misses.sum())).collect();
        assert!(all.iter().all(|(hits, misses)| hits == misses), "{all:?}");
        let total = caches.lifetime();
        assert_eq!((total.hits, total.misses), (tenants.into(), tenants.into()));
        assert_eq!(caches.refused(), 2 * u64::from(tenants - series as u32));
    }
}

#[test]
fn what_a_removed_series_counted_stays_field_by_field() {
    let endpoints = Family::<Tenant, Endpoint>::new();
    for tenant in 0..3 {
        let endpoint = endpoints.handle(Tenant { tenant });
        endpoint.cache.hits.add(u64::from(tenant));
        endpoint.cache.r#type.decrement();
        endpoint.cache.bytes.record(700);
        endpoint.window.record(Http::Rt, 9);
        endpoint.longest.record(u64::from(tenant));
    }
    assert!(endpoints.remove(Tenant { tenant: 2 }));
    let total = endpoints.lifetime();
    assert_eq!((total.cache.hits, total.cache.misses, total.cache.r#type), (3, 0, -3));
    assert_eq!((total.cache.bytes[0].count(), total.longest), (3, Some(2)));
    assert_eq!(total.window.stats(Http::Rt).sum, 27);
    assert!(
        format!("{:?}", endpoints.with(Tenant { tenant: 1 }))
            .starts_with("Endpoint { cache: Cache { hits")
    );
}

#[test]
fn threads_that_meet_at_a_new_series_lose_nothing() {
    let caches = Family::<Tenant, Cache>::new().with_max_series(50);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let both = |tenant| {
                    let cache = caches.with(Tenant { tenant });
                    cache.hits.increment();
                    cache.misses.increment();
                };
                (0..100).cycle().take(10_000).for_each(both);
            });
            scope.spawn(|| {
                let removed = (0..100).filter(|&tenant| caches.remove(Tenant { tenant })).count();
                assert!(removed <= 100);
            });
        }
    });
    let total = caches.lifetime();
    assert_eq!((total.hits, total.misses), (40_000, 40_000));
    assert!(caches.iter().all(|one| one.hits.sum() == one.misses.sum()));
}

#[test]
fn a_source_is_taken_apart_into_its_fields_and_theirs() {
    let endpoints = Arc::new(Family::<Tenant, Endpoint>::new().with_max_series(1));
    let taken = fields(Arc::new(Arc::clone(&endpoints)));
    let names: Vec<_> = taken.iter().map(|field| field.full_name("shop", ".")).collect();
    let expected = ["cache_hits", "cache_misses", "cache_type", "cache_bytes"];
    let expected = expected.into_iter().chain(["window", "open", "longest"]);
    assert_eq!(names, expected.map(|name| format!("shop.{name}")).collect::<Vec<_>>());
    let in_unit: Vec<_> = taken.iter().map(|field| field.is_in_unit).collect();
    assert_eq!(in_unit, [false, false, false, true, true, false, true]);
    let forms: Vec<_> = taken.iter().map(|field| field.source.outline().form).collect();
    let scale = Scale::fixed::<2, 1, 4_096>();
    assert_eq!(forms[..4], [Form::Counter, Form::Counter, Form::Gauge, Form::Histogram(scale)]);
    assert!(taken.iter().all(|field| field.source.outline().labels == ["tenant"]));

    for tenant in [7, 8, 9] {
        endpoints.with(Tenant { tenant }).cache.misses.add(tenant.into());
    }
    let mut seen = Vec::new();
    taken[1].source.visit(&mut |series| {
        let reading = series.metric().read();
        let part = reading.form.parts().next().expect("a counter");
        reading.samples(part, &mut |sample| {
            let Value::Count(count) = sample.value else { panic!("{sample:?}") };
            seen.push((series.is_overflow(), count));
        });
    });
    assert_eq!(seen, [(false, 7), (true, 17)]);
    assert_eq!(taken[1].source.refused(), Some(2));
}

#[test]
fn a_field_that_exporters_would_hide_behind_a_label_is_refused() {
    labels! { struct OfEvent { event: str } }
    let endpoints = Arc::new(Family::<OfEvent, Endpoint>::new());
    let error = windrow::export::Catalog::new().add("shop", "", endpoints).unwrap_err();
    assert!(error.to_string().contains("\"event\""), "{error}");
}
