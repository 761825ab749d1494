//! Tests of the permits that a process holds: each is taken once, and none after its end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::machine::{Answer, DRIFT, Machine, Return, State, Terms};
use crate::permits::{MAX_PERMITS, Permits};

const MARGIN: u64 = 10_000;

/// Takes one as a request does.
fn take(permits: &Permits, now: u64, weight: u64) -> bool {
    permits.take_quickly(now * 1_000, weight) || permits.refill(now * 1_000, now, weight)
}

fn late(permits: &Permits) -> u64 {
    permits.late().iter().map(|(_, count)| count).sum::<u64>()
}

#[test]
fn threads_take_each_permit_once() {
    for permits in [Permits::new(), Permits::with_rows(MARGIN)] {
        let granted = 300_000;
        permits.begin(0, 200_000, granted);
        let taken: u64 = thread::scope(|scope| {
            let thread = || {
                scope.spawn(|| {
                    let weight = |turn: u64| 1 + turn % 3;
                    (0..100_000)
                        .map(weight)
                        .filter(|weight| take(&permits, 100_000, *weight))
                        .sum::<u64>()
                })
            };
            let threads: Vec<_> = (0..3).map(|_| thread()).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        });
        let left = permits.end(0);
        assert_eq!(taken + left + permits.in_rows() + late(&permits), granted);
        // Rows of cores without a call keep at most an eighth of what was left when they were
        // filled.
        assert!(taken >= granted - granted / 8 - 3, "{taken} taken");
    }
}

#[test]
fn nothing_is_taken_after_its_end() {
    let permits = Permits::with_rows(MARGIN);
    permits.begin(0, 200_000, 1_000);
    assert!(take(&permits, 100_000, 1));
    // A row ends a margin before its lease. The call takes from the lease then.
    assert!(!permits.take_quickly(190_000_000, 1));
    assert!(take(&permits, 199_999, 1));
    assert!(!take(&permits, 200_000, 1));
    let (rest, in_rows) = (permits.end(0), permits.in_rows());
    assert_eq!(rest + in_rows + late(&permits), 998);
    // The row's rest of an ended lease is put back by the next call on the row.
    permits.begin(0, 400_000, 1);
    for _ in 0..2 {
        take(&permits, 300_000, 1);
    }
    if permits.in_rows() == 0 {
        assert_eq!(late(&permits), in_rows);
    }
}

#[test]
fn what_is_put_back_late_is_given_back_for_its_own_bucket() {
    let terms = Terms { limit: 10_000, version: 1, length: 100_000, buckets: 10, drift: DRIFT };
    let (mut machine, permits) = (Machine::new(terms), Permits::new());
    let grant = |machine: &mut Machine, now: u64, bucket: u64| {
        permits.miss(100);
        let ask = machine.poll(&permits, now, 1).unwrap().ask;
        let answer = Answer {
            state: State::Answered,
            granted: 8,
            bucket,
            age: 0,
            left: 0,
            limit: 10_000,
            version: 1,
            clients: 1,
            wait: Some(0),
            born: 5,
        };
        machine.answer(&permits, now, ask.number, 0, &answer);
        ask
    };
    grant(&mut machine, 1_000_000, 10);
    let end = permits.take_for(1_000_000, 3).unwrap();
    // Its lease has ended, and another one begun in the same place.
    assert_eq!(grant(&mut machine, 1_250_000, 12).back.count, 5);
    permits.put_back(end, 3);
    assert!(permits.take_for(1_250_000, 8).is_some());
    permits.miss(1);
    let ask = machine.poll(&permits, 1_260_000, 1).unwrap().ask;
    assert_eq!(ask.back, Return { count: 3, bucket: 10, born: 5 });
    // What an abandoned ask carried is not given back again.
    machine.abandon(1_260_000);
    permits.miss(1);
    assert_eq!(machine.poll(&permits, 1_270_000, 1).unwrap().ask.back.count, 0);
}

#[test]
fn what_a_call_has_cost_beyond_its_permits_is_paid_first() {
    for permits in [Permits::new(), Permits::with_rows(MARGIN)] {
        permits.begin(0, 200_000, 1_000);
        assert!(take(&permits, 100_000, 10));
        permits.charge(100_000, 90);
        assert_eq!((permits.owed(), permits.left(100_000)), (0, 900));
        permits.charge(100_000, 1_000);
        assert_eq!((permits.owed(), permits.left(100_000), permits.missed()), (100, 0, 100));
        assert!(!take(&permits, 100_000, 1));
        assert_eq!((permits.pay(30), permits.pay(200), permits.owed()), (0, 130, 0));
    }
}

#[test]
fn numbers_of_any_size_are_got_over() {
    let terms = Terms { limit: 1 << 40, version: 1, length: 100_000, buckets: 10, drift: DRIFT };
    let (mut machine, permits) = (Machine::new(terms), Permits::new());
    for _ in 0..2 {
        permits.charge(1_000_000, u64::MAX);
    }
    assert_eq!(permits.owed(), u64::MAX, "it does not begin anew");
    permits.miss(u64::MAX);
    let ask = machine.poll(&permits, 1_000_000, u64::MAX).unwrap().ask;
    assert!(ask.need <= MAX_PERMITS && ask.want <= MAX_PERMITS, "{ask:?}");
}

#[test]
fn leases_that_are_replaced_meanwhile_are_taken_in_their_time() {
    let (permits, clock, is_over) = (Permits::new(), AtomicU64::new(1_000), AtomicBool::new(false));
    let granted: u64 = 40;
    let leases = 20_000;
    let (taken, rests) = thread::scope(|scope| {
        let taker = || {
            scope.spawn(|| {
                let mut taken = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let now = clock.load(Ordering::Acquire);
                    if let Some(end) = permits.take_for(now, 1) {
                        assert!(now < end, "taken at {now}, of a lease that ended at {end}");
                        taken += 1;
                        if taken % 7 == 0 {
                            permits.put_back(end, 1);
                            taken -= 1;
                        }
                    }
                }
                taken
            })
        };
        let takers = [taker(), taker()];
        let mut rests = 0;
        for lease in 0..leases {
            let place = lease % 2;
            rests += permits.end(place);
            let now = clock.fetch_add(10, Ordering::AcqRel);
            permits.begin(place, now + 25, granted);
        }
        is_over.store(true, Ordering::Relaxed);
        let taken: u64 = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
        (taken, rests + permits.end(0) + permits.end(1))
    });
    let sum = taken + rests + late(&permits);
    // (A thread that finds the list of late ones locked leaves its permit counted as used.)
    assert!(sum <= leases as u64 * granted && sum + 1_000 > leases as u64 * granted, "{sum}");
}
