//! Paces, and paces by key: each turn is that of a list of all turns before it, less those that
//! were given back; or the earliest that another request has left to others.

use std::cell::{Cell, OnceCell};
use std::future::Ready;
use std::mem;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use testkit::Rng;
use tower::util::ServiceFn;
use tower::{Layer, Service, service_fn};
use windrow::Pace;
use windrow::clock::Manual;
use windrow_tower::{LimitLayer, Limits, PaceLayer};

use super::leaked::Leaked;
use super::{
    MS, advance, begin, check_told, clock, is_refused, now, poll, request, run_all, sleep, step,
    told,
};
use crate::Nothing;
use crate::limited::{Answer, Client, answer, client};

/// A pace, as its documentation says.
pub(super) struct Model {
    pub(super) period: u64,
    pub(super) burst: u64,
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

thread_local! {
    static SLEPT: Cell<Option<Duration>> = const { Cell::new(None) };
    static WEIGHT: Cell<u64> = const { Cell::new(1) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// The period and the burst of each key. (Functions that make paces capture none.)
    static TERMS: Cell<[(u64, u64); 2]> = const { Cell::new([(1, 1); 2]) };
}

const KEYS: [&str; 2] = ["one", "other"];

fn pace(at: usize) -> Pace<Manual> {
    let (period, burst) = TERMS.get()[at];
    Pace::builder(Duration::from_nanos(period)).burst(burst).clock(clock()).build().expect("a pace")
}

/// A schedule: its seed, and its kind.
#[derive(Clone, Copy)]
struct Schedule {
    seed: u64,
    waits: bool,
    steps_back: bool,
}

/// Runs a schedule with a layer that has a pace for each key.
fn run_by_key(schedule: Schedule) -> Result<u64, String> {
    let limits = Leaked::new(Limits::<Client, Pace<Manual>>::new(64, |client| {
        pace(usize::from(client.is_some_and(|it| it.client == "other")))
    }));
    run(schedule, |max_wait| {
        // SAFETY: the layer and its futures are dropped before the limits, which come first.
        let layer = LimitLayer::new(unsafe { limits.get() }, client);
        let mut service = layer.weight(|_| WEIGHT.get()).wait(max_wait, slept).layer(inner());
        let forget = || _ = limits.forget_idle();
        (move |request| Box::pin(service.call(request)) as Pending, forget)
    })
}

/// Runs a schedule with a layer that chooses among two paces.
fn run_with_two(schedule: Schedule) -> Result<u64, String> {
    let paces = OnceCell::<[Leaked<Pace<Manual>>; 2]>::new();
    run(schedule, |max_wait| {
        let paces = paces.get_or_init(|| [0, 1].map(|at| Leaked::new(pace(at))));
        // SAFETY: the layer and its futures are dropped before the paces, which come first.
        let statics = [unsafe { paces[0].get() }, unsafe { paces[1].get() }];
        let layer = PaceLayer::new(move |parts: &http::request::Parts| {
            Some(statics[usize::from(parts.headers.get("client")? == "other")])
        });
        let mut service = layer.weight(|_| WEIGHT.get()).wait(max_wait, slept).layer(inner());
        (move |request| Box::pin(service.call(request)) as Pending, || {})
    })
}

/// Sleeps, and says so.
fn slept(wait: Duration) -> impl Future<Output = ()> {
    SLEPT.set(Some(wait));
    sleep(wait)
}

/// Returns the service behind the layer.
fn inner() -> ServiceFn<fn(Request<Nothing>) -> Ready<Answer>> {
    service_fn(|request| {
        CALLS.set(CALLS.get() + 1);
        answer(request)
    })
}

/// Runs a schedule. `layered` makes a service of the layer, and what forgets idle keys.
fn run<S: FnMut(Request<Nothing>) -> Pending, I: Fn()>(
    Schedule { seed, waits, steps_back }: Schedule,
    layered: impl FnOnce(Duration) -> (S, I),
) -> Result<u64, String> {
    begin();
    let random = &mut Rng::with_seed(seed);
    let mut models = [(); 2].map(|()| Model::new(random));
    TERMS.set([0, 1].map(|at: usize| (models[at].period, models[at].burst)));
    let max_wait = if waits { Duration::from_millis(random.u64(..3_000)) } else { Duration::ZERO };
    let (mut call, forget_idle) = layered(max_wait);
    let mut waiting: Vec<Waiting> = vec![];
    let mut admitted = 0;
    let mut obeyed: Option<(usize, u64)> = None;
    for _ in 0..60 {
        match random.u8(..20) {
            _ if obeyed.is_some() => {}
            9 if !steps_back => forget_idle(),
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
        let mut future: Pending = call(request(random, KEYS[pace]));
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
    drop((waiting, call));
    for model in &mut models {
        model.judge()?;
    }
    Ok(admitted)
}

#[test]
fn paces_keep_their_promise_whatever_callers_do() {
    run_all(4, |seed, kind| {
        run_with_two(Schedule { seed, waits: kind % 2 == 1, steps_back: kind / 2 == 1 })
    });
}

#[test]
fn paces_by_key_keep_it_too_and_while_keys_are_forgotten() {
    run_all(4, |seed, kind| {
        run_by_key(Schedule { seed, waits: kind % 2 == 1, steps_back: kind / 2 == 1 })
    });
}
