//! Paces: each turn is that of a list of all turns before it, less those that were given back; or
//! the earliest that another request has left to others.

use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use testkit::Rng;
use tower::{Layer, Service, service_fn};
use windrow::Pace;
use windrow::clock::Manual;
use windrow_tower::PaceLayer;

use super::leaked::Leaked;
use super::{
    MS, advance, begin, check_told, clock, is_refused, now, poll, request, run_all, sleep, step,
    told,
};
use crate::limited::{Answer, answer};

/// A pace, as its documentation says.
struct Model {
    period: u64,
    burst: u64,
    /// The time until which the pace is taken.
    end: u64,
    /// The moments and the weights that requests have left to others.
    vacant: Vec<(u64, u64)>,
    /// The latest moment that was ever vacant: behind it, no request looks.
    latest: u64,
    /// The moments of the requests that were called, with their weights.
    called: Vec<(u64, u64)>,
}

/// A turn of the model: its moment, and the end before and behind it, if it was not another's.
#[derive(Clone, Copy)]
struct Turn {
    due: u64,
    ends: Option<(u64, u64)>,
}

impl Model {
    fn new(random: &mut Rng) -> Model {
        let period = [7, 100 * MS, random.u64(1..700 * MS)][random.usize(..3)];
        Model { period, burst: random.u64(1..6), end: 0, vacant: vec![], latest: 0, called: vec![] }
    }

    /// Returns the turn that a weight has if it waits so long at most, or would have.
    fn turn(&mut self, weight: u64, max_wait: u64) -> Turn {
        let behind = self.end.max(now()) + weight * self.period;
        let due = now().max(behind - self.burst * self.period);
        if due > now() && max_wait > 0 && self.latest > now() {
            let latest = (now() + max_wait).min(due - 1);
            self.vacant.retain(|turn| turn.0 > now());
            let has_it = |turn: &&mut (u64, u64)| turn.0 <= latest && turn.1 >= weight;
            if let Some(turn) = self.vacant.iter_mut().filter(has_it).min_by_key(|turn| turn.0) {
                turn.1 -= weight;
                let due = turn.0;
                self.vacant.retain(|turn| turn.1 > 0);
                return Turn { due, ends: None };
            }
        }
        Turn { due, ends: Some((self.end, behind)) }
    }

    /// Gives a turn back that has not come: as if it had never been, unless another is behind it.
    fn give_back(&mut self, turn: Turn, weight: u64) {
        if now() >= turn.due {
            return;
        }
        if let Some((before, behind)) = turn.ends
            && self.end == behind
        {
            self.end = before;
            return;
        }
        self.latest = self.latest.max(turn.due);
        self.vacant.retain(|vacant| vacant.0 >= now());
        match self.vacant.iter_mut().find(|vacant| vacant.0 == turn.due) {
            Some(vacant) => vacant.1 += weight,
            None => self.vacant.push((turn.due, weight)),
        }
    }

    /// Checks the promise: in each span of `d` nanoseconds at most `burst + (d - 1) / period`.
    fn judge(&mut self) -> Result<(), String> {
        self.called.sort_unstable();
        for (first, &(begin, _)) in self.called.iter().enumerate() {
            let mut weight = 0;
            for &(at, more) in &self.called[first..] {
                weight += more;
                if weight > self.burst + (at - begin) / self.period {
                    return Err(format!("{weight} in {} ns", at - begin + 1));
                }
            }
        }
        Ok(())
    }
}

type Pending = Pin<Box<dyn Future<Output = Answer>>>;

/// A request that waits for its turn.
struct Waiting {
    pace: usize,
    weight: u64,
    turn: Turn,
    future: Pending,
}

/// Polls all requests that wait: those whose turn has come are called. Returns their number.
fn call_the_due(waiting: &mut Vec<Waiting>, models: &mut [Model]) -> Result<u64, String> {
    let mut called = 0;
    for mut request in mem::take(waiting) {
        let is_due = request.turn.due <= now();
        match poll(request.future.as_mut()) {
            Poll::Ready(Ok(response)) if is_due && !is_refused(&response) => {
                called += 1;
                models[request.pace].called.push((request.turn.due, request.weight));
            }
            Poll::Pending if !is_due => waiting.push(request),
            _ => return Err(format!("due: {is_due}, and it is not so")),
        }
    }
    Ok(called)
}

