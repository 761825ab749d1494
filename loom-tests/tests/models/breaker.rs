//! The breaker: outcomes count in the closed time of their calls and in no other, one of several
//! outcomes opens it, and trials are no more than the most.
//!
//! Explores two trials beside each other, outcomes that both reach the share, and an outcome that
//! is told while the breaker opens, half opens and closes.

use std::time::Duration;

use windrow::Breaker;
use windrow::breaker::{Call, Settings, State};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{Local, set_time};
use windrow_loom_tests::{Model, turn};

type Shared = Arc<Breaker<Local>>;

const OPEN: u64 = 100;

fn breaker(settings: Settings) -> Shared {
    set_time(0);
    let settings = settings.open_for(Duration::from_nanos(OPEN));
    Arc::new(Breaker::with_clock(settings, Local).expect("sound settings"))
}

fn call(breaker: &Shared) -> Call<Shared> {
    Call::begin(Arc::clone(breaker)).expect("let through")
}

/// Runs `body` in another thread, at a time.
fn spawn<R: Send + 'static>(time: u64, body: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
    thread::spawn(move || {
        turn();
        set_time(time);
        body()
    })
}

/// Returns a breaker whose open time is over, at the end of it.
fn ready(trials: u64) -> Shared {
    let breaker = breaker(Settings::last_calls(1).trials(trials));
    call(&breaker).failure();
    set_time(OPEN);
    breaker
}

/// Both find it open, at its end: one of them is the trial.
#[test]
fn trial_against_trial() {
    Model::new("breaker::trial_against_trial").explore(|| {
        let breaker = ready(1);
        let asks = Arc::clone(&breaker);
        let other = spawn(OPEN, move || asks.try_call().ok().map(std::mem::forget).is_some());
        let own = breaker.try_call().ok().map(std::mem::forget).is_some();
        assert!(own ^ other.join().unwrap());
        assert_eq!((breaker.state(), breaker.counts().half_opened), (State::HalfOpen, 1));
    });
}

/// A trial succeeds while the other fails.
#[test]
fn trials_that_end_beside_each_other() {
    Model::long("breaker::trials_that_end_beside_each_other").explore(|| {
        let breaker = ready(2);
        let trials = [call(&breaker), call(&breaker)];
        let [own, other] = trials;
        let other = spawn(OPEN, move || other.failure());
        own.success();
        other.join().unwrap();
        let counts = breaker.counts();
        assert_eq!((breaker.state(), counts.opened, counts.closed), (State::Open, 2, 0));
        assert_eq!((counts.succeeded, counts.failed), (1, 2));
    });
}

/// A dropped trial frees its place for one call.
#[test]
fn dropped_trial_against_a_call() {
    Model::new("breaker::dropped_trial_against_a_call").explore(|| {
        let breaker = ready(1);
        let trial = call(&breaker);
        let asks = Arc::clone(&breaker);
        let other = spawn(OPEN, move || asks.try_call().ok().map(std::mem::forget).is_some());
        drop(trial);
        let was_free = other.join().unwrap();
        assert!(breaker.try_call().is_ok() ^ was_free);
        assert_eq!(breaker.state(), State::HalfOpen);
    });
}

/// Each of two failures may be the one that reaches the share.
#[test]
fn outcomes_that_both_open_it() {
    Model::long("breaker::outcomes_that_both_open_it").explore(|| {
        let breaker = breaker(Settings::last_calls(2).minimum_calls(1));
        let [own, other] = [call(&breaker), call(&breaker)];
        let other = spawn(0, move || other.failure());
        own.failure();
        assert!(breaker.try_call().is_err(), "when it has returned, it is open");
        other.join().unwrap();
        assert_eq!((breaker.state(), breaker.counts().opened), (State::Open, 1));
    });
}

/// An outcome of the first closed time is told while the breaker opens, half opens and closes: it
/// counts in no window of the second one.
#[test]
fn outcome_of_an_earlier_closed_time() {
    Model::long("breaker::outcome_of_an_earlier_closed_time").explore(|| {
        let breaker = breaker(Settings::last_calls(2).minimum_calls(1).trials(1));
        let late = call(&breaker);
        call(&breaker).failure();
        set_time(OPEN);
        let trial = call(&breaker);
        let other = spawn(OPEN, move || late.failure());
        trial.success();
        call(&breaker).success();
        other.join().unwrap();
        let totals = breaker.totals();
        assert_eq!((breaker.state(), totals.calls, totals.failed), (State::Closed, 1, 0));
        assert_eq!(breaker.counts().failed, 2);
    });
}

/// An outcome, and a failure that opens it, beside each other; then trials close it.
#[test]
fn outcome_against_an_opening() {
    Model::long("breaker::outcome_against_an_opening").explore(|| {
        let breaker = breaker(Settings::last_calls(2).minimum_calls(1).trials(1));
        let [own, other] = [call(&breaker), call(&breaker)];
        let other = spawn(0, move || other.success());
        own.failure();
        other.join().unwrap();
        assert_eq!(breaker.state(), State::Open);
        set_time(OPEN);
        call(&breaker).success();
        let totals = breaker.totals();
        assert_eq!((breaker.state(), totals.calls), (State::Closed, 0));
        let counts = breaker.counts();
        assert_eq!((counts.opened, counts.half_opened, counts.closed), (1, 1, 1));
    });
}
