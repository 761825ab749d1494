//! The memory of a family whose series were removed.

use windrow::{Counter, Family, labels};

use testkit::alone::in_each_strategy;

use crate::counting::own_bytes;

labels! {
    struct Client { client: u64 }
}

/// The number of series.
const MANY: u64 = 100_000;
/// The bytes of the table that may stay for each series: the table does not shrink.
const PLACE: i64 = 16;

#[test]
fn removed_series_give_their_memory_back() {
    in_each_strategy("families::removed");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn removed() {
    let clients = Family::<Client, Counter>::new().with_max_series(MANY as usize);
    let before_it = own_bytes();
    for client in 0..MANY {
        clients.with(Client { client }).increment();
    }
    let used = own_bytes() - before_it;
    assert_eq!(clients.retain(|_, _| false), MANY as usize);
    let mut left = own_bytes() - before_it;
    for _ in 0..100 {
        // A look at them frees those that no thread can be adding to any more.
        assert_eq!(clients.retain(|_, _| false), 0);
        left = own_bytes() - before_it;
    }
    println!("{used} bytes used, {left} left");
    assert!(left < PLACE * MANY.cast_signed(), "{left} bytes are left of {used}");
    assert_eq!(clients.lifetime(), MANY);
}
