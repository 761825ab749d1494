//! Families of several numbers: each field has instruments of its own.

use std::sync::Arc;

use opentelemetry_sdk::metrics::Temporality;
use windrow::export::field;
use windrow::{Counter, Family, Gauge, family::Metric};

use crate::{Sdk, User, points};

#[derive(Default)]
struct Endpoint {
    requests: Counter,
    open: Gauge,
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
fn fields_of_shared_families_are_exported_and_end_with_them() {
    let endpoints = Arc::new(Family::<User, Endpoint>::new());
    let sdk = Sdk::new(Temporality::Cumulative, None);
    let mut observer = sdk.observer();
    let requests = Arc::new(field(Arc::clone(&endpoints), |endpoint| &endpoint.requests));
    let open = Arc::new(field(Arc::clone(&endpoints), |endpoint| &endpoint.open));
    observer.observe("requests", "", Arc::downgrade(&requests)).unwrap();
    observer.observe("open", "", Arc::downgrade(&open)).unwrap();
    endpoints.with(User { user: 1 }).requests.add(3);
    endpoints.with(User { user: 1 }).open.add(-1);
    let points = sdk.collect();
    assert_eq!((points["requests{user=1}"], points["open{user=1}"]), (3.0, -1.0));
    drop((endpoints, requests, open));
    let points = sdk.collect();
    assert_eq!((points["requests{user=1}"], points["open{user=1}"]), (3.0, 0.0));
}

#[test]
fn each_field_of_several_numbers_has_instruments_of_its_own() {
    windrow::metrics! { struct Cache { hits: Counter, misses: Counter } }
    let caches = Arc::new(Family::<User, Cache>::new().with_max_series(1));
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe("cache", "Lookups", Arc::downgrade(&caches)).unwrap();
    for user in 1..=3 {
        let cache = caches.with(User { user });
        cache.hits.add(user);
        cache.misses.add(user);
    }
    assert_eq!(
        sdk.collect(),
        points(&[
            ("cache.hits{user=1}", 1.0),
            ("cache.hits{overflow=true}", 5.0),
            ("cache.misses{user=1}", 1.0),
            ("cache.misses{overflow=true}", 5.0),
            ("cache.overflow{}", 2.0),
        ])
    );
}
