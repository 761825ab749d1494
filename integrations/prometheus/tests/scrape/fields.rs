//! A family of several numbers is registered once, and each field is a metric of its own.

use std::sync::Arc;

use prometheus_client::{encoding::text::encode, registry::Registry};
use windrow::export::Catalog;
use windrow::{Counter, Family, Gauge, Histogram, labels, metrics};
use windrow_prometheus::registry::register;
use windrow_prometheus::{Buckets, Exposition, Format, RegisterError, buckets};

labels! { struct Tenant { tenant: str } }

metrics! { struct Cache { hits: Counter, misses: Counter, open: Gauge, bytes: Histogram } }

/// Returns a family with room for one tenant, which two have used.
fn caches() -> Arc<Family<Tenant<'static>, Cache>> {
    let caches = Family::<Tenant, Cache>::new().with_max_series(1);
    for (tenant, count) in [("a", 1), ("b", 10)] {
        let cache = caches.with(Tenant { tenant });
        cache.hits.add(count);
        cache.misses.add(count);
        cache.open.add(-2);
        cache.bytes.record(1 << 20);
    }
    Arc::new(caches)
}

fn samples(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{")).collect()
}

#[test]
fn each_field_is_a_metric_and_the_overflow_is_shown_once() {
    let mut metrics = Exposition::new().with_prefix("shop");
    metrics.register("cache", "Lookups", caches()).unwrap();
    let text = metrics.to_string();
    let expected = [
        r#"shop_cache_hits_total{tenant="a"} 1"#,
        r#"shop_cache_hits_total{overflow="true"} 10"#,
        "shop_cache_overflow_total 1",
        r#"shop_cache_misses_total{tenant="a"} 1"#,
        r#"shop_cache_misses_total{overflow="true"} 10"#,
        r#"shop_cache_open{tenant="a"} -2"#,
        r#"shop_cache_open{overflow="true"} -2"#,
        r#"shop_cache_bytes_sum{tenant="a"} 1.048576e+06"#,
        r#"shop_cache_bytes_count{tenant="a"} 1"#,
        r#"shop_cache_bytes_sum{overflow="true"} 1.048576e+06"#,
        r#"shop_cache_bytes_count{overflow="true"} 1"#,
    ];
    let mut shown = samples(&text);
    let mut expected = expected.to_vec();
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected, "{text}");
    assert_eq!(text.matches("# TYPE ").count(), 5);
}

#[test]
fn a_unit_and_a_divisor_hold_for_values_and_not_for_counts() {
    let mut catalog = Catalog::new();
    catalog.add("cache", "", caches()).unwrap().unit = "By".into();
    let mut metrics = Exposition::new();
    metrics.register_all(&catalog).unwrap();
    let megabytes = buckets(caches(), Buckets::octaves().per(1 << 20));
    metrics.register_in("mebibytes", "mega", "", megabytes).unwrap();
    let text = String::from_utf8(metrics.encode(Format::OPENMETRICS)).unwrap();
    assert!(text.contains("# UNIT cache_bytes bytes\n"), "{text}");
    assert!(text.contains("\ncache_hits_total{tenant=\"a\"} 1\n"), "{text}");
    assert!(text.contains("\nmega_bytes_mebibytes_sum{tenant=\"a\"} 1.0\n"), "{text}");
    assert!(text.contains("\nmega_hits_total{tenant=\"a\"} 1\n"), "{text}");
}

#[test]
fn a_name_that_one_field_would_take_refuses_all() {
    static MISSES: Counter = Counter::new();
    let mut metrics = Exposition::new();
    metrics.register("cache_misses", "", &MISSES).unwrap();
    let error = metrics.register("cache", "", caches()).unwrap_err();
    assert_eq!(error, RegisterError::NameTaken { name: "cache_misses".to_owned() });
    assert_eq!(samples(&metrics.to_string()), ["cache_misses_total 0"]);
    metrics.register("caches", "", caches()).unwrap();
}

#[test]
fn a_registry_shows_the_same_fields() {
    let caches = caches();
    let mut registry = Registry::default();
    register(&mut registry, "cache", "Lookups", Arc::clone(&caches)).unwrap();
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    assert!(text.contains("\ncache_misses_total{overflow=\"true\"} 10\n"), "{text}");
    assert_eq!(text.matches("cache_overflow_total 1\n").count(), 1, "{text}");
    drop(caches);
}
