//! The memory of a family is bounded, whatever labels come from outside.

use testkit::heap::{Counting, kept_by};
use windrow::{Counter, Family};

use crate::{Request, Text, request};

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
