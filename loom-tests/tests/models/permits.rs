//! A gate's permits: grants by single words, which spill into sheets, or end with the gate.
//!
//! Explores two threads, and two permits for an interval of two buckets. A grant meets a grant, a
//! spill and the gate's end; spills meet each other. A refusal that is remembered meets what ends
//! it.

use std::time::Duration;

use windrow::{Gate, Timestamp};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{LENGTH, Local, interval, set_time};
use windrow_loom_tests::{Model, turn};

type Shared = Arc<Gate<Local>>;

fn gate(limit: u64) -> Shared {
    set_time(0);
    Arc::new(Gate::builder(limit).interval(interval(2)).clock(Local).build().expect("it is sound"))
}

/// Asks for one in a bucket; returns the number of the bucket in which it is granted.
fn ask(gate: &Gate<Local>, bucket: u64) -> Option<u64> {
    set_time(bucket);
    turn();
    let (_, start) = windrow::gate::admit_and_tell(gate, 1, Duration::ZERO);
    start.map(|start| start.as_nanos() / LENGTH)
}

/// Asks for one in a bucket as most callers do: refused, they may be so by an earlier refusal.
fn ask_at_once(gate: &Gate<Local>, bucket: u64) -> bool {
    set_time(bucket);
    turn();
    gate.try_admit(1)
}

fn spawn<R: Send + 'static>(
    gate: &Shared,
    body: impl FnOnce(&Gate<Local>) -> R + Send + 'static,
) -> JoinHandle<R> {
    let gate = Arc::clone(gate);
    thread::spawn(move || body(&gate))
}

/// Checks that no two consecutive buckets have more than the limit, and that the gate knows the
/// grants in the latest ones.
fn check(gate: &Gate<Local>, grants: &[Option<u64>], limit: u64) {
    let grants: Vec<u64> = grants.iter().copied().flatten().collect();
    let until = |last: u64| grants.iter().filter(|at| **at + 1 >= last && **at <= last).count();
    let last = grants.iter().copied().max().unwrap_or(0);
    for bucket in 0..=last {
        assert!(until(bucket) as u64 <= limit, "{grants:?}, until {bucket}");
    }
    set_time(last);
    assert_eq!(gate.granted(), until(last) as u64, "{grants:?}, until {last}");
}

/// Two threads want the permit that has left its interval, in one bucket and in the next.
#[test]
fn grant_against_grant() {
    Model::new("permits::grant_against_grant").explore(|| {
        let gate = gate(1);
        let first = ask(&gate, 0);
        let other = spawn(&gate, |gate| ask(gate, 2));
        let own = ask(&gate, 3);
        let grants = [first, other.join().unwrap(), own];
        check(&gate, &grants, 1);
        assert_eq!(grants.iter().flatten().count(), 2, "{grants:?}");
    });
}

/// Gives back what was granted in a bucket.
fn leave_unused(gate: &Gate<Local>, bucket: u64) {
    turn();
    windrow::gate::leave_unused(gate, 1, Timestamp::from_nanos(bucket * LENGTH));
}

/// A grant is not used, beside another that wants its permit: it counts no longer, and the other
/// one does.
#[test]
fn grant_against_one_that_is_not_used() {
    Model::new("permits::grant_against_one_that_is_not_used").explore(|| {
        let gate = gate(1);
        let other = spawn(&gate, |gate| ask(gate, 1));
        if let Some(bucket) = ask(&gate, 0) {
            leave_unused(&gate, bucket);
        }
        let other = other.join().unwrap();
        check(&gate, &[other], 1);
        assert_eq!(ask(&gate, 1).is_some(), other.is_none());
    });
}

/// A refusal that the gate remembers meets the return of a grant: what comes behind both is
/// granted, unless the other call was.
#[test]
fn refusal_against_a_grant_that_is_not_used() {
    Model::new("permits::refusal_against_a_grant_that_is_not_used").explore(|| {
        let gate = gate(1);
        let unused = ask(&gate, 0).expect("the first");
        let other = spawn(&gate, |gate| {
            turn();
            gate.try_admit(1)
        });
        leave_unused(&gate, unused);
        let is_granted = other.join().unwrap();
        assert_ne!(gate.try_admit(1), is_granted);
        assert!(!gate.try_admit(1));
    });
}

