//! A limit of many processes as the limiter of a layer.
//!
//! # Why a key may be forgotten
//!
//! The engine counts the grants of a key. So a process that forgets a key, or has it share the
//! overflow limiter for a while, gives it no more: what this process holds of it counts as used.

use std::sync::LazyLock;
use std::time::Duration;

use windrow::clock::Coarse;
use windrow::gate::Admission;
use windrow_redis::{Admit, SharedGate};

use crate::limiter::{Decides, Quota, Reply};

/// The clock of the places in line.
static CLOCK: LazyLock<Coarse> = LazyLock::new(Coarse::default);

/// Rules are refused: a process has no limit of its own to change.
impl Decides for SharedGate {
    type Clock = Coarse;
    /// A grant that counts as used.
    type Grant = ();
    type Ask = Admit<'static>;

    fn clock(&self) -> &Coarse {
        &CLOCK
    }

    /// Decides at once, whatever the wait.
    fn decide(&self, weight: u64, _: Duration) -> (Admission, Option<()>) {
        if takes(self, weight) {
            return (Admission::Now, Some(()));
        }
        let admission = self.admit_blocking(weight, Duration::ZERO);
        (admission, admission.is_granted().then_some(()))
    }

    fn answer(&self, weight: u64, max_wait: Duration) -> Reply<SharedGate> {
        if max_wait.is_zero() {
            let (admission, grant) = self.decide(weight, max_wait);
            Reply::Told(admission, grant)
        } else if takes(self, weight) {
            Reply::Told(Admission::Now, Some(()))
        } else {
            Reply::Asks(self.admit_owned(weight, max_wait))
        }
    }

    fn leave_unused(&self, (): ()) {}

    fn left(&self) -> u64 {
        SharedGate::left(self)
    }

    fn quotas(&self) -> impl Iterator<Item = Quota> {
        let (limit, interval, left) = (self.limit(), self.interval(), self.left());
        [Quota { limit, interval, left }].into_iter()
    }

    /// A key without permits in this process may be forgotten.
    fn retire(&self) -> bool {
        self.left() == 0
    }

    /// One that a thread has found before goes on: see above.
    fn is_retired(&self) -> bool {
        false
    }
}

/// Takes permits that this process holds. (A look comes first: an attempt that fails would count
/// as demand, and the one after it again.)
fn takes(gate: &SharedGate, weight: u64) -> bool {
    gate.left() >= weight && gate.try_admit(weight)
}
