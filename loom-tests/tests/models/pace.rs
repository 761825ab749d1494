//! Paces: no two moments are closer than the period; and a turn that is given back never was, or
//! goes to one of the callers that come before it.
//!
//! Explores calls that meet at different times, turns that are given back beside other calls, and
//! paces that are changed, settled and retired meanwhile.

use std::time::Duration;

use windrow::{Pace, Paces};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{Local, at, set_time};
use windrow_loom_tests::{Model, turn};

const PERIOD: u64 = 100;

type Shared = Arc<Pace<Local>>;

fn pace() -> Shared {
    set_time(0);
    let builder = Pace::builder(Duration::from_nanos(PERIOD)).clock(Local);
    Arc::new(builder.build().expect("it is sound"))
}

fn spawn<R: Send + 'static>(
    pace: &Shared,
    body: impl FnOnce(&Pace<Local>) -> R + Send + 'static,
) -> JoinHandle<R> {
    let pace = Arc::clone(pace);
    thread::spawn(move || {
        turn();
        body(&pace)
    })
}

/// Reserves a turn at a time, keeps it or gives it back, and returns its moment if it counts.
fn reserve(pace: &Pace<Local>, time: u64, is_kept: bool) -> Option<u64> {
    set_time(time);
    let reserved = pace.reserve(1, Duration::MAX).expect("it may wait for ever");
    let moment = at(time).as_nanos() + reserved.wait().as_nanos() as u64;
    turn();
    if is_kept {
        reserved.keep();
        return Some(moment);
    }
    let is_used = reserved.wait().is_zero();
    drop(reserved);
    is_used.then_some(moment)
}

/// Checks the moments of the calls that count. With those that are vacant, there is one for each
/// period before the end.
fn check(pace: &Pace<Local>, moments: &[Option<u64>]) {
    let mut moments: Vec<u64> = moments.iter().copied().flatten().collect();
    set_time(0);
    let idle = pace.idle_after();
    let last = idle.saturating_sub(Duration::from_nanos(PERIOD + 1));
    while let Ok(vacant) = pace.reserve(1, last) {
        moments.push(at(0).as_nanos() + vacant.wait().as_nanos() as u64);
        vacant.keep();
    }
    moments.sort_unstable();
    assert!(moments.is_sorted_by(|one, next| one + PERIOD <= *next), "{moments:?}");
    let end = at(0).as_nanos() + idle.as_nanos() as u64;
    assert_eq!(Some(end), moments.last().map(|last| last + PERIOD), "{moments:?}");
}

/// Two threads at different times, one of which asks twice.
#[test]
fn call_against_calls() {
    Model::new("pace::call_against_calls").explore(|| {
        let pace = pace();
        let other = spawn(&pace, |pace| reserve(pace, 3, true));
        let own = [reserve(&pace, 0, true), reserve(&pace, 8, true)];
        check(&pace, &[own[0], own[1], other.join().unwrap()]);
    });
}

/// A turn is given back while another thread takes the next.
#[test]
fn giving_back_against_a_call() {
    Model::new("pace::giving_back_against_a_call").explore(|| {
        let pace = pace();
        let first = reserve(&pace, 0, true);
        let other = spawn(&pace, |pace| reserve(pace, 0, true));
        let own = reserve(&pace, 0, false);
        check(&pace, &[first, own, other.join().unwrap()]);
    });
}

/// Two turns are given back in either order, and the ends that they leave are taken again.
#[test]
fn giving_back_against_giving_back() {
    Model::new("pace::giving_back_against_giving_back").explore(|| {
        let pace = pace();
        let first = reserve(&pace, 0, true);
        let other = spawn(&pace, |pace| reserve(pace, 0, false));
        let own = [reserve(&pace, 0, false), reserve(&pace, 0, true)];
        check(&pace, &[first, own[0], own[1], other.join().unwrap()]);
    });
}

/// A vacant turn is there, and two callers come: one of them gets it.
#[test]
fn vacant_turn_against_two_calls() {
    Model::new("pace::vacant_turn_against_two_calls").explore(|| {
        let pace = pace();
        let first = reserve(&pace, 0, true);
        let vacant = pace.reserve(1, Duration::MAX).expect("it may wait for ever");
        let last = reserve(&pace, 0, true);
        drop(vacant);
        let other = spawn(&pace, |pace| reserve(pace, 0, true));
        let own = reserve(&pace, 0, true);
        check(&pace, &[first, last, own, other.join().unwrap()]);
    });
}

