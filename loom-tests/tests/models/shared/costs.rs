//! Settled costs: what a call has cost beyond its permits is paid once, from leases or from grants.
//!
//! Explores a charge against takes, against another charge, and against the machine that pays.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::{sync::Arc, turn};

use super::permits::Permits;
use super::spawn;

const END: u64 = 10;

fn charge(permits: &Permits, weight: u64) {
    turn();
    permits.charge(5, weight);
}

#[test]
fn charge_against_takes() {
    Model::new("shared::costs::charge_against_takes").bounded(3).explore(|| {
        let permits = Arc::new(Permits::new());
        permits.begin(0, END, 3);
        let other = spawn(&permits, |permits| charge(permits, 2));
        turn();
        let taken = (0..2).filter(|_| permits.take(5, 1)).count() as u64;
        other.join().unwrap();
        let (rest, owed) = (permits.end(0), permits.owed());
        assert_eq!(taken + rest + 2 - owed, 3, "{taken} taken, {rest} left, {owed} owed");
        assert!(owed == 0 || rest == 0, "{owed} owed, and {rest} left");
    });
}

#[test]
fn charge_against_charge() {
    Model::new("shared::costs::charge_against_charge").bounded(3).explore(|| {
        let permits = Arc::new(Permits::new());
        permits.begin(0, END, 1);
        let other = spawn(&permits, |permits| charge(permits, 2));
        charge(&permits, 2);
        other.join().unwrap();
        assert_eq!((permits.owed(), permits.end(0), permits.missed()), (3, 0, 3));
    });
}

/// The machine pays while a call is charged.
#[test]
fn charge_against_the_machine() {
    Model::new("shared::costs::charge_against_the_machine").explore(|| {
        let permits = Arc::new(Permits::new());
        charge(&permits, 2);
        let other = spawn(&permits, |permits| charge(permits, 1));
        turn();
        let paid = 3 - permits.pay(3);
        other.join().unwrap();
        assert_eq!(paid + permits.owed(), 3, "{paid} paid");
    });
}
