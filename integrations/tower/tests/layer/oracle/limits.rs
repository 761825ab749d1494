//! Rate limits: no key gets more than its limit in any span, and none is told to come too early.

use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use testkit::Rng;
use tower::{Layer, Service, service_fn};
use windrow::Gate;
use windrow::clock::Manual;
use windrow::gate::{Admission, GateBuilder};
use windrow_tower::{LimitLayer, Limits};

use super::leaked::Leaked;
use super::{
    advance, begin, check_told, clock, is_refused, now, poll, request, run_all, sleep, step, told,
};
use crate::Nothing;
use crate::limited::{Answer, Client, answer, client};
use crate::rules::promise::{Grant, Set, any_set, judge, made};

const NAMES: [&str; 6] = ["alice", "bob", "free-1", "free-2", "carol", "dave"];

type Pending = Pin<Box<dyn Future<Output = Answer>>>;

/// A request that waits: the end of its wait, and its future.
struct Waiting {
    until: u64,
    future: Pending,
}

/// Swaps the rules.
fn swap(limits: &Limits<Client<'static>, Gate<Manual>>, sets: &mut Vec<Set>, random: &mut Rng) {
    let set = any_set(random);
    let changes = limits.replace(set.build().unwrap()).unwrap();
    assert_eq!(changes.failed, 0);
    sets.push(set);
}

/// Returns the wait of a key's gate for a weight, if it refuses it now.
fn true_wait(
    limits: &Limits<Client<'static>, Gate<Manual>>,
    key: &str,
    weight: u64,
) -> Result<Option<Duration>, String> {
    let limit = limits.family().get(Client { client: key }).ok_or("a key without a gate")?;
    match limit.limiter().ok_or("no gate")?.admit(weight, Duration::ZERO) {
        Admission::Refused { retry_after } => Ok(retry_after),
        granted @ (Admission::Now | Admission::After(_)) => {
            Err(format!("its gate says {granted:?}"))
        }
    }
}

fn builder() -> GateBuilder<Manual> {
    Gate::builder(3).buckets(10).clock(clock())
}

/// Makes a gate that begins with permits.
fn permits(_: Option<Client<'_>>) -> Gate<Manual> {
    builder().build().expect("a second in ten buckets")
}

/// Makes a gate that begins with sheets: each call that asks it moves its time.
fn sheets(_: Option<Client<'_>>) -> Gate<Manual> {
    builder().preallocate().build().expect("a second in ten buckets")
}

/// Polls all requests that wait: those whose time has come are called. Returns their number.
fn call_the_due(waiting: &mut Vec<Waiting>) -> Result<u64, String> {
    let mut called = 0;
    for mut request in mem::take(waiting) {
        let is_due = request.until <= now();
        match poll(request.future.as_mut()) {
            Poll::Ready(Ok(response)) if is_due && !is_refused(&response) => called += 1,
            Poll::Pending if !is_due => waiting.push(request),
            _ => return Err(format!("due: {is_due}, and it is not so")),
        }
    }
    Ok(called)
}

/// Checks the grants of all keys by the rules, and that nothing is kept once all is over.
fn judge_all(
    limits: &Limits<Client<'static>, Gate<Manual>>,
    sets: &[Set],
    grants: &[Vec<Grant>],
    is_ample: bool,
) -> Result<(), String> {
    for (name, grants) in NAMES.iter().zip(grants) {
        let rates = sets.iter().map(|set| {
            if is_ample { vec![set.rate(name)] } else { vec![set.rate(name), set.overflow()] }
        });
        judge(grants, &rates.collect::<Vec<_>>()).map_err(|why| format!("{name}: {why}"))?;
    }
    for _ in 0..2 {
        begin();
        limits.forget_idle();
    }
    if limits.family().len() == 0 { Ok(()) } else { Err("keys are kept".into()) }
}

