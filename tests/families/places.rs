//! Places of a family: a set of labels is refused only if all places are other sets'.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use testkit::{Rng, race};
use windrow::{Counter, Family};

use crate::Number;

/// The number of schedules; the environment variable `PLACE_SCHEDULES` asks for another.
fn schedules() -> u64 {
    let told = std::env::var("PLACE_SCHEDULES").ok();
    told.map_or(20_000, |number| number.parse().expect("a number"))
}

/// Lets time pass, so that the threads of a schedule meet anywhere.
fn dawdle(random: &mut Rng) {
    match random.u8(..16) {
        0 => thread::yield_now(),
        _ => (0..random.u32(..64)).for_each(|_| spin_loop()),
    }
}

/// Runs schedules of three threads that each use a new family with `places` at random, and returns
/// the number of refused uses.
fn refused(places: usize, body: impl Fn(&Family<Number, Counter>, &mut Rng) + Sync) -> u64 {
    const THREADS: usize = 3;
    const TOGETHER: u64 = 256;
    let mut refused = 0;
    for first in (0..schedules()).step_by(TOGETHER as usize) {
        let new = || Family::<Number, Counter>::new().with_max_series(places);
        let families: Vec<_> = (0..TOGETHER).map(|_| new()).collect();
        let arrived = AtomicUsize::new(0);
        race(THREADS, |thread| {
            for (index, family) in families.iter().enumerate() {
                arrived.fetch_add(1, Ordering::AcqRel);
                while arrived.load(Ordering::Acquire) < (index + 1) * THREADS {
                    thread::yield_now(); // all threads come to a family together
                }
                let seed = (first + index as u64) * THREADS as u64 + thread as u64;
                body(family, &mut Rng::with_seed(seed));
            }
        });
        for family in families {
            let series = family.iter().filter(|series| series.labels().is_some()).count();
            assert!(series <= places && series == family.len(), "{series}, {}", family.len());
            assert_eq!(family.lifetime(), 3 * THREADS as u64);
            refused += family.refused();
        }
    }
    refused
}

fn add(family: &Family<Number, Counter>, number: u64) {
    family.with(Number { number }).increment();
}

/// Three threads use the same sets, each of which has a place.
#[test]
fn no_set_is_refused_while_there_is_a_place_for_each() {
    for places in 1..=3 {
        let refused = refused(places, |family, random| {
            for _ in 0..3 {
                dawdle(random);
                add(family, random.u64(..places as u64));
            }
        });
        assert_eq!(refused, 0, "with {places} places");
    }
}

/// Series are removed and come back meanwhile. The other sets never have all places.
#[test]
fn no_set_is_refused_beside_removals_while_there_is_a_place_for_each() {
    for places in 1..=3 {
        let refused = refused(places, |family, random| {
            for _ in 0..3 {
                dawdle(random);
                add(family, random.u64(..places as u64));
                dawdle(random);
                match random.u8(..3) {
                    0 => _ = family.remove(Number { number: random.u64(..places as u64) }),
                    1 => _ = family.retain_next(1, |_| false),
                    _ => {}
                }
            }
        });
        assert_eq!(refused, 0, "with {places} places");
    }
}