/// A turn of two units is vacant: it goes to two calls of one, and not to a third.
#[test]
fn vacant_turn_of_two_against_calls() {
    Model::new("pace::vacant_turn_of_two_against_calls").bounded(2).explore(|| {
        set_time(0);
        let builder = Pace::builder(Duration::from_nanos(PERIOD)).burst(2).clock(Local);
        let pace = Arc::new(builder.build().expect("it is sound"));
        let two = || pace.reserve(2, Duration::MAX).expect("it may wait for ever");
        two().keep();
        let vacant = two();
        two().keep();
        let moment = vacant.wait();
        drop(vacant);
        let one = |pace: &Pace<Local>| {
            set_time(0);
            let turn = pace.reserve(1, Duration::MAX).expect("it may wait for ever");
            let wait = turn.wait();
            turn.keep();
            wait
        };
        let other = spawn(&pace, one);
        turn();
        let own = [one(&pace), one(&pace)];
        let calls = [own[0], own[1], other.join().unwrap()];
        let there = calls.iter().filter(|wait| **wait == moment).count();
        assert!(there <= 2, "{calls:?}"); // (a place that another looks at is passed over)
    });
}

/// A turn is vacated while a caller comes, and moves up itself.
#[test]
fn vacating_against_moving_up() {
    Model::new("pace::vacating_against_moving_up").explore(|| {
        let pace = pace();
        let first = reserve(&pace, 0, true);
        let vacant = pace.reserve(1, Duration::MAX).expect("it may wait for ever");
        let other = spawn(&pace, |pace| {
            set_time(0);
            let mut own = pace.reserve(1, Duration::MAX).expect("it may wait for ever");
            let moment = at(0).as_nanos() + own.move_up().as_nanos() as u64;
            own.keep();
            Some(moment)
        });
        turn();
        set_time(0);
        assert!(vacant.settle(0));
        check(&pace, &[first, other.join().unwrap()]);
    });
}

/// Two threads take of two limits, more often than there are sheets: each moment is there once.
#[test]
fn several_limits_against_calls() {
    Model::new("pace::several_limits_against_calls").bounded(2).explore(|| {
        set_time(0);
        let second = Duration::from_secs(1);
        let builder = Paces::builder().limit_with_burst(1, second, 1).limit(2, second);
        let paces = Arc::new(builder.clock(Local).build().expect("it is sound"));
        let shared = Arc::clone(&paces);
        let reserve = |paces: &Paces<Local>| {
            let turn = paces.reserve(1, Duration::MAX).expect("it may wait for ever");
            let wait = turn.wait();
            turn.keep();
            wait
        };
        let other = thread::spawn(move || {
            turn();
            set_time(0);
            reserve(&shared)
        });
        let mut waits = [reserve(&paces), reserve(&paces), other.join().unwrap()];
        waits.sort_unstable();
        assert_eq!(waits, [0, 1, 2].map(|at| at * second));
        assert_eq!(paces.idle_after(), 3 * second);
    });
}

/// Two limits: a call takes both or none, and a turn is given back to both.
#[test]
fn several_limits_against_giving_back() {
    Model::new("pace::several_limits_against_giving_back").explore(|| {
        set_time(0);
        let second = Duration::from_secs(1);
        let builder = Paces::builder().limit_with_burst(10, second, 2).limit(3, 10 * second);
        let paces = Arc::new(builder.clock(Local).build().expect("it is sound"));
        assert!(paces.try_admit(1));
        let shared = Arc::clone(&paces);
        let other = thread::spawn(move || {
            turn();
            set_time(0);
            shared.try_admit(1)
        });
        let reserved = paces.reserve(1, Duration::MAX);
        turn();
        let is_at_once = reserved.as_ref().is_ok_and(|reserved| reserved.wait().is_zero());
        drop(reserved); // at its turn it counts as used, and before it is given back
        let is_others = other.join().unwrap();
        assert!(!(is_at_once && is_others), "three at once, with a burst of two");
        let admitted = 1 + u64::from(is_others) + u64::from(is_at_once);
        assert!((2..=3).contains(&admitted), "{admitted}");
        assert_eq!(paces.left(), 2 - admitted.min(2));
        let expected = u32::try_from(admitted).unwrap() * (10 * second / 3);
        let idle = paces.idle_after();
        assert!(idle >= expected && idle < expected + Duration::from_nanos(3), "{idle:?}");
    });
}

/// Returns the period of a unit.
fn period(pace: &Pace<Local>) -> u64 {
    let quota = pace.quota();
    quota.refill.as_nanos() as u64 / quota.burst
}

/// Returns the units in use, each of which has the whole period that holds now.
fn in_use(pace: &Pace<Local>) -> u64 {
    set_time(0);
    let (idle, period) = (pace.idle_after().as_nanos() as u64, period(pace));
    assert_eq!(idle % period, 0, "a call is half of the one, and half of the other");
    idle / period
}

/// A call comes while the period changes: by the old one or by the new one, it takes a unit.
#[test]
fn change_against_calls() {
    Model::new("pace::change_against_calls").explore(|| {
        let pace = pace();
        let other = spawn(&pace, |pace| reserve(pace, 0, true));
        pace.set_rate(Duration::from_nanos(2 * PERIOD)).expect("it can be");
        turn();
        let own = reserve(&pace, 0, true);
        let mut moments = [own, other.join().unwrap()].map(|moment| moment.expect("it was kept"));
        moments.sort_unstable();
        assert!(moments[0] + PERIOD <= moments[1], "{moments:?}");
        assert_eq!((in_use(&pace), period(&pace)), (2, 2 * PERIOD));
    });
}

