//! A gate: no run of buckets has more than the limit, and the reported grants are those made.
//!
//! Explores two or three threads that ask at the edge of a bucket, wait for later ones, or stand
//! still while theirs leaves and its sheet is used again; changes of the limit; reads; and the
//! first uses of a gate as one in a static. An interval has two buckets. A gate allocates nothing
//! that a reclaimer would free, so these are bounded over all of them alike.

use std::time::Duration;

use windrow::{
    Gate,
    gate::{Admission, RationedGate},
};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{LENGTH, Local, interval, set_time};
use windrow_loom_tests::{Model, turn};

type Shared = Arc<Gate<Local>>;

/// Grants: a bucket, by its number, and the weight.
type Grants = Vec<(u64, u64)>;

fn gate(limit: u64) -> Shared {
    set_time(0);
    let builder = Gate::builder(limit).interval(interval(2)).clock(Local).preallocate();
    Arc::new(builder.build().expect("it is sound"))
}

/// Asks in a bucket, for `n` and for a wait of up to `wait` buckets.
fn admit(gate: &Gate<Local>, bucket: u64, n: u64, wait: u64) -> Grants {
    set_time(bucket);
    turn();
    let (answer, start) =
        windrow::gate::admit_and_tell(gate, n, Duration::from_nanos(wait * LENGTH));
    assert_ne!(answer, Admission::Refused { retry_after: None }, "{n} is within the limit");
    start.map(|start| (start.as_nanos() / LENGTH, n)).into_iter().collect()
}

fn spawn<R: Send + 'static>(
    gate: &Shared,
    body: impl FnOnce(&Gate<Local>) -> R + Send + 'static,
) -> JoinHandle<R> {
    let gate = Arc::clone(gate);
    thread::spawn(move || body(&gate))
}

/// Returns the grants in a bucket and the one before it.
fn in_interval(grants: &Grants, last: u64) -> u64 {
    grants.iter().filter(|(at, _)| at + 1 >= last && *at <= last).map(|(_, n)| n).sum()
}

/// Checks that no interval has more than the limit; and that the gate, in the latest bucket, knows
/// its grants.
fn check(gate: &Gate<Local>, grants: &Grants, limit: u64) {
    let last = grants.iter().map(|(bucket, _)| *bucket).max().unwrap_or(0);
    for bucket in 0..=last {
        assert!(in_interval(grants, bucket) <= limit, "{grants:?}, until {bucket}");
    }
    set_time(last);
    assert_eq!(gate.granted(), in_interval(grants, last), "{grants:?}, until {last}");
}

/// One thread grants in a bucket while another opens the next.
#[test]
fn grant_against_the_opening_of_the_next_bucket() {
    Model::new("gate::grant_against_the_opening_of_the_next_bucket").bounded(3).explore(|| {
        let gate = gate(1);
        let other = spawn(&gate, |gate| admit(gate, 1, 1, 0));
        let mut grants = admit(&gate, 0, 1, 0);
        grants.extend(other.join().unwrap());
        check(&gate, &grants, 1);
        assert!(!grants.is_empty());
    });
}

/// A gate as one in a static, which has opened no bucket. (On real threads it has opened one:
/// `tests/exact/statics.rs` has those of statics.)
fn unused(limit: u64) -> Arc<RationedGate<Local>> {
    let builder = Gate::builder(limit).interval(interval(2)).clock(Local);
    #[cfg(any(loom, shuttle))]
    let gate = builder.build_at_first_use(1);
    #[cfg(not(any(loom, shuttle)))]
    let gate = builder.build_rationed(1).unwrap();
    Arc::new(gate)
}

/// Two threads come to a gate that no thread has used: in one bucket, or in two.
#[test]
fn first_use_against_first_use() {
    Model::new("gate::first_use_against_first_use").bounded(2).explore(|| {
        let gate = unused(1);
        let other = Arc::clone(&gate);
        let other = thread::spawn(move || admit(other.gate(), 1, 1, 0));
        let mut grants = admit(gate.gate(), 0, 1, 0);
        grants.extend(other.join().unwrap());
        check(gate.gate(), &grants, 1);
        assert_eq!(grants.len(), 1);
    });
}

/// One thread is the first to use a gate, by a change of its limit, and another by asking.
#[test]
fn first_use_against_a_change() {
    Model::new("gate::first_use_against_a_change").bounded(2).explore(|| {
        let gate = unused(1);
        let other = Arc::clone(&gate);
        let other = thread::spawn(move || other.gate().set_limit(2).unwrap());
        let mut grants = admit(gate.gate(), 0, 1, 0);
        other.join().unwrap();
        grants.extend(admit(gate.gate(), 0, 1, 0));
        assert_eq!((gate.gate().limit(), grants.len()), (2, 2));
        check(gate.gate(), &grants, 2);
    });
}