/// Runs a schedule with room for `keys` keys; returns the number of admitted requests.
fn run(seed: u64, keys: usize, waits: bool, steps_back: bool) -> Result<u64, String> {
    thread_local! {
        static SLEPT: Cell<Option<Duration>> = const { Cell::new(None) };
        static WEIGHT: Cell<u64> = const { Cell::new(1) };
        static CALLS: Cell<u64> = const { Cell::new(0) };
    }
    begin();
    let random = &mut Rng::with_seed(seed);
    let make = if steps_back { sheets } else { permits };
    let limits = Leaked::new(Limits::<Client, Gate<Manual>>::new(keys, make));
    let is_ample = keys > 2 * NAMES.len();
    let max_wait = if waits { Duration::from_millis(random.u64(..3_000)) } else { Duration::ZERO };
    // SAFETY: the layer and its futures are dropped before the limits, which come first.
    let layer = LimitLayer::new(unsafe { limits.get() }, client);
    let layer = layer.weight(|_| WEIGHT.get()).wait(max_wait, |wait| {
        SLEPT.set(Some(wait));
        sleep(wait)
    });
    let mut service = layer.layer(service_fn(|request: Request<Nothing>| {
        CALLS.set(CALLS.get() + 1);
        answer(request)
    }));
    let mut sets = vec![Set { default: made(), overflow: None, rules: vec![] }];
    let mut grants = [const { Vec::<Grant>::new() }; NAMES.len()];
    // The latest time at which each key's gate was asked for what may fit: it is not behind that.
    let mut latest = [0; NAMES.len()];
    let mut waiting: Vec<Waiting> = vec![];
    let mut admitted = 0;
    let mut obeyed: Option<(usize, u64)> = None;
    for nth in 0..60 {
        match random.u8(..20) {
            _ if obeyed.is_some() => {}
            0 if !steps_back => _ = limits.forget_idle(),
            kind if kind == 1 && !steps_back || nth == 0 => {
                swap(&limits, &mut sets, random);
                continue;
            }
            2 if !waiting.is_empty() => {
                drop(waiting.swap_remove(random.usize(..waiting.len()))); // its grant stays
                continue;
            }
            3..9 => {
                step(random, steps_back);
                let before = CALLS.get();
                let called = call_the_due(&mut waiting)?;
                if CALLS.get() != before + called {
                    let calls = CALLS.get() - before;
                    return Err(format!("{called} were due, and {calls} were called"));
                }
                continue;
            }
            _ => {}
        }
        let obeys = obeyed.take();
        let (key, weight) =
            obeys.unwrap_or_else(|| (random.usize(..NAMES.len()), random.u64(1..4)));
        WEIGHT.set(weight);
        SLEPT.set(None);
        let calls = CALLS.get();
        let mut future: Pending = Box::pin(service.call(request(random, NAMES[key])));
        let polled = match random.u8(..8) {
            0 if SLEPT.get().is_some() => None, // it may be dropped before it is ever polled
            _ => Some(poll(future.as_mut())),
        };
        let wait = SLEPT.get().unwrap_or_default();
        if !matches!(&polled, Some(Poll::Ready(Ok(it))) if is_refused(it) && told(it).is_none()) {
            latest[key] = latest[key].max(now());
        }
        match polled {
            Some(Poll::Ready(Ok(response))) if is_refused(&response) => {
                // (A key that has found room meanwhile may have a limit below the shared one.)
                let set = sets.last().expect("there is one");
                if obeys.is_some() && (is_ample || weight <= set.rate(NAMES[key]).limit) {
                    return Err(format!("{} came back as told, and is refused", NAMES[key]));
                }
                if CALLS.get() != calls {
                    return Err("a refused request was called".into());
                }
                if is_ample {
                    check_told(&response, true_wait(&limits, NAMES[key], weight)?)?;
                }
                // It obeys at times, and no other comes meanwhile.
                let obeys = now() >= latest[key] && random.u8(..3) == 0;
                if let Some(told) = told(&response).filter(|_| obeys) {
                    advance(told);
                    waiting.clear();
                    obeyed = Some((key, weight));
                }
                continue;
            }
            Some(Poll::Ready(Ok(_))) if SLEPT.get().is_none() && CALLS.get() == calls + 1 => {}
            None | Some(Poll::Pending) if !wait.is_zero() && CALLS.get() == calls => {
                if wait > max_wait {
                    return Err(format!("it waits for {wait:?}, and {max_wait:?} is the longest"));
                }
                waiting.push(Waiting { until: now() + wait.as_nanos() as u64, future });
            }
            _ => return Err(format!("polled: {}, slept {wait:?}", polled.is_some())),
        }
        admitted += 1;
        let at = if wait.is_zero() { latest[key] } else { now() + wait.as_nanos() as u64 };
        grants[key].push(Grant { swaps: sets.len() - 1, at, weight });
    }
    drop((waiting, service, layer));
    judge_all(&limits, &sets, &grants, is_ample).map(|()| admitted)
}

#[test]
fn limits_keep_their_promise_whatever_callers_do() {
    run_all(6, |seed, kind| run(seed, [64, 4, 1][kind / 2], kind % 2 == 1, false));
}

/// Without swaps and forgotten keys: gates have tests of these on such clocks.
#[test]
fn limits_keep_their_promise_on_a_clock_that_steps_back() {
    run_all(2, |seed, kind| run(seed, 64, kind == 1, true));
}
