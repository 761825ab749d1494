//! Paces of a family that come and go while threads ask them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use testkit::race;
use windrow::clock::Manual;
use windrow::family::Metric;
use windrow::gate::Admission;
use windrow::{AtMost, Clock, Family, Pace, Paces, Timestamp, labels};

labels! { struct Client { client: u64 } }

static CLIENTS: Family<Client, Pace> =
    Family::with_constructor(|| Pace::of(Duration::from_secs(3_600), AtMost(2)));

/// Admits as the documentation of `Pace::retire` says. Returns the wait.
fn admit<C: Clock + Send + Sync + 'static, F: Fn() -> Pace<C>>(
    paces: &Family<Client, Pace<C>, F>,
    client: Client,
    n: u64,
) -> Option<Duration> {
    loop {
        let pace = paces.with(client);
        match pace.admit(n, Duration::ZERO) {
            Admission::Now => return Some(Duration::ZERO),
            Admission::After(wait) => return Some(wait),
            Admission::Refused { .. } if !pace.is_retired() => return None,
            Admission::Refused { .. } => {}
        }
        drop(pace);
        paces.remove_if(client, Pace::is_retired);
    }
}

#[test]
fn a_pace_by_key_can_stand_in_a_static() {
    let client = Client { client: 1 };
    assert!(CLIENTS.with(client).try_admit(2));
    assert!(!CLIENTS.with(client).try_admit(1));
    assert!(CLIENTS.with(Client { client: 2 }).try_admit(1));
    assert_eq!(CLIENTS.lifetime(), 3);
    assert_eq!((CLIENTS.retain(|pace, _| !pace.retire()), CLIENTS.len()), (0, 2));
    assert_eq!(admit(&CLIENTS, client, 3), None); // above the burst: not for ever in the loop
}

#[test]
fn only_an_idle_pace_is_retired_and_then_it_refuses_for_ever() {
    let (clock, second) = (Manual::default(), Duration::from_secs(1));
    let pace = Pace::builder(second).burst(2).clock(clock.clone()).build().unwrap();
    assert!(pace.try_admit(1));
    pace.reserve(2, Duration::MAX).unwrap().keep();
    for _ in 0..3 {
        assert!(!pace.retire() && !pace.is_retired());
        assert!(pace.total() > 0);
        clock.advance(Duration::from_nanos(999_999_999));
    }
    assert_eq!(pace.total(), 1); // 3 ns of a period are not over yet
    clock.advance(Duration::from_nanos(3));
    let late = pace.reserve(2, Duration::ZERO).unwrap();
    clock.advance(2 * second);
    assert!(pace.retire() && pace.is_retired() && pace.retire());
    for time in [0, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX] {
        clock.set(Timestamp::from_nanos(time));
        for n in [1, 2, u64::MAX] {
            assert!(!pace.try_admit(n));
            let refused = Admission::Refused { retry_after: None };
            assert_eq!(pace.admit(n, Duration::MAX), refused);
            assert_eq!(pace.reserve(n, Duration::MAX).unwrap_err().retry_after, None);
        }
        assert!(pace.try_admit(0) && pace.is_retired());
        assert_eq!((pace.left(), pace.total()), (0, 0));
    }
    clock.set(Timestamp::from_nanos(0));
    drop(late); // the clock says that its turn has not come
    assert!(pace.is_retired());
}

#[test]
fn several_limits_are_retired_when_all_are_idle() {
    let (clock, second) = (Manual::default(), Duration::from_secs(1));
    let builder = Paces::builder().limit(10, second).limit(20, 60 * second);
    let paces = builder.clock(clock.clone()).build().unwrap();
    assert!(paces.try_admit(4));
    assert_eq!(paces.total(), 4);
    clock.advance(second);
    assert_eq!(paces.total(), 4); // of the minute: the second has nothing in use then
    assert!(!paces.retire() && !paces.is_retired());
    clock.advance(11 * second);
    assert!(paces.retire() && paces.is_retired() && paces.retire());
    for time in [0, 1, u64::MAX / 2, u64::MAX] {
        clock.set(Timestamp::from_nanos(time));
        let refused = Admission::Refused { retry_after: None };
        assert_eq!(paces.admit(1, Duration::MAX), refused);
        assert!(paces.try_admit(0) && paces.is_retired());
        assert_eq!((paces.left(), paces.total()), (0, 0));
        assert!(paces.quotas().all(|quota| quota.left == 0));
    }
}

