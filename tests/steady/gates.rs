//! What a gate keeps allocated, to the byte; and that opening a bucket allocates nothing.

use windrow::Gate;
use windrow::clock::{Coarse, Manual};

use testkit::alone::in_each_strategy;
use testkit::ns;

use crate::counting::own_bytes;

const LENGTH: u64 = 10;
/// Four sheets, on two cache lines each.
const SHEETS: i64 = 4 * 128;
/// What was granted in each bucket before a sheet's, in two intervals; and where that is.
const fn before(buckets: i64) -> i64 {
    4 * (24 + 8 * (2 * buckets - 1))
}

#[test]
fn a_gate_takes_what_the_formula_says_and_opens_buckets_in_that() {
    in_each_strategy("gates::table");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn table() {
    for buckets in [1_u32, 2, 60, 600] {
        let clock = Manual::default();
        let before_it = own_bytes();
        let builder = Gate::builder(5).interval(ns(LENGTH * u64::from(buckets)));
        let gate = builder.buckets(buckets as usize).clock(clock.clone()).build().expect("sound");
        let built = own_bytes() - before_it;
        for _ in 0..1_000 {
            assert!(gate.try_admit(1) || gate.granted() == 5);
            clock.advance(ns(LENGTH));
        }
        assert_eq!(own_bytes() - before_it, built, "opening allocates");
        let in_place = size_of::<Gate<Coarse>>();
        println!("{buckets:4} buckets: {built} bytes on the heap, {in_place} in place");
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            assert_eq!(built, SHEETS + before(buckets.into()), "{buckets} buckets");
            assert_eq!(in_place, 128);
        }
    }
}