/// Two threads take of rations before any exist.
#[test]
fn first_refill_against_first_refill() {
    Model::new("gate::first_refill_against_first_refill").bounded(2).explore(|| {
        let gate = unused(2);
        let other = Arc::clone(&gate);
        let ask = |gate: &RationedGate<Local>| {
            set_time(0);
            turn();
            u64::from(gate.try_admit(1))
        };
        let other = thread::spawn(move || ask(&other));
        let used = ask(&gate);
        let used = used + other.join().unwrap();
        assert_eq!(gate.gate().granted(), used + gate.unused());
        assert!(used <= 2);
    });
}

/// Both open the same bucket, or one after the other.
#[test]
fn opening_against_opening() {
    Model::long("gate::opening_against_opening").explore(|| {
        let gate = gate(2);
        let mut grants = admit(&gate, 0, 1, 0);
        let other = spawn(&gate, |gate| admit(gate, 1, 1, 0));
        grants.extend(admit(&gate, 2, 1, 0));
        grants.extend(other.join().unwrap());
        check(&gate, &grants, 2);
        assert!(grants.len() >= 2, "{grants:?}");
    });
}

/// A thread looks at a bucket, and stands still while its sheet is used for another one, in which
/// nothing is left.
#[test]
fn grant_against_the_reuse_of_its_sheet() {
    Model::long("gate::grant_against_the_reuse_of_its_sheet").explore(|| {
        // A limit of two: the serial of the other bucket does not use up the rest of the first.
        let gate = gate(2);
        let other = spawn(&gate, |gate| {
            let mut grants = admit(gate, 3, 2, 0);
            grants.extend(admit(gate, 4, 1, 0));
            grants
        });
        let mut grants = admit(&gate, 0, 1, 0);
        grants.extend(other.join().unwrap());
        check(&gate, &grants, 2);
        set_time(4);
        assert!(gate.granted() <= 2, "{grants:?}");
    });
}

/// Two threads wait for what one of them can have.
#[test]
fn wait_against_wait() {
    Model::long("gate::wait_against_wait").explore(|| {
        let gate = gate(1);
        let mut grants = admit(&gate, 0, 1, 0);
        let other = spawn(&gate, |gate| admit(gate, 0, 1, 2));
        grants.extend(admit(&gate, 0, 1, 2));
        grants.extend(other.join().unwrap());
        check(&gate, &grants, 1);
        assert_eq!(grants, [(0, 1), (2, 1)]);
    });
}

/// One waits, another takes the current rest, or comes too late for it.
#[test]
fn wait_against_a_grant_before_it() {
    Model::new("gate::wait_against_a_grant_before_it").bounded(3).explore(|| {
        let gate = gate(2);
        let mut grants = admit(&gate, 0, 1, 0);
        let other = spawn(&gate, |gate| admit(gate, 0, 2, 2));
        grants.extend(admit(&gate, 0, 1, 0));
        grants.extend(other.join().unwrap());
        check(&gate, &grants, 2);
        assert!(in_interval(&grants, 2) == 2, "{grants:?}");
    });
}

/// A thread looks at a sheet, another turns away from it, and a third fills it, in vain.
#[test]
fn look_against_a_turn_in_vain() {
    Model::long("gate::look_against_a_turn_in_vain").explore(|| {
        let gate = gate(1);
        let others = [2, 3].map(|limit| spawn(&gate, move |gate| gate.set_limit(limit).unwrap()));
        let grants = admit(&gate, 0, 1, 0);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(grants.len(), 1);
        check(&gate, &grants, 1);
        assert!([2, 3].contains(&gate.limit()));
    });
}

/// Once a lower limit is set, nothing more is granted beyond it.
#[test]
fn grants_against_a_lower_limit() {
    Model::new("gate::grants_against_a_lower_limit").bounded(3).explore(|| {
        let gate = gate(3);
        let other = spawn(&gate, |gate| {
            let mut grants = admit(gate, 0, 1, 0);
            grants.extend(admit(gate, 0, 1, 0));
            grants
        });
        turn();
        gate.set_limit(1).unwrap();
        turn();
        set_time(0);
        let then = gate.granted();
        let grants = other.join().unwrap();
        assert!(gate.granted() <= then.max(1), "{grants:?}, of which {then} before");
        check(&gate, &grants, 3);
    });
}

