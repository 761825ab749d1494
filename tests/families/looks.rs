//! To look at a series is not to use it.

use std::thread;
use std::time::Duration;

use windrow::{Counter, Family};

use crate::{Method, Switch, Text};

#[test]
fn a_look_at_a_set_makes_no_series_and_is_no_use() {
    let family: Family<Text, Counter> = Family::new().with_max_series(1);
    let (a, b) = (Text { text: "a" }, Text { text: "b" });
    assert!(family.get(a).is_none());
    family.with(a).add(3);
    family.with(b).add(4);
    let sum = |labels| family.get(labels).map(|counter| counter.sum());
    assert_eq!((sum(a), sum(b)), (Some(3), None));
    assert_eq!((family.len(), family.refused()), (1, 1));
    let nap = Duration::from_millis(20);
    let mut looks = 0;
    while family.retain(|_, idle| idle < nap) == 0 {
        assert!(family.get(a).is_some());
        looks += 1;
        assert!(looks < 100, "it is in use");
        thread::sleep(nap);
    }
    assert!(looks > 0 && family.get(a).is_none());

    let switches: Family<Switch, Counter> = Family::new();
    let on = Switch { method: Method::Get, on: true };
    assert!(switches.get(on).is_none());
    switches.with(on).add(2);
    assert_eq!(switches.get(on).map(|counter| counter.sum()), Some(2));
    assert!(switches.remove(on));
    assert!(switches.get(on).is_none());
    assert_eq!(switches.len(), 0);
}
