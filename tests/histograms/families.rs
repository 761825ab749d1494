//! Families of histograms: each set of labels has its own cells, and those of series that leave
//! stay in the lifetime.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use testkit::Rng;
use windrow::{
    Family, Histogram,
    family::Metric,
    histogram::{Distribution, Scale},
    labels,
};

use crate::{counts, distribution};

labels! { struct Route { route: str } }

/// Returns all that a family has recorded, of one scale.
fn all(family: &Family<Route<'static>, Histogram>) -> Distribution {
    let [all] = &family.lifetime()[..] else { panic!("{:?}", family.lifetime()) };
    all.clone()
}

#[test]
fn what_a_removed_series_has_recorded_stays_in_the_lifetime_cell_by_cell() {
    let family: Family<Route, Histogram> = Family::new();
    assert!(family.lifetime().is_empty());
    let (one, other) = ([600, 40_000, 40_001], [0, 700, 1 << 40]);
    for (one, other) in one.into_iter().zip(other) {
        family.with(Route { route: "/a" }).record(one);
        family.with(Route { route: "/b" }).record(other);
    }
    _ = family.with(Route { route: "/a" }).take(); // a drain does not change the lifetime
    let expected = distribution(Scale::DEFAULT, &[one, other].concat());
    assert_eq!(all(&family), expected);
    assert!(family.remove(Route { route: "/a" }));
    assert_eq!(all(&family), expected);
    assert!(family.remove(Route { route: "/b" }));
    family.retain(|_, _| true);
    assert_eq!(all(&family), expected);
    assert!(family.with(Route { route: "/a" }).distribution().count() == 0, "it begins anew");
    assert_eq!(all(&family), expected);
}

#[test]
fn a_finer_scale_of_a_family_stays_as_fine_when_series_leave() {
    const FINE: Scale = Scale::fixed::<5, 1, 1_000>();
    let family: Family<Route, Histogram> = Family::with_constructor(|| Histogram::with_scale(FINE));
    for route in ["/a", "/b"] {
        (1..=100).for_each(|value| family.with(Route { route }).record(value));
        assert!(family.remove(Route { route }));
    }
    let twice: Vec<u64> = (1..=100).flat_map(|value| [value, value]).collect();
    assert_eq!(all(&family), distribution(FINE, &twice));
}

#[test]
fn distributions_of_several_scales_stay_side_by_side_and_lose_no_count() {
    let coarse = Scale::new(0, 1_000, 2_000).unwrap();
    let mut total = Vec::new();
    // The values below the range of the one are in the range of the other: they could not be
    // merged.
    for (scale, values) in
        [(coarse, [1, 2, 1_500]), (Scale::DEFAULT, [600, 700, 800]), (coarse, [3, 1, 9])]
    {
        Histogram::merge(&mut total, vec![distribution(scale, &values)]);
    }
    let expected = [
        distribution(coarse, &[1, 2, 1_500, 3, 1, 9]),
        distribution(Scale::DEFAULT, &[600, 700, 800]),
    ];
    assert_eq!(total, expected);
}

/// Threads record to a few series that are removed and come back, while another reads what all have
/// recorded.
#[test]
fn no_record_is_lost_while_series_come_and_go() {
    const RECORDS: u64 = 10_000;
    let family: Family<Route, Histogram> = Family::new().with_max_series(6);
    let routes = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"]; // two beyond the limit
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..3 {
            let (family, done) = (&family, &done);
            scope.spawn(move || {
                let mut random = Rng::with_seed(thread);
                for record in 0..RECORDS {
                    let labels = Route { route: routes[random.usize(..routes.len())] };
                    if random.u8(..64) == 0 {
                        family.remove(labels);
                    }
                    family.with(labels).record(record);
                }
                done.fetch_add(1, Ordering::Release);
            });
        }
        let mut last = Vec::new();
        while done.load(Ordering::Acquire) < 3 {
            let now: Vec<u64> = cumulative(&family);
            assert!(last.iter().zip(&now).all(|(last, now)| last <= now), "{last:?}, then {now:?}");
            last = now;
        }
    });
    family.retain(|_, _| false);
    let values: Vec<u64> = (0..RECORDS).flat_map(|record| [record; 3]).collect();
    let expected = distribution(Scale::DEFAULT, &values);
    assert_eq!(counts(&all(&family)), counts(&expected));
    assert_eq!(all(&family).sum(), expected.sum());
}

/// Returns the number of values up to each power of two, of all series and of removed ones.
fn cumulative(family: &Family<Route<'static>, Histogram>) -> Vec<u64> {
    let [all] = &family.lifetime()[..] else { return vec![0; 6] };
    all.buckets((9..15).map(|power| 1 << power)).map(|(_, count)| count).collect()
}
