//! What a window keeps allocated.

use windrow::clock::Manual;

use crate::common::{ns, window};
use crate::counting::live_bytes;
use crate::{Http, on_each_strategy};

const LENGTH: u64 = 10;

/// What a window of so many buckets keeps allocated, once it has gone round its ring a few times.
fn live_bytes_of(buckets: u32) -> i64 {
    let clock = Manual::default();
    let before = live_bytes();
    let window = window::<Http>(ns(LENGTH), buckets, &clock);
    for _ in 0..3 * buckets + 100 {
        clock.advance(ns(LENGTH));
        window.add(Http::Pass, 1);
        window.record(Http::Rt, 5);
    }
    let after = live_bytes();
    drop(window);
    after - before
}

#[test]
fn sixty_buckets_of_five_events_take_16_kilobytes_at_most() {
    on_each_strategy("memory::table");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn table() {
    live_bytes_of(2); // what the process and the thread allocate once
    println!("{:?}", windrow::strategy());
    for buckets in [2, 60, 600] {
        println!("{buckets:4} buckets {:8} bytes", live_bytes_of(buckets));
    }
    let sixty = live_bytes_of(60);
    assert!(sixty <= 16 << 10, "{sixty} bytes for 60 buckets");
}
