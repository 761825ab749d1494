//! An export in the midst of a record, whose value is in the sum and in no cell yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windrow::Histogram;
use windrow::export::{Outline, Series, Source};
use windrow_otlp::Temporality;

use crate::book::Data;
use crate::receiver::{Receiver, WIRES};
use crate::successes::{NEVER, exporter};

/// A histogram that is read as `before` until a record begins, and as `after` from then on.
///
/// Each has a value of its own in the same cell: so the sum changes first, and no cell does.
#[derive(Default)]
struct Torn {
    before: Histogram,
    after: Histogram,
    has_begun: AtomicBool,
}

impl Source for Torn {
    fn outline(&self) -> Outline {
        self.before.outline()
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        let has_begun = self.has_begun.load(Ordering::Relaxed);
        if has_begun { &self.after } else { &self.before }.visit(see);
    }
}

#[test]
fn a_sum_whose_count_is_still_to_come_is_sent_with_it() {
    for wire in WIRES {
        let receiver = Receiver::start(wire);
        let torn = Arc::new(Torn::default());
        torn.before.record(1_000);
        torn.after.record(1_001); // of a record of 1 that has added to the sum
        let started = exporter(&receiver, wire)
            .temporality(Temporality::Delta)
            .metric("rt", "", Arc::clone(&torn))
            .start(NEVER)
            .unwrap();
        started.flush().unwrap();
        torn.has_begun.store(true, Ordering::Relaxed);
        started.flush().unwrap();
        torn.after.record(0); // now it adds to its cell
        started.flush().unwrap();
        let points = receiver.book().of("rt", "");
        let sent: Vec<_> = points
            .iter()
            .map(|point| match &point.data {
                Data::Exponential(point) => (point.count, point.sum),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(sent, [(1, Some(1_000.0)), (1, Some(1.0))]);
    }
}
