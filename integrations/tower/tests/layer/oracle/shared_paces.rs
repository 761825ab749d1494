//! Paces by key where keys share, and rules are swapped: none gets more than one pace would, with
//! the highest burst and the shortest period of its own and the shared ones.

use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use testkit::Rng;
use tower::{Layer, Service, service_fn};
use windrow::Pace;
use windrow::clock::Manual;
use windrow_tower::{LimitLayer, Limits, Rate, Rules};

use super::leaked::Leaked;
use super::{MS, begin, clock, is_refused, now, poll, request, run_all, sleep, step};
use crate::limited::{Answer, Client, answer, client};

const NAMES: [&str; 4] = ["alice", "bob", "carol", "dave"];

/// A period in nanoseconds, and a burst.
#[derive(Clone, Copy, Debug)]
struct Terms {
    period: u64,
    burst: u64,
}

thread_local! {
    static SLEPT: Cell<Option<Duration>> = const { Cell::new(None) };
    static WEIGHT: Cell<u64> = const { Cell::new(1) };
    /// The terms of each key, and of all that share.
    static TERMS: Cell<[Terms; 2]> = const { Cell::new([Terms { period: 1, burst: 1 }; 2]) };
}

fn make(client: Option<Client<'_>>) -> Pace<Manual> {
    let Terms { period, burst } = TERMS.get()[usize::from(client.is_none())];
    Pace::builder(Duration::from_nanos(period)).burst(burst).clock(clock()).build().expect("a pace")
}

/// Makes terms that are in part those of others, so that they meet at edges.
fn any(random: &mut Rng, others: Terms) -> Terms {
    let period = [7, 100 * MS, random.u64(1..700 * MS), others.period][random.usize(..4)];
    Terms { period, burst: [random.u64(1..12), others.burst][random.usize(..2)] }
}

/// The rate of rules for such terms.
fn rate(Terms { period, burst }: Terms) -> Rate {
    Rate::new(1).interval(Duration::from_nanos(period)).burst(burst).max_wait(Duration::MAX)
}

/// A request that was decided after this number of swaps: its moment and its weight.
#[derive(Clone, Copy, Debug)]
struct Call {
    swaps: usize,
    /// The least number of swaps after which its turn may have been decided for another request,
    /// which has gone away.
    since: usize,
    at: u64,
    weight: u64,
}

/// A request that waits.
struct Waiting {
    key: usize,
    call: Call,
    future: Pin<Box<dyn Future<Output = Answer>>>,
}

/// Checks the requests of a key, for each pair of swaps between which they were decided.
fn judge(called: &[Call], sets: &[[Terms; 2]]) -> Result<(), String> {
    for first in 0..sets.len() {
        for last in first..sets.len() {
            let within = called.iter().filter(|call| call.since >= first && call.swaps <= last);
            judge_within(within.copied().collect(), &sets[first..=last])?;
        }
    }
    Ok(())
}

/// Checks the requests that were decided under these terms.
fn judge_within(mut called: Vec<Call>, sets: &[[Terms; 2]]) -> Result<(), String> {
    let all = || sets.iter().flatten();
    let burst = all().map(|terms| terms.burst).max().expect("there are terms");
    let period = all().map(|terms| terms.period).min().expect("there are terms");
    let own = || sets.iter().map(|[own, _]| own);
    let (own_burst, own_period) = (own().map(|own| own.burst).min(), own().map(|it| it.period));
    // A key that has had more of the shared burst than its own one is may be forgotten, and share
    // again, as soon as its own burst is back.
    let longest = match (own_burst, own_period.min()) {
        (Some(own), Some(period)) if own < burst => own * period,
        _ => u64::MAX,
    };
    called.sort_unstable_by_key(|call| call.at);
    for (first, &Call { at: begin, .. }) in called.iter().enumerate() {
        let mut weight = 0;
        for call in called[first..].iter().take_while(|call| call.at - begin < longest) {
            weight += call.weight;
            let nanos = call.at - begin;
            if weight > burst + nanos / period {
                return Err(format!("{weight} in {} ns from {begin}, of {sets:?}", nanos + 1));
            }
        }
    }
    Ok(())
}

