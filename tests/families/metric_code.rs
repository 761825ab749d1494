//! A user's own metric: its code runs where a family makes, keeps and drops it.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use windrow::{Counter, Family, family::Metric};

use crate::Number;

/// Looks at its family when it is dropped.
#[derive(Default)]
struct Looking(Counter);

static LOOKED_AT: Family<Number, Looking> = Family::new();

impl Drop for Looking {
    fn drop(&mut self) {
        assert!(LOOKED_AT.lifetime() > 0);
        LOOKED_AT.with(Number { number: 1_000 }).0.increment();
    }
}

impl Metric for Looking {
    type Total = u64;

    fn total(&self) -> u64 {
        self.0.lifetime()
    }

    fn merge(one: &mut u64, other: u64) {
        *one += other;
    }
}

/// Returns what `act` returns, if it does return.
pub(crate) fn ends<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(act()));
    told.recv_timeout(Duration::from_secs(60)).expect("it ends")
}

#[test]
fn a_metric_may_look_at_its_family_when_it_is_dropped() {
    ends(|| {
        for number in 0..50 {
            LOOKED_AT.with(Number { number }).0.increment();
            assert!(LOOKED_AT.remove(Number { number }));
        }
        LOOKED_AT.with(Number { number: 50 }).0.increment();
        LOOKED_AT.retain(|_, _| false);
        // Until all are freed except the one in which each drop counts.
        while LOOKED_AT.lifetime() < 51 + 51 {
            thread::yield_now();
        }
    });
}

#[test]
fn what_makes_a_metric_may_look_at_its_family() {
    static FAMILY: Family<Number, Counter> = Family::with_constructor(|| {
        // (The family is empty: the metric being made is not a series yet.)
        Counter::from(FAMILY.lifetime() + 1)
    });
    let sums = ends(|| [0, 1].map(|number| FAMILY.handle(Number { number }).sum()));
    assert_eq!(sums, [1, 2]);
}

/// A removal costs the same with and without them. The test compares the quickest of many, in
/// turns.
#[test]
fn a_removal_does_not_look_at_all_that_handles_keep() {
    let families = [0, 40_000].map(|kept| {
        let family: Family<Number, Counter> = Family::new().with_max_series(kept + 10);
        let of = |number| Number { number: 10 + number as u64 };
        let handles: Vec<_> = (0..kept).map(|number| family.handle(of(number))).collect();
        assert_eq!((0..kept).filter(|number| family.remove(of(*number))).count(), kept);
        (family, handles)
    });
    let mut quickest = [Duration::MAX; 2];
    for _ in 0..200 {
        for ((family, _), quickest) in families.iter().zip(&mut quickest) {
            family.with(Number { number: 1 }).increment();
            let begin = Instant::now();
            assert!(family.remove(Number { number: 1 }));
            *quickest = begin.elapsed().min(*quickest);
        }
    }
    let [without, with] = quickest;
    assert!(with < 20 * without, "{with:?} instead of {without:?}");
    let (family, handles) = &families[1];
    assert_eq!((family.len(), family.lifetime(), handles.len()), (0, 200, 40_000));
}
