//! Operations in flight: each bucket's maximum is the greatest level that its operations join, in
//! one order of all operations; no limit is overshot; and effects before an operation are visible
//! behind the next, the time included.
//!
//! Explores two threads that enter and leave while buckets rotate, of weights by which any order
//! shows; two that meet an advancing clock; and two that ask for the last place.

use std::collections::BTreeSet;
use std::mem::forget;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{
    AtMost, Clock, InFlight, SlidingWindow, events,
    in_flight::{InFlightGuard, LevelOwner, Peaks},
};
use windrow_loom_tests::engine::{
    UnsafeCell,
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{LENGTH, Local, Window, interval, set_time, window};
use windrow_loom_tests::{Model, turn};

events! {
    /// The maximum of a level; and an event that opens buckets.
    enum Pool { Busy: Maximum, Opened: Count }
}

/// A level, and the window that keeps its maximum.
struct Busy<C> {
    level: InFlight,
    window: SlidingWindow<Pool, C>,
}

/// A guard that owns both.
type Inside<C> = InFlightGuard<Arc<Busy<C>>>;

impl<C: Clock> LevelOwner for Busy<C> {
    fn in_flight(&self) -> &InFlight {
        &self.level
    }

    fn left(&self, before: u64) {
        self.peaks().left(before);
    }
}

/// Enters before the window has a say.
fn inside<C: Clock>(busy: &Arc<Busy<C>>, weight: u64) -> Inside<C> {
    busy.level.enter(weight).owned_by(Arc::clone(busy))
}

/// Enters, and stays until the model ends.
fn enter<C: Clock>(peaks: Peaks<'_, Pool, C>) {
    forget(peaks.enter(1));
}

impl<C: Clock> Busy<C> {
    fn peaks(&self) -> Peaks<'_, Pool, C> {
        self.level.record_peaks(&self.window, Pool::Busy)
    }

    /// Returns the maximum of each bucket of the interval, the oldest first.
    fn maxima(&self) -> Vec<Option<u64>> {
        let snapshot = self.window.snapshot();
        snapshot.buckets().iter().map(|bucket| bucket.stats(Pool::Busy).max).collect()
    }
}

fn spawn<T: Send + Sync + 'static, R: Send + 'static>(
    shared: &Arc<T>,
    body: impl FnOnce(&Arc<T>) -> R + Send + 'static,
) -> JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || body(&shared))
}

/// A bucket, by its number, and a weight that enters there, or leaves if it is negative.
type Op = (usize, i64);

/// Returns what a thread has in flight before it begins: the weights that leave and have not
/// entered.
fn held(busy: &Arc<Busy<Local>>, ops: &[Op]) -> Vec<(i64, Inside<Local>)> {
    let entered = |weight: i64| ops.iter().any(|(_, entering)| *entering == weight);
    let leaving = ops.iter().map(|(_, weight)| -weight).filter(|weight| *weight > 0);
    let before = leaving.filter(|weight| !entered(*weight));
    before.map(|weight| (weight, inside(busy, weight.unsigned_abs()))).collect()
}

/// Plays the operations of a thread in order. Returns the guards in flight at its end.
fn play(
    busy: &Arc<Busy<Local>>,
    mut held: Vec<(i64, Inside<Local>)>,
    ops: &[Op],
) -> Vec<(i64, Inside<Local>)> {
    for (bucket, weight) in ops {
        set_time(*bucket as u64);
        turn();
        if let Some(at) = held.iter().position(|(entered, _)| entered + weight == 0) {
            drop(held.swap_remove(at));
        } else {
            let inside = busy.peaks().enter(weight.unsigned_abs());
            held.push((*weight, inside.owned_by(Arc::clone(busy))));
        }
    }
    held
}

/// Returns a window of two buckets, with the first in which a thread does something open.
fn opened(one: &[Op], other: &[Op]) -> Window<Pool> {
    set_time(0);
    let window = window(2);
    set_time(one[0].0.min(other[0].0) as u64);
    window.add(Pool::Opened, 1);
    window
}

