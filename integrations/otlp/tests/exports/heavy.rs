//! The heaviest keys, which strangers choose.

use std::sync::Arc;
use std::time::Duration;

use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::export::top;
use windrow::heavy::MAX_TEXT_BYTES;
use windrow_otlp::Temporality;

use crate::receiver::{Receiver, Wire};
use crate::successes::{NEVER, exporter};

/// The heaviest keys are gauges, which may fall and go, in either temporality.
#[test]
fn the_heaviest_keys_arrive_as_gauges_and_all_others_as_overflow() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let receiver = Receiver::start(Wire::Http);
        let clock = Manual::default();
        let keys = HeavyKeys::<str>::builder(100).clock(clock.clone()).build().unwrap();
        let keys = Arc::new(keys);
        let shown = Arc::clone(&keys);
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .metric("heavy", "", top(move || shown.snapshot(), "client", 2))
            .start(NEVER)
            .unwrap();
        let odd = format!("\"}}\n{}", "x".repeat(MAX_TEXT_BYTES));
        let cut = format!("client={:?}", &odd[..MAX_TEXT_BYTES]);
        keys.add(&odd, 9);
        keys.add("b", 7);
        (0..5).for_each(|key| keys.add(&format!("light {key}"), 1));
        started.flush().unwrap();
        {
            let book = receiver.book();
            let point = book.last("heavy", &cut);
            assert_eq!((point.count(), point.temporality), (9.0, None), "a gauge");
            assert_eq!(book.last("heavy", "client=\"b\"").count(), 7.0);
            assert_eq!(book.last("heavy", "otel.metric.overflow=true").count(), 5.0);
        }
        receiver.book().clear();
        clock.advance(Duration::from_secs(1));
        keys.add("b", 2);
        started.flush().unwrap();
        let book = receiver.book();
        assert_eq!(book.last("heavy", "client=\"b\"").count(), 2.0, "it has fallen");
        assert_eq!(book.last("heavy", "otel.metric.overflow=true").count(), 0.0);
        let of_heavy = book.points().into_iter().filter(|point| point.metric == "heavy");
        assert_eq!(of_heavy.count(), 2);
    }
}
