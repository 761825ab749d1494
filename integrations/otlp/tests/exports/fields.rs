//! A family of several numbers is given once, and each field arrives as a metric of its own.

use std::sync::Arc;

use windrow::export::Catalog;
use windrow::{Counter, Family, Histogram, metrics};
use windrow_otlp::Temporality;

use crate::receiver::{Receiver, Wire};
use crate::successes::{NEVER, Request, exporter};

metrics! { struct Cache { hits: Counter, misses: Counter, bytes: Histogram } }

#[test]
fn each_field_arrives_and_the_overflow_arrives_once() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let receiver = Receiver::start(Wire::Http);
        let caches = Arc::new(Family::<Request, Cache>::new().with_max_series(1));
        let mut catalog = Catalog::new();
        catalog.add("cache", "Lookups", Arc::clone(&caches)).unwrap().unit = "By".into();
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .catalog(&catalog)
            .start(NEVER)
            .unwrap();
        for _ in 0..2 {
            for (route, count) in [("/a", 1), ("/b", 2), ("/c", 3)] {
                let cache = caches.with(Request { route, status: 200 });
                cache.hits.add(count);
                cache.misses.add(count);
                cache.bytes.record(700);
            }
            started.flush().unwrap();
        }
        let book = receiver.book();
        for metric in ["cache.hits", "cache.misses"] {
            let all = book.added_up(metric);
            assert_eq!(all["route=\"/a\",status=200"].0, 2.0);
            assert_eq!(all["otel.metric.overflow=true"].0, 10.0);
            assert_eq!(all.len(), 2);
        }
        assert_eq!(book.added_up("cache.bytes")["otel.metric.overflow=true"].0, 4.0);
        assert_eq!(book.count("cache.overflow", ""), 4.0);
        let unit = |name: &str| {
            let of =
                |metric: &&opentelemetry_proto::tonic::metrics::v1::Metric| metric.name == name;
            book.metrics().find(of).expect(name).unit.clone()
        };
        assert_eq!(["cache.hits", "cache.bytes"].map(unit), ["", "By"]);
        assert!(book.metrics().all(|metric| metric.name != "cache.hits.overflow"));
    }
}