/// A refusal that the gate remembers meets a grant in a later bucket: a call that is behind both,
/// by a clock that has stepped back, is granted in that bucket.
#[test]
fn refusal_against_a_grant_in_a_later_bucket() {
    Model::new("permits::refusal_against_a_grant_in_a_later_bucket").explore(|| {
        let gate = gate(2);
        let grants = [ask(&gate, 0), ask(&gate, 0)];
        let other = spawn(&gate, |gate| ask_at_once(gate, 0));
        let later = ask(&gate, 2);
        let is_granted = other.join().unwrap();
        assert!(later.is_some());
        assert_ne!(ask_at_once(&gate, 0), is_granted, "one more, in the later bucket");
        check(&gate, &[grants[0], grants[1], later, Some(2)], 2);
        assert!(!ask_at_once(&gate, 0));
    });
}

/// The gate spills between a grant and its return, or later.
#[test]
fn spill_against_a_grant_that_is_not_used() {
    Model::long("permits::spill_against_a_grant_that_is_not_used").explore(|| {
        let gate = gate(2);
        let first = ask(&gate, 0);
        let other = spawn(&gate, |gate| gate.set_limit(1).unwrap());
        let unused = ask(&gate, 1);
        if let Some(bucket) = unused {
            leave_unused(&gate, bucket);
        }
        other.join().unwrap();
        check(&gate, &[first], 1);
    });
}

/// A grant meets a change of the limit, for which the gate spills: it counts, or comes behind it.
#[test]
fn grant_against_a_spill() {
    Model::new("permits::grant_against_a_spill").bounded(3).explore(|| {
        let gate = gate(2);
        let first = ask(&gate, 0);
        let other = spawn(&gate, |gate| gate.set_limit(1).unwrap());
        let own = ask(&gate, 1);
        other.join().unwrap();
        check(&gate, &[first, own], 2);
        assert_eq!(ask(&gate, 1), None);
        assert_eq!(gate.limit(), 1);
    });
}

/// Two threads need more than the permits: both spill, and one of them has the rest.
#[test]
fn spill_against_spill() {
    Model::new("permits::spill_against_spill").bounded(2).explore(|| {
        let gate = gate(3);
        let (first, second) = (ask(&gate, 0), ask(&gate, 0));
        let other = spawn(&gate, |gate| ask(gate, 0));
        let own = ask(&gate, 1);
        let grants = [first, second, other.join().unwrap(), own];
        check(&gate, &grants, 3);
        assert_eq!(grants.iter().flatten().count(), 3, "{grants:?}");
    });
}

/// A gate whose grants have left is retired, or grants, and not both.
#[test]
fn grant_against_the_end() {
    Model::new("permits::grant_against_the_end").bounded(3).explore(|| {
        let gate = gate(2);
        assert!(ask(&gate, 0).is_some());
        let other = spawn(&gate, |gate| ask(gate, 2));
        set_time(2);
        turn();
        let is_retired = gate.retire();
        let is_granted = other.join().unwrap().is_some();
        assert_ne!(is_granted, is_retired);
        assert_eq!((gate.limit() == 0, gate.granted() == 1), (is_retired, is_granted));
    });
}

/// The end of a gate meets a change of its limit: it has one of the two.
#[test]
fn spill_against_the_end() {
    Model::new("permits::spill_against_the_end").bounded(2).explore(|| {
        let gate = gate(2);
        let other = spawn(&gate, |gate| gate.set_limit(5).is_ok());
        turn();
        let is_retired = gate.retire();
        let is_changed = other.join().unwrap();
        assert!(is_retired, "nothing was granted");
        assert_eq!(gate.limit(), 0);
        assert!(gate.set_limit(1).is_err(), "changed before: {is_changed}");
        assert_eq!(ask(&gate, 3), None);
    });
}