/// Returns all ways in which the operations of two threads can follow each other.
fn orders(one: &[Op], other: &[Op]) -> Vec<Vec<Op>> {
    let (Some((last, before)), Some((last_other, before_other))) =
        (one.split_last(), other.split_last())
    else {
        return vec![[one, other].concat()];
    };
    let ending = |orders: Vec<Vec<Op>>, last: &Op| {
        orders.into_iter().map(move |order| [&order[..], &[*last]].concat()).collect::<Vec<_>>()
    };
    let mut all = ending(orders(before, other), last);
    all.extend(ending(orders(one, before_other), last_other));
    all
}

/// Returns the maximum of each bucket, if operations come in this order.
fn maxima_of(before: u64, order: &[Op]) -> Vec<Option<u64>> {
    let (mut level, mut maxima) = (before.cast_signed(), vec![None; 2]);
    for (bucket, weight) in order {
        let joined = level.max(level + weight).unsigned_abs();
        maxima[*bucket] = maxima[*bucket].max(Some(joined));
        level += weight;
    }
    maxima
}

/// Two threads enter and leave. What leaves without having entered is in flight when they begin.
fn explore(model: Model, one: &'static [Op], other: &'static [Op]) {
    model.explore(move || {
        let busy = Arc::new(Busy { level: InFlight::new(), window: opened(one, other) });
        let (first, second) = (held(&busy, one), held(&busy, other));
        let before = busy.level.level();
        let second = spawn(&busy, move |busy| play(busy, second, other));
        let _first = play(&busy, first, one);
        let _second = second.join().unwrap();
        set_time(1);
        let possible: BTreeSet<_> =
            orders(one, other).iter().map(|order| maxima_of(before, order)).collect();
        let found = busy.maxima();
        assert!(possible.contains(&found), "{found:?} is of no order: {possible:?}");
        let left = one.iter().chain(other).map(|(_, weight)| *weight).sum::<i64>();
        let peaks = busy.peaks();
        assert_eq!(busy.level.level(), before.wrapping_add_signed(left));
        assert_eq!(Some(peaks.peak()), found.into_iter().max().flatten());
    });
}

/// Both come and go.
#[test]
fn two_in_one_bucket() {
    let model = Model::new("in_flight::two_in_one_bucket").bounded(2).bounded_over_epoch(1);
    explore(model, &[(0, 1), (0, -1)], &[(0, 2), (0, -2)]);
}

/// No thread enters in that bucket: its initial level is its maximum.
#[test]
fn two_that_leave_in_a_later_bucket() {
    let model = Model::new("in_flight::two_that_leave_in_a_later_bucket");
    explore(model.bounded(2).bounded_over_epoch(1), &[(1, -1)], &[(1, -2)]);
}

/// One leaves in the next bucket while another enters in this one: each tells the greater level, or
/// neither.
#[test]
fn enter_against_a_leave_in_the_next_bucket() {
    let model = Model::new("in_flight::enter_against_a_leave_in_the_next_bucket");
    explore(model.bounded(2).bounded_over_epoch(1), &[(1, -1)], &[(0, 2)]);
}

/// One has been in flight since the bucket before, and leaves while another comes and goes.
#[test]
fn one_that_leaves_beside_one_that_comes_and_goes() {
    let model = Model::new("in_flight::one_that_leaves_beside_one_that_comes_and_goes");
    explore(model.bounded(2).bounded_over_epoch(1), &[(1, -1)], &[(1, 2), (1, -2)]);
}

/// Two threads do the same with what each of them is given, one of them after it has moved the
/// clock to the next bucket. Returns the maxima of the two buckets.
fn beside_a_clock<T: Send + 'static>(
    give: impl Fn(&Arc<Busy<Manual>>) -> T,
    operate: fn(Peaks<'_, Pool, Manual>, T),
) -> [Option<u64>; 2] {
    let clock = Manual::default();
    let builder = SlidingWindow::builder().interval(interval(2)).buckets(2).clock(clock.clone());
    let busy = Arc::new(Busy { level: InFlight::new(), window: builder.build().unwrap() });
    let (mine, others) = (give(&busy), give(&busy));
    let other = spawn(&busy, move |busy| {
        busy.window.clock().advance(Duration::from_nanos(LENGTH));
        turn();
        operate(busy.peaks(), others);
    });
    turn();
    operate(busy.peaks(), mine);
    other.join().unwrap();
    busy.maxima().try_into().unwrap()
}

