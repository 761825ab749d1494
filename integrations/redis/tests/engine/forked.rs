//! A forked child has its parent's rations, and uses none of them.

use std::time::Duration;

use windrow::AtMost;
use windrow::gate::Admission;
use windrow_redis::{Absence, SharedGate};

use crate::server::{LONG, engine};

#[test]
fn a_forked_child_admits_nothing_and_its_parent_goes_on() {
    let Some(server) = engine() else { return };
    let hour = SharedGate::builder(AtMost(1_000_000)).interval(Duration::from_secs(1)).buckets(4);
    let gate = hour.on_absence(Absence::Admit).connect(&server.url()).unwrap();
    let permits = || gate.admit_blocking(1, LONG).is_granted() && gate.left() > 0;
    crate::server::until("permits are held", permits);
    // SAFETY: the child calls what allocates nothing and takes no lock, and ends at once.
    match unsafe { libc::fork() } {
        0 => {
            let is_refused = (0..1_000).all(|_| !gate.try_admit(1))
                && gate.left() == 0
                && gate.admit_blocking(1, Duration::ZERO)
                    == Admission::Refused { retry_after: None };
            // SAFETY: it ends the process.
            unsafe { libc::_exit(i32::from(!is_refused)) }
        }
        child => {
            let mut status = -1;
            // SAFETY: the pointer is to a local.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "the child was admitted something");
        }
    }
    assert!(gate.admit_blocking(1, LONG).is_granted());
}
