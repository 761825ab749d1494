//! The state of a family after a user's own code has panicked in it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use windrow::{Counter, Family, family::Metric};

use crate::metric_code::ends;
use crate::{Method, Number, Switch, Text};

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

/// "If the function panics, the call that needed the series panics too, and nothing is counted."
#[test]
fn an_overflow_series_that_cannot_be_made_refuses_no_use() {
    let fails = AtomicBool::new(true);
    let family = Family::<Text, Counter, _>::with_constructor(|| {
        assert!(!fails.load(Ordering::Relaxed), "no metric today");
        Counter::new()
    })
    .with_max_series(0);
    let add = || family.with(Text { text: "a" }).increment();
    assert!(panics(add));
    assert_eq!((family.refused(), family.lifetime(), family.iter().count()), (0, 0, 0));
    fails.store(false, Ordering::Relaxed);
    add();
    assert_eq!((family.refused(), family.lifetime(), family.iter().count()), (1, 1, 1));
}

/// Two threads make the same series. The dropped one takes no place, though its drop panics.
#[test]
fn a_metric_that_panics_as_it_is_dropped_leaves_its_room() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static BAD: AtomicBool = AtomicBool::new(true);
    struct Bad(Counter);
    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(!BAD.load(Ordering::Relaxed), "a bad drop");
        }
    }
    impl Metric for Bad {
        type Total = u64;
        fn total(&self) -> u64 {
            self.0.total()
        }
        fn merge(one: &mut u64, other: u64) {
            Counter::merge(one, other);
        }
    }
    let family: Family<Text, Bad> = Family::with_constructor(|| {
        MADE.fetch_add(1, Ordering::Relaxed);
        while MADE.load(Ordering::Relaxed) < 2 {
            thread::yield_now(); // until the other thread needs it, too
        }
        Bad(Counter::new())
    });
    let family = family.with_max_series(10);
    let add = || family.with(Text { text: "a" }).0.increment();
    let ends = thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(add)).map(thread::ScopedJoinHandle::join)
    });
    BAD.store(false, Ordering::Relaxed);
    assert_eq!(ends.iter().filter(|end| end.is_err()).count(), 1);
    assert_eq!((family.len(), family.lifetime()), (1, 1));
    for text in ["b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        family.with(Text { text }).0.increment();
    }
    assert_eq!((family.len(), family.refused()), (10, 0));
}

/// Looks at its family when it is dropped.
struct Looking(Counter);

static LOOKED_AT: Family<Number, Looking> = Family::with_constructor(|| Looking(Counter::new()));
static FAILS: AtomicBool = AtomicBool::new(false);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKED_AT.iter().for_each(drop);
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

impl Metric for Looking {
    type Total = u64;

    fn total(&self) -> u64 {
        let total = self.0.total();
        assert!(total < 1_000 || !FAILS.load(Ordering::Relaxed), "no total today");
        total
    }

    fn merge(one: &mut u64, other: u64) {
        *one += other;
    }
}

/// "A metric is made, and dropped, without the lock", also where what runs under it panics.
#[test]
fn no_metric_is_dropped_under_the_lock_while_a_panic_unwinds() {
    ends(|| {
        let bad = Number { number: 1_000 };
        LOOKED_AT.with(bad).0.add(1_000);
        let mut sum = 1_000;
        let churn = |number| {
            LOOKED_AT.with(Number { number }).0.increment();
            assert!(LOOKED_AT.remove(Number { number }));
        };
        // Other tests of this process may be pinned for a while.
        let goes_on = |number: &u64| *number < 40 || DROPPED.load(Ordering::Relaxed) == 0;
        for number in (0..1_000).take_while(goes_on) {
            churn(number);
            sum += 1;
            // One of these calls frees the removed metric, and each of them panics.
            for _ in 0..3 {
                assert!(panics(|| _ = LOOKED_AT.remove_if(bad, |_| panic!("no answer today"))));
                FAILS.store(true, Ordering::Relaxed);
                assert!(panics(|| _ = LOOKED_AT.lifetime()));
                FAILS.store(false, Ordering::Relaxed);
            }
        }
        assert!(DROPPED.load(Ordering::Relaxed) > 0, "some were freed meanwhile");
        assert_eq!(LOOKED_AT.lifetime(), sum);
    });
}

/// "Removes a series, if there is one": a series of enums that was removed is not one.
#[test]
fn a_condition_is_not_asked_of_a_series_that_is_not_there() {
    let family: Family<Switch, Counter> = Family::new();
    let on = Switch { method: Method::Get, on: true };
    family.with(on).add(3);
    assert!(family.remove(on));
    let mut asked = 0;
    assert!(!family.remove_if(on, |_| {
        asked += 1;
        true
    }));
    assert_eq!(asked, 0);
}
