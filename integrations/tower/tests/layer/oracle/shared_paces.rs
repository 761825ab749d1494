//! Paces by key where keys share: none gets more than one pace would, with the higher burst and the
//! shorter period of its own and the shared one.

use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use testkit::Rng;
use tower::{Layer, Service, service_fn};
use windrow::Pace;
use windrow::clock::Manual;
use windrow_tower::{LimitLayer, Limits};

use super::leaked::Leaked;
use super::{MS, begin, clock, is_refused, now, poll, request, run_all, sleep, step};
use crate::limited::{Answer, Client, answer, client};

const NAMES: [&str; 4] = ["alice", "bob", "carol", "dave"];

/// A period in nanoseconds, and a burst.
#[derive(Clone, Copy, Debug, Default)]
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

/// A request that waits: its key, its moment and its weight.
struct Waiting {
    key: usize,
    due: u64,
    weight: u64,
    future: Pin<Box<dyn Future<Output = Answer>>>,
}

/// Checks the moments and the weights of a key's requests.
fn judge(mut called: Vec<(u64, u64)>, [own, shared]: [Terms; 2]) -> Result<(), String> {
    let (burst, period) = (own.burst.max(shared.burst), own.period.min(shared.period));
    // A key that has had more of the shared burst than its own one is may be forgotten, and share
    // again, as soon as its own burst is back.
    let longest = if own.burst < shared.burst { own.period * own.burst } else { u64::MAX };
    called.sort_unstable();
    for (first, &(begin, _)) in called.iter().enumerate() {
        let mut weight = 0;
        for &(at, more) in called[first..].iter().take_while(|(at, _)| at - begin < longest) {
            weight += more;
            if weight > burst + (at - begin) / period {
                return Err(format!(
                    "{weight} in {} ns, of {own:?} and {shared:?}",
                    at - begin + 1
                ));
            }
        }
    }
    Ok(())
}

fn run(seed: u64, kind: usize) -> Result<u64, String> {
    begin();
    let random = &mut Rng::with_seed(seed);
    let (alike, waits, room) = (kind & 1 == 0, kind & 2 > 0, if kind & 4 > 0 { 1 } else { 3 });
    let mut any = || Terms {
        period: [7, 100 * MS, random.u64(1..700 * MS)][random.usize(..3)],
        burst: random.u64(1..12),
    };
    let own = any();
    let terms = [own, if alike { own } else { any() }];
    TERMS.set(terms);
    let max_wait = if waits { Duration::from_millis(random.u64(..3_000)) } else { Duration::ZERO };
    let limits = Leaked::new(Limits::<Client, Manual, Pace<Manual>>::new(room, make));
    // SAFETY: the layer and its futures are dropped before the limits, which come first.
    let layer = LimitLayer::new(unsafe { limits.get() }, client);
    let layer = layer.weight(|_| WEIGHT.get()).wait(max_wait, |wait| {
        SLEPT.set(Some(wait));
        sleep(wait)
    });
    let mut service = layer.layer(service_fn(answer));
    let mut called = [const { Vec::<(u64, u64)>::new() }; NAMES.len()];
    let mut waiting: Vec<Waiting> = vec![];
    for _ in 0..200 {
        match random.u8(..20) {
            0 => _ = limits.forget_idle(),
            1..3 if !waiting.is_empty() => {
                // Its turn goes to others; or it has come, and counts.
                let gone = waiting.swap_remove(random.usize(..waiting.len()));
                if gone.due <= now() {
                    called[gone.key].push((gone.due, gone.weight));
                }
            }
            3..9 => {
                step(random, false);
                for mut request in mem::take(&mut waiting) {
                    match poll(request.future.as_mut()) {
                        Poll::Ready(_) => called[request.key].push((request.due, request.weight)),
                        Poll::Pending => waiting.push(request),
                    }
                }
            }
            _ => {
                let (key, weight) = (random.usize(..NAMES.len()), random.u64(1..4));
                WEIGHT.set(weight);
                SLEPT.set(None);
                let mut future = Box::pin(service.call(request(random, NAMES[key])));
                match poll(future.as_mut()) {
                    Poll::Ready(Ok(response)) if is_refused(&response) => {}
                    Poll::Ready(_) => called[key].push((now(), weight)),
                    Poll::Pending => {
                        let wait = SLEPT.get().ok_or("it does not sleep")?;
                        if wait > max_wait {
                            return Err(format!("a wait of {wait:?}, of {max_wait:?}"));
                        }
                        let due = now() + wait.as_nanos() as u64;
                        waiting.push(Waiting { key, due, weight, future });
                    }
                }
            }
        }
    }
    drop((waiting, service, layer));
    let admitted = called.iter().map(Vec::len).sum::<usize>() as u64;
    for (name, called) in NAMES.iter().zip(called) {
        judge(called, terms).map_err(|why| format!("{name}: {why}"))?;
    }
    for _ in 0..2 {
        begin();
        limits.forget_idle();
    }
    if limits.family().is_empty() { Ok(admitted) } else { Err("keys are kept".into()) }
}

#[test]
fn paces_by_key_keep_their_promise_where_keys_share() {
    run_all(8, run);
}

/// A judge that passes everything would prove nothing.
#[test]
fn the_judge_finds_one_too_many() {
    let terms = |period, burst| Terms { period, burst };
    let [own, shared] = [terms(10, 3), terms(5, 2)];
    let is_well = |called: &[(u64, u64)], terms| judge(called.to_vec(), terms).is_ok();
    assert!(is_well(&[(0, 3), (5, 1), (10, 1)], [own, shared]));
    assert!(!is_well(&[(0, 3), (4, 1)], [own, shared]));
    assert!(!is_well(&[(0, 3), (5, 1), (100, 3), (5, 1)], [own, shared]));
    assert!(!is_well(&[(0, 3), (9, 1)], [own, own]));
    // Of the smaller burst, a span is as long as that takes to come back.
    assert!(!is_well(&[(0, 3), (19, 3)], [terms(10, 2), terms(10, 3)]));
    assert!(is_well(&[(0, 3), (20, 3)], [terms(10, 2), terms(10, 3)]));
}