/// Two changes at once, of which each is the first or the second; a call comes before.
#[test]
fn change_against_change() {
    Model::new("pace::change_against_change").explore(|| {
        let pace = pace();
        _ = reserve(&pace, 0, true);
        let other = spawn(&pace, |pace| {
            set_time(0);
            pace.set_burst(2).expect("it can be");
        });
        pace.set_rate(Duration::from_nanos(2 * PERIOD)).expect("it can be");
        other.join().unwrap();
        assert_eq!((in_use(&pace), pace.quota().burst, pace.left()), (1, 2, 1));
    });
}

/// A turn is given back while the pace changes: undone before, or passed on behind.
#[test]
fn change_against_giving_back() {
    Model::new("pace::change_against_giving_back").explore(|| {
        let pace = pace();
        let first = reserve(&pace, 0, true);
        let vacant = pace.reserve(1, Duration::MAX).expect("it may wait for ever");
        let other = spawn(&pace, |pace| {
            set_time(0);
            pace.set_rate(Duration::from_nanos(2 * PERIOD)).expect("it can be");
        });
        turn();
        set_time(0);
        assert!(vacant.settle(0));
        other.join().unwrap();
        let idle = || {
            set_time(0);
            pace.idle_after().as_nanos() as u64
        };
        let before = idle();
        let next = reserve(&pace, 0, true).expect("it was kept");
        let moment = next - first.expect("it was kept");
        // Undone: the next call is a new period behind the first. Vacant: it comes then, and the
        // new period holds from there on.
        let found = (before, moment, idle());
        let [undone, vacant] = [(2, 2, 4), (3, 1, 3)];
        let times = |(a, b, c)| (a * PERIOD, b * PERIOD, c * PERIOD);
        assert!([undone, vacant].map(times).contains(&found), "{found:?}");
    });
}

/// One call is settled for less and one for more, beside each other: each unit counts once.
#[test]
fn settling_against_settling() {
    Model::new("pace::settling_against_settling").explore(|| {
        set_time(0);
        let builder = Pace::builder(Duration::from_nanos(PERIOD)).burst(4).clock(Local);
        let pace = Arc::new(builder.build().expect("it is sound"));
        let own = pace.reserve(2, Duration::ZERO).expect("the whole burst is left");
        let other = spawn(&pace, |pace| {
            set_time(0);
            pace.reserve(2, Duration::ZERO).expect("half of the burst is left").settle(4);
        });
        turn();
        own.settle(1);
        other.join().unwrap();
        assert_eq!((in_use(&pace), pace.left()), (5, 0));
    });
}

/// A call is settled while the pace changes: before, or at what it has reserved.
#[test]
fn settling_against_a_change() {
    Model::new("pace::settling_against_a_change").explore(|| {
        set_time(0);
        let builder = Pace::builder(Duration::from_nanos(PERIOD)).burst(4).clock(Local);
        let pace = Arc::new(builder.build().expect("it is sound"));
        let own = pace.reserve(2, Duration::ZERO).expect("the whole burst is left");
        let other = spawn(&pace, |pace| {
            set_time(0);
            pace.set_rate(Duration::from_nanos(2 * PERIOD)).expect("it can be");
        });
        turn();
        own.settle(1);
        other.join().unwrap();
        let in_use = in_use(&pace);
        assert!((1..=2).contains(&in_use), "{in_use}");
        assert_eq!(pace.left(), 4 - in_use);
    });
}

/// A pace is retired, or admits a call, and not both; also if it changes meanwhile.
#[test]
fn retiring_against_a_call_and_a_change() {
    Model::new("pace::retiring_against_a_call_and_a_change").explore(|| {
        let pace = pace();
        let other = spawn(&pace, |pace| {
            set_time(0);
            let is_changed = pace.set_burst(2).is_ok();
            let is_admitted = pace.try_admit(1);
            assert!(is_changed || !is_admitted);
            is_admitted
        });
        set_time(0);
        let is_retired = pace.retire();
        let is_admitted = other.join().unwrap();
        assert!(is_retired != is_admitted);
        assert_eq!((pace.is_retired(), pace.try_admit(1)), (is_retired, is_admitted));
    });
}

/// One of two limits changes, while a call takes of both.
#[test]
fn several_limits_against_a_change() {
    Model::new("pace::several_limits_against_a_change").bounded(1).explore(|| {
        set_time(0);
        let second = Duration::from_secs(1);
        let builder = Paces::builder().limit(4, 4 * second).limit(5, 10 * second);
        let paces = Arc::new(builder.clock(Local).build().expect("it is sound"));
        let shared = Arc::clone(&paces);
        let other = thread::spawn(move || {
            turn();
            set_time(0);
            shared.try_admit(1)
        });
        paces.set_limit(1, 3, 10 * second).expect("it can be");
        assert!(other.join().unwrap() && paces.try_admit(2) && !paces.try_admit(1));
        let left: Vec<u64> = paces.quotas().map(|quota| quota.left).collect();
        assert_eq!(left, [1, 0]);
    });
}
