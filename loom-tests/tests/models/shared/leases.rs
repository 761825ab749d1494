//! Leases: each permit of a lease is taken once, by its own end, or is part of the rest.
//!
//! Explores threads that take and put back while the machine's thread ends the lease and begins
//! another one in its place: with a later end, and with an earlier one.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::{sync::Arc, turn};

use super::permits::Permits;
use super::{late, spawn};

/// The end of the first lease.
const FIRST: u64 = 10;

/// Takes one at a time. Returns the ends of what was taken.
fn take(permits: &Permits, now: u64, times: u64) -> Vec<u64> {
    turn();
    (0..times).filter_map(|_| permits.take_for(now, 1)).collect()
}

fn count(taken: &[u64], end: u64) -> u64 {
    taken.iter().filter(|of| **of == end).count() as u64
}

fn leases(granted: u64) -> Arc<Permits> {
    let permits = Permits::new();
    permits.begin(0, FIRST, granted);
    Arc::new(permits)
}

/// Each permit is in one place: it was taken, is in the rest, or was put back late.
fn check(permits: &Permits, taken: &[u64], rests: [u64; 2], second: u64, granted: [u64; 2]) {
    let late = permits.late();
    for (lease, end) in [FIRST, second].into_iter().enumerate() {
        let late: u64 = late.iter().filter(|(of, _)| *of == end).map(|(_, count)| count).sum();
        let found = count(taken, end) + rests[lease] + late;
        assert_eq!(found, granted[lease], "of lease {lease}: {taken:?}, {rests:?}");
    }
}

/// One thread takes, and another one ends the lease and begins the next, with this end.
fn take_against_the_next_lease(second: u64) {
    let permits = leases(2);
    let other = spawn(&permits, |permits| take(permits, 5, 2));
    let first = permits.end(0);
    permits.begin(0, second, 2);
    let mut taken = take(&permits, 5, 1);
    taken.extend(other.join().unwrap());
    let rests = [first, permits.end(0)];
    check(&permits, &taken, rests, second, [2, 2]);
}

#[test]
fn take_against_a_lease_that_ends_later() {
    Model::new("shared::leases::take_against_a_lease_that_ends_later")
        .explore(|| take_against_the_next_lease(20));
}

/// An answer whose ask was sent earlier may come later.
#[test]
fn take_against_a_lease_that_ends_earlier() {
    Model::new("shared::leases::take_against_a_lease_that_ends_earlier")
        .explore(|| take_against_the_next_lease(8));
}

/// At a time when the first lease is over, none of its permits is taken.
#[test]
fn take_behind_the_end_of_a_lease() {
    Model::new("shared::leases::take_behind_the_end_of_a_lease").explore(|| {
        let permits = leases(3);
        let other = spawn(&permits, |permits| take(permits, FIRST, 3));
        let first = permits.end(0);
        permits.begin(0, 20, 1);
        let taken = other.join().unwrap();
        assert_eq!(first, 3, "taken behind the end: {taken:?}");
        check(&permits, &taken, [first, permits.end(0)], 20, [3, 1]);
    });
}

/// Two threads take all that there is.
#[test]
fn take_against_take() {
    Model::new("shared::leases::take_against_take").explore(|| {
        let permits = leases(3);
        let other = spawn(&permits, |permits| take(permits, 5, 2));
        let mut taken = take(&permits, 5, 2);
        taken.extend(other.join().unwrap());
        assert_eq!(taken, [FIRST; 3]);
        assert_eq!(permits.end(0), 0);
    });
}

/// A permit that is put back is in its own lease again, or in the list: never in the next lease.
fn put_back_against_the_next_lease(second: u64) {
    let permits = leases(2);
    let mut taken = take(&permits, 5, 1);
    assert_eq!(taken.pop(), Some(FIRST));
    let other = spawn(&permits, |permits| {
        turn();
        permits.put_back(FIRST, 1);
        take(permits, 5, 1)
    });
    let first = permits.end(0);
    permits.begin(0, second, 1);
    let taken = other.join().unwrap();
    let rests = [first, permits.end(0)];
    check(&permits, &taken, rests, second, [2, 1]);
}

#[test]
fn put_back_against_a_lease_that_ends_later() {
    Model::new("shared::leases::put_back_against_a_lease_that_ends_later")
        .explore(|| put_back_against_the_next_lease(20));
}

#[test]
fn put_back_against_a_lease_that_ends_earlier() {
    Model::new("shared::leases::put_back_against_a_lease_that_ends_earlier")
        .explore(|| put_back_against_the_next_lease(8));
}

/// Two threads put back while the lease ends: a thread that finds the list locked leaves its permit
/// counted as used, and none is there twice.
#[test]
fn put_back_against_put_back() {
    Model::new("shared::leases::put_back_against_put_back").bounded(3).explore(|| {
        let permits = leases(2);
        assert_eq!(take(&permits, 5, 2), [FIRST; 2]);
        let put_back = |permits: &Permits| {
            turn();
            permits.put_back(FIRST, 1);
        };
        let others = [spawn(&permits, put_back), spawn(&permits, put_back)];
        let mut found = permits.end(0);
        found += late(&permits, FIRST);
        for other in others {
            other.join().unwrap();
        }
        found += late(&permits, FIRST) + permits.end(0);
        assert!(found <= 2, "{found} of 2 were put back");
    });
}
