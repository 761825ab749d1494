//! The memory of a family is bounded, whatever labels come from outside.

use std::sync::Arc;

use testkit::heap::{Counting, kept_by};
use windrow::{Counter, Family, family::Metric};

use crate::metric_code::ends;
use crate::{Number, Request, Text, request};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes of texts that a family keeps of a series at most.
const LONGEST: usize = 1_024;

#[test]
fn long_values_do_not_fill_the_memory() {
    let family: Family<Text, Counter> = Family::new();
    let ((), kept) = kept_by(|| {
        let filler = "x".repeat(1 << 20); // a mebibyte
        for number in 0..1_000 {
            family.with(Text { text: &format!("{number}{filler}") }).increment();
        }
    });
    // At most 1 000 series, of which each has a kibibyte of texts, a counter, and a place.
    assert!(kept < 2_000_000, "{kept} bytes are kept");
    assert_eq!(family.lifetime(), 1_000);
}

/// The last text that is kept, and the first that is not.
#[test]
fn a_set_with_longer_texts_than_are_kept_counts_with_those_that_found_no_room() {
    let family: Family<Text, Counter> = Family::new();
    let text = "x".repeat(LONGEST + 1);
    for (length, series, refused) in [(LONGEST, 1, 0), (LONGEST + 1, 1, 1), (0, 2, 1)] {
        family.with(Text { text: &text[..length] }).increment();
        assert_eq!((family.len(), family.refused()), (series, refused), "{length} bytes");
    }
    assert_eq!(family.handle(Text { text: &text }).labels(), None);
    assert!(!family.remove(Text { text: &text }));
}

/// All texts of a set together, those of enums included.
#[test]
fn the_texts_of_a_set_are_measured_together() {
    let family: Family<Request, Counter> = Family::new();
    let text = "x".repeat(LONGEST - "POST".len() - "true".len() + 1);
    family.with(request(&text[1..])).increment();
    assert_eq!((family.len(), family.refused()), (1, 0));
    family.with(request(&text)).increment();
    assert_eq!((family.len(), family.refused()), (1, 1));
}

/// Series are removed by a clock hand while they are in use, and their handles are dropped later.
/// They are freed as others are removed, and as fast as they come.
#[test]
fn series_that_were_in_use_when_they_were_removed_do_not_fill_the_memory() {
    struct Tracked {
        counter: Counter,
        _token: Arc<()>,
    }

    impl Metric for Tracked {
        type Total = u64;

        fn total(&self) -> u64 {
            self.counter.total()
        }

        fn merge(one: &mut u64, other: u64) {
            Counter::merge(one, other);
        }
    }

    ends(|| {
        let token = Arc::new(());
        let make = || Tracked { counter: Counter::new(), _token: Arc::clone(&token) };
        let family = Family::<Number, Tracked, _>::with_constructor(make).with_max_series(16);
        let there = || Arc::strong_count(&token) - 1;
        let (mut number, mut most) = (0, 0);
        // Other tests of this process may be pinned for a while.
        while number < 20_000 || there() > 1_000 {
            assert!(number < 2_000_000, "{} series are kept", there());
            let use_one = |number| {
                let series = family.with(Number { number });
                series.counter.increment();
                assert_eq!(family.retain_next(usize::MAX, |_| false), 1);
                series.keep()
            };
            let handles: Vec<_> = (number..number + 100).map(use_one).collect();
            number += 100;
            family.retain_next(1, |_| true);
            most = most.max(there());
            drop(handles);
        }
        assert_eq!(family.lifetime(), number);
        assert!(most >= 100, "they are in use");
    });
}
