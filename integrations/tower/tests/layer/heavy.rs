//! Limits of heavy keys alone: a gate for those that ask much, and no refusal for all others.

use std::time::Duration;

use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow_tower::LimitLayer;

use crate::limited::{Client, client, from, limits, status};

const FREE: u64 = 10;
const LIMIT: u64 = 100;

/// One of a million clients asks much: it is held back, and no other is.
#[tokio::test]
async fn of_many_clients_the_heavy_one_is_limited_and_no_other() {
    limits!(CLIENTS, CLOCK: 50, |_| LIMIT);
    let asked = HeavyKeys::<str>::builder(100).shards(2).clock(CLOCK.clone()).build().unwrap();
    let asked: &HeavyKeys<str, Manual> = Box::leak(Box::new(asked));
    let layer = LimitLayer::new(&CLIENTS, |parts| {
        let Client { client } = client(parts)?;
        let is_heavy = asked.add_and_weigh(client, 1) > FREE;
        let client = Client { client };
        (is_heavy || CLIENTS.family().get(client).is_some()).then_some(client)
    });
    let (mut others, mut passed) = (0, Vec::new());
    for second in 0..4 {
        let mut heavy = 0;
        for step in 0..1_000 {
            if step % 2 == 0 {
                heavy += u64::from(status(&layer, from("heavy")).await == 200);
            }
            // Two requests of each, in seconds that follow each other.
            others += 1;
            let name = format!("{}", others / 2);
            assert_eq!(status(&layer, from(&name)).await, 200, "second {second}: {name}");
            if step % 100 == 0 {
                CLOCK.advance(Duration::from_millis(100));
            }
        }
        passed.push(heavy);
    }
    assert_eq!(CLIENTS.family().len(), 1, "only the heavy one has a gate");
    // Two shards, two buckets and the one that begins: see the crate's documentation.
    let before = 2 * 3 * (FREE + 2_000 / 100);
    assert!((LIMIT..=LIMIT + before).contains(&passed[0]), "{passed:?}");
    assert!(passed[1..].iter().all(|passed| (LIMIT..=LIMIT + LIMIT / 10).contains(passed)));
}