/// At the end of time nothing is taken for a retired pace that is none.
#[test]
fn a_pace_at_the_end_of_time_is_not_retired() {
    let clock = Manual::default();
    let nanos = Duration::from_nanos;
    for period in [1, 2, 3, 1 << 62, (1 << 62) - 1] {
        let pace = Pace::builder(nanos(period)).clock(clock.clone()).build().unwrap();
        let paces = Paces::builder().limit(1, nanos(period)).clock(clock.clone());
        let paces = paces.allow_coarse_clock().build().unwrap();
        for time in [0, 1, 2, u64::MAX / 2 - 1, u64::MAX / 2, u64::MAX - 1, u64::MAX, 0] {
            clock.set(Timestamp::from_nanos(time));
            for _ in 0..5 {
                _ = (pace.admit(1, Duration::MAX), paces.admit(1, Duration::MAX));
            }
            assert!(!pace.is_retired() && !paces.is_retired(), "{period} at {time}");
        }
    }
}

const PERIOD: u64 = 10;
const BURST: u64 = 3;

/// Each reading is later than the one before; and every fourth by more than the whole burst, so
/// that there are idle paces.
fn leaping() -> impl Clock {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    let now = || {
        let reading = READINGS.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_nanos(reading + reading / 4 * (2 * PERIOD * BURST))
    };
    (now, Duration::ZERO)
}

/// A pace asks its clock behind the lookup, so the moment of a call is no earlier than `from`, and
/// no later than `to`: the readings of the test round the call.
#[test]
fn a_pace_and_its_successor_together_admit_what_one_would() {
    let clock = Manual::default();
    let paces = Family::<Client, Pace<Manual>, _>::with_constructor(|| {
        let builder = Pace::builder(Duration::from_nanos(PERIOD)).burst(BURST);
        builder.clock(clock.clone()).build().unwrap()
    });
    let client = Client { client: 7 };
    let (removed, mut end) = (AtomicUsize::new(0), 0);
    for round in 0..2_000_u64 {
        let now = clock.now().as_nanos();
        let admitted = AtomicU64::new(0);
        race(3, |thread| {
            for _ in 0..5 {
                if thread == 0 {
                    let gone = paces.retain(|pace, _| !pace.retire());
                    removed.fetch_add(gone, Ordering::Relaxed);
                }
                let is_admitted = admit(&paces, client, 1).is_some();
                admitted.fetch_add(is_admitted.into(), Ordering::Relaxed);
            }
        });
        // The clock stood still: one pace would have admitted this.
        let admitted = admitted.into_inner();
        let end_before = now.max(end);
        assert_eq!(admitted, (now + BURST * PERIOD - end_before) / PERIOD, "round {round}");
        end = end_before + admitted * PERIOD;
        clock.advance(Duration::from_nanos([1, 7, 10, 29, 30, 31, 55][round as usize % 7]));
    }
    assert!(removed.into_inner() > 0);
}

/// One is decided, and not both.
#[test]
fn a_call_and_the_end_exclude_each_other() {
    for is_pace in [true, false] {
        for _ in 0..3_000 {
            let clock = leaping();
            let period = Duration::from_nanos(PERIOD);
            let pace = Pace::builder(period).clock(Manual::default()).build().unwrap();
            let paces = Paces::builder().limit(1, period).clock(clock).allow_coarse_clock();
            let paces = paces.build().unwrap();
            let (admitted, retired) = (AtomicUsize::new(0), AtomicUsize::new(0));
            race(3, |thread| {
                let count = if thread == 0 { &admitted } else { &retired };
                let is_so = match (thread, is_pace) {
                    (0, true) => pace.try_admit(1),
                    (0, false) => paces.try_admit(1),
                    (_, true) => pace.retire(),
                    (_, false) => paces.retire(),
                };
                count.fetch_add(is_so.into(), Ordering::Relaxed);
            });
            let (admitted, retired) = (admitted.into_inner(), retired.into_inner());
            if is_pace {
                assert!(matches!((admitted, retired), (1, 0) | (0, 1..)), "{admitted}, {retired}");
                assert_eq!(pace.is_retired(), retired > 0);
            } else {
                assert_eq!(paces.is_retired(), retired > 0);
            }
        }
    }
}

/// Two clients, and a lock round the truth.
#[test]
fn paces_are_found_by_their_labels() {
    let log = Mutex::new(Vec::new());
    race(2, |thread| {
        let client = Client { client: 100 + thread as u64 };
        let admitted = (0..10).filter(|_| CLIENTS.with(client).try_admit(1)).count();
        log.lock().unwrap().push(admitted);
    });
    assert_eq!(log.into_inner().unwrap(), [2, 2]);
}