/// A change of the limit meets one that opens the next bucket: both are made.
#[test]
fn limit_against_the_opening_of_the_next_bucket() {
    Model::new("gate::limit_against_the_opening_of_the_next_bucket").bounded(2).explore(|| {
        let gate = gate(1);
        let mut grants = admit(&gate, 0, 1, 0);
        let other = spawn(&gate, |gate| gate.set_limit(2).unwrap());
        grants.extend(admit(&gate, 1, 1, 0));
        other.join().unwrap();
        assert_eq!(gate.limit(), 2);
        check(&gate, &grants, 2);
    });
}

/// A read meets openings that use its sheet again.
#[test]
fn read_against_the_reuse_of_its_sheet() {
    Model::long("gate::read_against_the_reuse_of_its_sheet").explore(|| {
        let gate = gate(5);
        let mut grants = admit(&gate, 0, 5, 0);
        grants.extend(admit(&gate, 3, 2, 0));
        let other = spawn(&gate, |gate| {
            let mut grants = admit(gate, 4, 3, 0);
            grants.extend(admit(gate, 6, 5, 0));
            grants
        });
        set_time(4);
        turn();
        let (granted, waiting) = (gate.granted(), gate.waiting());
        assert!([0, 2, 5].contains(&granted), "{granted} granted"); // until 4, or until 6
        assert_eq!(waiting, 0);
        grants.extend(other.join().unwrap());
        check(&gate, &grants, 5);
    });
}

/// A geometry with more buckets meets a thread that grants, and one that reads.
#[test]
fn grant_against_a_longer_interval() {
    Model::long("gate::grant_against_a_longer_interval").explore(|| {
        let gate = gate(2);
        let mut grants = admit(&gate, 0, 1, 0);
        let other = spawn(&gate, |gate| {
            turn();
            set_time(1);
            gate.reconfigure(interval(3), 3).unwrap();
        });
        grants.extend(admit(&gate, 1, 1, 0));
        set_time(1);
        turn();
        assert_eq!(gate.granted(), 2);
        other.join().unwrap();
        set_time(2);
        assert_eq!((gate.granted(), gate.left(), gate.buckets()), (2, 0, 3));
    });
}

/// A read meets changes to longer intervals, of which the second gives its sheet more room.
#[test]
fn read_against_more_room() {
    Model::new("gate::read_against_more_room").bounded(2).explore(|| {
        let gate = gate(1);
        let grants = admit(&gate, 0, 1, 0);
        let other = spawn(&gate, |gate| {
            set_time(0);
            turn();
            gate.reconfigure(interval(3), 3).unwrap();
            turn();
            gate.reconfigure(interval(4), 4).unwrap();
            turn();
        });
        turn();
        assert_eq!(gate.granted(), 1, "{grants:?}");
        turn();
        other.join().unwrap();
        assert_eq!((gate.granted(), gate.buckets()), (1, 4));
    });
}

/// One reservation is settled for less, another for more than fits, and a bucket opens: each unit
/// counts once.
#[test]
fn settling_against_settling_and_an_opening() {
    Model::new("gate::settling_against_settling_and_an_opening").bounded(2).explore(|| {
        let gate = gate(4);
        set_time(0);
        let own = gate.reserve(1, Duration::ZERO).expect("the whole limit is left");
        let other = spawn(&gate, |gate| {
            set_time(0);
            let reserved = gate.reserve(2, Duration::ZERO);
            turn();
            reserved.map_or(0, |call| {
                call.settle(1);
                1_u64
            })
        });
        turn();
        set_time(1);
        own.settle(6);
        let cost = 6 + other.join().unwrap();
        let (granted, waiting) = (gate.granted(), gate.waiting());
        assert_eq!((granted, waiting), (cost.min(4), cost.saturating_sub(4)));
    });
}

/// A gate of which all that it has granted has left is retired, or grants, and not both.
#[test]
fn grant_against_the_end_of_its_gate() {
    Model::new("gate::grant_against_the_end_of_its_gate").bounded(3).explore(|| {
        let gate = gate(1);
        assert_eq!(admit(&gate, 0, 1, 0).len(), 1);
        let other = spawn(&gate, |gate| {
            set_time(2);
            turn();
            gate.try_admit(1)
        });
        set_time(2);
        turn();
        let is_retired = gate.retire();
        let is_granted = other.join().unwrap();
        assert_ne!(is_granted, is_retired);
        assert_eq!((gate.limit() == 0, gate.granted() == 1), (is_retired, is_granted));
    });
}