fn run(seed: u64, kind: usize) -> Result<u64, String> {
    begin();
    let random = &mut Rng::with_seed(seed);
    let (alike, waits, room) = (kind & 1 == 0, kind & 2 > 0, if kind & 4 > 0 { 1 } else { 3 });
    let swaps = kind & 8 > 0;
    let set = |random: &mut Rng, before: Terms| {
        let own = any(random, before);
        [own, if alike { own } else { any(random, own) }]
    };
    let mut sets = vec![set(random, Terms { period: MS, burst: 3 })];
    TERMS.set(sets[0]);
    let max_wait = if waits { Duration::from_millis(random.u64(..3_000)) } else { Duration::ZERO };
    let limits = Leaked::new(Limits::<Client, Pace<Manual>>::new(room, make));
    // SAFETY: the layer and its futures are dropped before the limits, which come first.
    let layer = LimitLayer::new(unsafe { limits.get() }, client);
    let layer = layer.weight(|_| WEIGHT.get()).wait(max_wait, |wait| {
        SLEPT.set(Some(wait));
        sleep(wait)
    });
    let mut service = layer.layer(service_fn(answer));
    let mut called = [const { Vec::<Call>::new() }; NAMES.len()];
    let mut waiting: Vec<Waiting> = vec![];
    let mut vacated: Vec<Call> = vec![];
    for _ in 0..if swaps { 80 } else { 200 } {
        match random.u8(..20) {
            0 => _ = limits.forget_idle(),
            1 if swaps => {
                let set = set(random, sets[sets.len() - 1][0]);
                let rules = Rules::builder(rate(set[0])).overflow(rate(set[1])).build();
                let changes = limits.replace(rules.expect("valid rates")).expect("for paces");
                if changes.failed > 0 {
                    return Err(format!("{} keys do not follow {set:?}", changes.failed));
                }
                sets.push(set);
            }
            1..3 if !waiting.is_empty() => {
                // Its turn goes to others; or it has come, and counts.
                let gone = waiting.swap_remove(random.usize(..waiting.len()));
                if gone.call.at <= now() {
                    called[gone.key].push(gone.call);
                } else {
                    vacated.push(gone.call);
                }
            }
            3..9 => {
                step(random, false);
                for mut request in mem::take(&mut waiting) {
                    match poll(request.future.as_mut()) {
                        Poll::Ready(_) => called[request.key].push(request.call),
                        Poll::Pending => waiting.push(request),
                    }
                }
            }
            _ => {
                let (key, weight) = (random.usize(..NAMES.len()), random.u64(1..4));
                WEIGHT.set(weight);
                SLEPT.set(None);
                let swaps = sets.len() - 1;
                let mut future = Box::pin(service.call(request(random, NAMES[key])));
                match poll(future.as_mut()) {
                    Poll::Ready(Ok(response)) if is_refused(&response) => {}
                    Poll::Ready(_) => {
                        called[key].push(Call { swaps, since: swaps, at: now(), weight });
                    }
                    Poll::Pending => {
                        let wait = SLEPT.get().ok_or("it does not sleep")?;
                        if wait > max_wait {
                            return Err(format!("a wait of {wait:?}, of {max_wait:?}"));
                        }
                        let at = now() + wait.as_nanos() as u64;
                        let same = vacated.iter().filter(|call| call.at == at);
                        let since = same.map(|call| call.since).fold(swaps, usize::min);
                        let call = Call { swaps, since, at, weight };
                        waiting.push(Waiting { key, call, future });
                    }
                }
            }
        }
    }
    drop((waiting, service, layer));
    let admitted = called.iter().map(Vec::len).sum::<usize>() as u64;
    for (name, called) in NAMES.iter().zip(called) {
        judge(&called, &sets).map_err(|why| format!("{name}: {why}"))?;
    }
    for _ in 0..2 {
        begin();
        limits.forget_idle();
    }
    if limits.family().len() == 0 { Ok(admitted) } else { Err("keys are kept".into()) }
}

#[test]
fn paces_by_key_keep_their_promise_where_keys_share() {
    run_all(8, run);
}

#[test]
fn paces_by_key_keep_their_promise_while_rules_are_swapped() {
    run_all(8, |seed, kind| run(seed, kind + 8));
}

/// A judge that passes everything would prove nothing.
#[test]
fn the_judge_finds_one_too_many() {
    let terms = |period, burst| Terms { period, burst };
    let [own, shared] = [terms(10, 3), terms(5, 2)];
    let is_well = |called: &[(usize, u64, u64)], sets: &[[Terms; 2]]| {
        let calls =
            called.iter().map(|&(swaps, at, weight)| Call { swaps, since: swaps, at, weight });
        judge(&calls.collect::<Vec<_>>(), sets).is_ok()
    };
    assert!(is_well(&[(0, 0, 3), (0, 5, 1), (0, 10, 1)], &[[own, shared]]));
    assert!(!is_well(&[(0, 0, 3), (0, 4, 1)], &[[own, shared]]));
    assert!(!is_well(&[(0, 0, 3), (0, 5, 1), (0, 100, 3), (0, 5, 1)], &[[own, shared]]));
    assert!(!is_well(&[(0, 0, 3), (0, 9, 1)], &[[own, own]]));
    // Of the smaller burst, a span is as long as that takes to come back.
    let apart = [[terms(10, 2), terms(10, 3)]];
    assert!(!is_well(&[(0, 0, 3), (0, 19, 3)], &apart));
    assert!(is_well(&[(0, 0, 3), (0, 20, 3)], &apart));
    // Decided under one set, or under both.
    let both = [[own, own], [shared, shared]];
    assert!(!is_well(&[(1, 0, 3)], &both) && is_well(&[(0, 0, 3), (1, 5, 1)], &both));
    assert!(!is_well(&[(0, 0, 3), (1, 4, 1)], &both));
}
