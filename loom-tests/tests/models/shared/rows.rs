//! Rows: each permit of a lease that goes into a core's row is used once, before its end, or comes
//! back to its own lease or into the list.
//!
//! Explores two threads on one core, which share its row, and a machine that ends the lease and
//! begins the next. (Where threads have no row of their own there are no rations.)

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::{sync::Arc, turn};

use super::permits::Permits;
use super::spawn;

/// The time by which the quick clock may be behind.
const MARGIN: u64 = 10;
/// The ends of the two leases.
const ENDS: [u64; 2] = [1_000, 2_000];
/// The permits of the first lease: the rows share an eighth of them.
const GRANTED: u64 = 33;

/// Takes one at a time, as a request does. Returns the number taken.
fn take(permits: &Permits, now: u64, times: u64) -> u64 {
    turn();
    let quick = now * 1_000;
    let is_taken = || permits.take_quickly(quick, 1) || permits.refill(quick, now, 1);
    (0..times).filter(|_| is_taken()).count() as u64
}

fn held() -> Arc<Permits> {
    let permits = Permits::with_rows(MARGIN);
    permits.begin(0, ENDS[0], GRANTED);
    Arc::new(permits)
}

fn late(permits: &Permits) -> u64 {
    ENDS.into_iter().map(|end| super::late(permits, end)).sum()
}

#[test]
fn take_against_take() {
    Model::new("shared::rows::take_against_take").bounded(3).explore(|| {
        let permits = held();
        let other = spawn(&permits, |permits| take(permits, 100, 2));
        let taken = take(&permits, 100, 2) + other.join().unwrap();
        assert_eq!(taken, 4);
        let found = taken + permits.end(0) + permits.in_rows() + late(&permits);
        assert_eq!(found, GRANTED);
    });
}

/// The lease ends beside the calls, and what lies in the row is put back by a later call.
#[test]
fn take_against_the_next_lease() {
    Model::new("shared::rows::take_against_the_next_lease").bounded(3).explore(|| {
        let permits = held();
        assert_eq!(take(&permits, 100, 1), 1);
        let other = spawn(&permits, |permits| take(permits, 1_000, 2));
        let first = permits.end(0);
        permits.begin(0, ENDS[1], 1);
        let taken = other.join().unwrap();
        assert!(taken <= 1, "{taken} behind the first end, and the second lease had 1");
        let found = 1 + taken + first + permits.end(0) + permits.in_rows() + late(&permits);
        assert_eq!(found, GRANTED + 1);
    });
}

/// A charge takes what lies in the row.
#[test]
fn charge_against_a_take() {
    Model::new("shared::rows::charge_against_a_take").bounded(3).explore(|| {
        let permits = held();
        assert_eq!(take(&permits, 100, 1), 1);
        let other = spawn(&permits, |permits| take(permits, 100, 1));
        turn();
        permits.charge(100, 2);
        let taken = 1 + other.join().unwrap();
        let found = taken + 2 - permits.owed() + permits.end(0) + permits.in_rows();
        assert_eq!(found + late(&permits), GRANTED);
    });
}
