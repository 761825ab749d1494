//! Layers under random schedules, beside models of what their documentation promises: steps of the
//! clock, also back, rules that are swapped, more keys than there is room for, weights, waits, and
//! callers that drop their futures and bodies at any time.
//!
//! `TOWER_SCHEDULES` sets the number of schedules of each kind. A failure names its seed.

mod leaked;
mod limits;
mod paces;
mod rooms;
mod shared_paces;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::{Request, Response};
use testkit::Rng;
use windrow::clock::Manual;
use windrow::{Clock, Timestamp};
use windrow_tower::Blocked;

use crate::Nothing;
use crate::limited::{from, grpc_from};

const MS: u64 = 1_000_000;

/// The longest time that a client is told beyond the true wait, as the documentation says.
const LONGEST: u64 = 30_000 * MS;

thread_local! {
    /// The clock of all gates and paces of this thread. (Functions that make gates capture none.)
    static CLOCK: Manual = Manual::default();
}

fn clock() -> Manual {
    CLOCK.with(Manual::clone)
}

fn now() -> u64 {
    clock().now().as_nanos()
}

fn advance(nanos: u64) {
    clock().advance(Duration::from_nanos(nanos));
}

/// Sets the clock to a time behind all that earlier schedules have seen.
fn begin() {
    clock().advance(Duration::from_secs(1_000));
}

/// Moves the clock on, or back if the schedule does so.
fn step(random: &mut Rng, steps_back: bool) {
    let nanos = match random.u8(..8) {
        0 => random.u64(..4_000 * MS),
        1..4 => random.u64(..20) * 100 * MS, // often the edge of a bucket
        4 => random.u64(..3),
        _ => random.u64(..200 * MS),
    };
    if steps_back && random.u8(..4) == 0 {
        clock().set(Timestamp::from_nanos(now() - nanos));
    } else {
        advance(nanos);
    }
}

/// Sleeps by the clock of this thread.
fn sleep(wait: Duration) -> impl Future<Output = ()> {
    let end = now() + wait.as_nanos() as u64;
    poll_fn(move |_| if now() >= end { Poll::Ready(()) } else { Poll::Pending })
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn request(random: &mut Rng, key: &str) -> Request<Nothing> {
    if random.bool() { from(key) } else { grpc_from(key) }
}

/// Returns the time that a refusal tells, in nanoseconds; `None` if it tells none.
fn told<B>(response: &Response<B>) -> Option<u64> {
    let number = |name| response.headers().get(name)?.to_str().ok()?.parse::<u64>().ok();
    let seconds = number("retry-after").map(|seconds| seconds * 1_000 * MS);
    seconds.or_else(|| number("grpc-retry-pushback-ms").map(|wait| wait * MS))
}

/// Checks the times that a refusal tells, if the request would be admitted after `wait`.
fn check_told<B>(response: &Response<B>, wait: Option<Duration>) -> Result<(), String> {
    let blocked = response.extensions().get::<Blocked>().ok_or("a refusal without its mark")?;
    let exact = blocked.retry_after.map(|wait| wait.as_nanos() as u64);
    let told = told(response);
    let Some(wait) = wait.map(|wait| wait.as_nanos() as u64) else {
        return if (exact, told) == (None, None) { Ok(()) } else { Err("it never fits".into()) };
    };
    let (Some(exact), Some(told)) = (exact, told) else { return Err("no time is told".into()) };
    let unit = if response.headers().contains_key("retry-after") { 1_000 * MS } else { MS };
    let is_rounded_up = exact <= told && told < exact + unit || (exact, told) == (0, unit);
    if wait <= exact && exact <= wait + LONGEST && is_rounded_up {
        Ok(())
    } else {
        Err(format!("{told} and {exact} ns are told, and {wait} ns is true"))
    }
}

/// Returns whether a response is a refusal.
fn is_refused<B>(response: &Response<B>) -> bool {
    response.extensions().get::<Blocked>().is_some()
}

/// Runs schedules by their seeds, in each kind of a number of them.
fn run_all(kinds: usize, run: impl Fn(u64, usize) -> Result<u64, String>) {
    let schedules = std::env::var("TOWER_SCHEDULES").ok();
    let schedules: u64 =
        schedules.map_or(300, |number| number.parse().expect("TOWER_SCHEDULES is a number"));
    for kind in 0..kinds {
        let mut admitted = 0;
        for seed in 0..schedules {
            let result = run(seed, kind);
            admitted += result.unwrap_or_else(|why| panic!("kind {kind}, seed {seed}: {why}"));
        }
        assert!(admitted > 3 * schedules, "kind {kind}: {admitted} were admitted");
        println!("kind {kind}: {schedules} schedules, {admitted} admitted");
    }
}