/// The second enter counts in no earlier bucket than the one that the first has seen.
#[test]
fn enters_against_the_clock() {
    let model = Model::new("in_flight::enters_against_the_clock");
    model.bounded(1).explore(|| {
        let maxima = beside_a_clock(|_| (), |peaks, ()| enter(peaks));
        assert_ne!(maxima[0], Some(2), "the second to enter has not seen what the first saw");
        assert_eq!(maxima[0].max(maxima[1]), Some(2));
    });
}

#[test]
fn limited_enters_against_the_clock() {
    let model = Model::new("in_flight::limited_enters_against_the_clock");
    model.bounded(1).explore(|| {
        let maxima =
            beside_a_clock(|_| (), |peaks, ()| forget(peaks.try_enter(1, AtMost(2)).unwrap()));
        assert_ne!(maxima[0], Some(2), "the second to enter has not seen what the first saw");
        assert_eq!(maxima[0].max(maxima[1]), Some(2));
    });
}

/// The second leave raises 1, in no earlier bucket than the one that the first has seen.
#[test]
fn leaves_against_the_clock() {
    let model = Model::new("in_flight::leaves_against_the_clock");
    model.bounded(1).explore(|| {
        let maxima = beside_a_clock(|busy| inside(busy, 1), |_, inside| drop(inside));
        assert_ne!(maxima[0], Some(1), "the second to leave has not seen what the first saw");
        assert_eq!(maxima[0].max(maxima[1]), Some(2));
    });
}

/// With a limit of one, one thread at a time is inside, and sees what the one before it did.
#[test]
fn one_at_a_time() {
    Model::new("in_flight::one_at_a_time").explore(|| {
        let lock = Arc::new((InFlight::new(), UnsafeCell::new(0)));
        let enter = |lock: &Arc<(InFlight, UnsafeCell<u64>)>| {
            let (level, cell) = &**lock;
            turn();
            let inside = level.try_enter(1, AtMost(1));
            if inside.is_some() {
                // SAFETY: loom checks that no other thread uses the cell.
                cell.with_mut(|cell| unsafe { *cell += 1 });
            }
            inside.is_some()
        };
        let other = spawn(&lock, enter);
        let inside = enter(&lock);
        assert!(other.join().unwrap() || inside, "a place was free, and no thread had it");
        assert_eq!(lock.0.level(), 0);
    });
}

/// A thread that finds nothing in flight has seen all work until then.
#[test]
fn level_against_the_last_leave() {
    Model::new("in_flight::level_against_the_last_leave").explore(|| {
        let work = Arc::new(UnsafeCell::new(0));
        let level = Arc::new(InFlight::new());
        let inside = level.enter(1).owned_by(Arc::clone(&level));
        let other = spawn(&work, |cell| {
            // SAFETY: loom checks that no other thread uses the cell.
            cell.with_mut(|cell| unsafe { *cell = 7 });
            turn();
            drop(inside);
        });
        turn();
        if level.level() == 0 {
            // SAFETY: loom checks that no other thread writes to the cell.
            work.with(|cell| assert_eq!(unsafe { *cell }, 7));
        }
        other.join().unwrap();
    });
}

/// Two want two of three places: they are never in together.
#[test]
fn limit_against_limit() {
    Model::new("in_flight::limit_against_limit").bounded(3).explore(|| {
        let level = Arc::new(InFlight::new());
        let ask = |level: &Arc<InFlight>| {
            turn();
            let inside = level.try_enter(2, AtMost(3));
            turn();
            if inside.is_some() {
                assert!(level.level() <= 3, "{} are in", level.level());
            }
            inside.is_some()
        };
        let other = spawn(&level, ask);
        let inside = ask(&level);
        assert!(other.join().unwrap() || inside, "two places were free, and no thread had them");
        assert_eq!(level.level(), 0);
    });
}