fn run(seed: u64, waits: bool, steps_back: bool) -> Result<u64, String> {
    thread_local! {
        static SLEPT: Cell<Option<Duration>> = const { Cell::new(None) };
        static WEIGHT: Cell<u64> = const { Cell::new(1) };
        static CALLS: Cell<u64> = const { Cell::new(0) };
    }
    begin();
    let random = &mut Rng::with_seed(seed);
    let mut models = [(); 2].map(|()| Model::new(random));
    let paces: [Leaked<Pace<Manual>>; 2] = [0, 1].map(|at: usize| {
        let builder = Pace::builder(Duration::from_nanos(models[at].period));
        Leaked::new(builder.burst(models[at].burst).clock(clock()).build().expect("a pace"))
    });
    // SAFETY: the layer and its futures are dropped before the paces, which come first.
    let statics = [unsafe { paces[0].get() }, unsafe { paces[1].get() }];
    let max_wait = if waits { Duration::from_millis(random.u64(..3_000)) } else { Duration::ZERO };
    let layer = PaceLayer::new(move |parts: &http::request::Parts| {
        Some(statics[usize::from(parts.headers.get("client")? == "other")])
    });
    let layer = layer.weight(|_| WEIGHT.get()).wait(max_wait, |wait| {
        SLEPT.set(Some(wait));
        sleep(wait)
    });
    let mut service = layer.layer(service_fn(|request: Request<()>| {
        CALLS.set(CALLS.get() + 1);
        answer(request)
    }));
    let mut waiting: Vec<Waiting> = vec![];
    let mut admitted = 0;
    let mut obeyed: Option<(usize, u64)> = None;
    for _ in 0..60 {
        match random.u8(..20) {
            _ if obeyed.is_some() => {}
            0..3 if !waiting.is_empty() => {
                let gone = waiting.swap_remove(random.usize(..waiting.len()));
                models[gone.pace].give_back(gone.turn, gone.weight);
                drop(gone);
                continue;
            }
            3..9 => {
                step(random, steps_back);
                let before = CALLS.get();
                let called = call_the_due(&mut waiting, &mut models)?;
                if CALLS.get() != before + called {
                    return Err(format!("{called} were due, and it is not so"));
                }
                continue;
            }
            _ => {}
        }
        let obeys = obeyed.take();
        let (pace, weight) = obeys.unwrap_or_else(|| (random.usize(..2), random.u64(1..4)));
        WEIGHT.set(weight);
        SLEPT.set(None);
        let calls = CALLS.get();
        let fits = weight <= models[pace].burst;
        let longest = if fits { max_wait.as_nanos() as u64 } else { 0 };
        let turn = models[pace].turn(weight, longest);
        let wait = Duration::from_nanos(turn.due - now());
        let mut future: Pending = Box::pin(service.call(request(random, ["one", "other"][pace])));
        if !fits || wait > max_wait {
            let Poll::Ready(Ok(response)) = poll(future.as_mut()) else {
                return Err(format!("{weight} after {wait:?} is not refused"));
            };
            if !is_refused(&response) || obeys.is_some() || CALLS.get() != calls {
                return Err(format!("{weight} after {wait:?}, obeys: {obeys:?}"));
            }
            check_told(&response, fits.then_some(wait))?;
            if let Some(told) = told(&response).filter(|_| random.u8(..3) == 0) {
                advance(told);
                for gone in waiting.drain(..).rev() {
                    models[gone.pace].give_back(gone.turn, gone.weight);
                }
                obeyed = Some((pace, weight));
            }
            continue;
        }
        if let Some((_, behind)) = turn.ends {
            models[pace].end = behind;
        }
        admitted += 1;
        if wait.is_zero() {
            let polled = poll(future.as_mut());
            let is_admitted = matches!(&polled, Poll::Ready(Ok(response)) if !is_refused(response));
            if !is_admitted || CALLS.get() != calls + 1 {
                return Err(format!("{weight} is not admitted at once"));
            }
            models[pace].called.push((turn.due, weight));
        } else {
            if SLEPT.get() != Some(wait) || CALLS.get() != calls {
                return Err(format!("it sleeps for {:?}, and not for {wait:?}", SLEPT.get()));
            }
            waiting.push(Waiting { pace, weight, turn, future });
        }
    }
    drop((waiting, service, layer));
    for model in &mut models {
        model.judge()?;
    }
    Ok(admitted)
}

#[test]
fn paces_keep_their_promise_whatever_callers_do() {
    run_all(4, |seed, kind| run(seed, kind % 2 == 1, kind / 2 == 1));
}
