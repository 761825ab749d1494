//! Random schedules of requests, swaps, keys that are forgotten and time that goes on, judged by
//! the promise of the documentation and by nothing else.
//!
//! The judge knows each grant (when it was decided, where it counts), and which rates a key had
//! when: by a reading of the rules of its own.

use std::time::Duration;

use testkit::Rng;
use windrow::clock::Manual;
use windrow::{Clock, Gate, gate::Admission};
use windrow_tower::{LimitRules, Limits, Rate, Rules};

use crate::limited::Client;

const NAMES: [&str; 4] = ["alice", "bob", "free-1", "free-2"];
const PATTERNS: [&str; 6] = ["alice", "free-1", "free-*", "b*", "nobody", "*"];

thread_local! { static CLOCK: Manual = Manual::default(); }

fn now() -> u64 {
    CLOCK.with(|clock| clock.now().as_nanos())
}

/// The rules in force from one swap to the next.
#[derive(Clone)]
pub(crate) struct Set {
    pub(crate) default: Rate,
    pub(crate) overflow: Option<Rate>,
    pub(crate) rules: Vec<(&'static str, Rate)>,
}

impl Set {
    /// Returns the rate of a key, as the documentation says.
    pub(crate) fn rate(&self, key: &str) -> Rate {
        let matches = |pattern: &str| match pattern.split_once('*') {
            Some((prefix, _)) => key.starts_with(prefix),
            None => key == pattern,
        };
        let first = self.rules.iter().find(|(pattern, _)| matches(pattern));
        first.map_or(self.default, |(_, rate)| *rate)
    }

    pub(crate) fn overflow(&self) -> Rate {
        self.overflow.unwrap_or(self.default)
    }

    pub(crate) fn build(&self) -> Result<LimitRules, windrow_tower::RulesError> {
        let mut builder = Rules::builder(self.default);
        if let Some(overflow) = self.overflow {
            builder = builder.overflow(overflow);
        }
        let rules = self.rules.iter();
        rules
            .fold(builder, |builder, (client, rate)| builder.rule([("client", *client)], *rate))
            .build()
    }
}

/// A grant of one key.
pub(crate) struct Grant {
    /// The number of swaps before.
    pub(crate) swaps: usize,
    pub(crate) at: u64,
    pub(crate) weight: u64,
}

/// Checks the grants of a key that were decided under the sets `rates`: none exceeds a limit, for
/// each pair of sets under which the first and the last were decided.
pub(crate) fn judge(grants: &[Grant], rates: &[Vec<Rate>]) -> Result<(), String> {
    for first in 0..rates.len() {
        let (mut span, mut highest) = (u64::MAX, 0);
        for (last, rates) in rates.iter().enumerate().skip(first) {
            for rate in rates {
                span = span.min(span_of(*rate));
                highest = highest.max(rate.limit);
            }
            let of_these = grants.iter().filter(|grant| (first..=last).contains(&grant.swaps));
            let mut of_these: Vec<_> = of_these.map(|grant| (grant.at, grant.weight)).collect();
            of_these.sort_unstable();
            for (index, (begin, _)) in of_these.iter().enumerate() {
                let within = of_these[index..].iter().take_while(|(at, _)| at - begin <= span);
                let sum: u64 = within.map(|(_, weight)| weight).sum();
                if sum > highest {
                    return Err(format!(
                        "{sum} of {highest} within {span} ns from {begin}, sets {first} to {last}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// In which the limit holds: the interval of a strict rate, and a bucket less of any other.
fn span_of(rate: Rate) -> u64 {
    let (interval, buckets) = (rate.interval.as_nanos() as u64, rate.buckets as u64);
    if rate.strict { interval } else { interval / buckets * (buckets - 1) }
}

fn any_rate(random: &mut Rng) -> Rate {
    let interval = [200, 500, 1_000, 3_000][random.usize(..4)];
    let buckets = [1, 2, 5, 10][random.usize(..4)];
    let rate =
        Rate::new(random.u64(1..8)).interval(Duration::from_millis(interval)).buckets(buckets);
    let rate = if random.bool() { rate.strict() } else { rate };
    rate.max_wait(Duration::from_millis([0, 400, 5_000][random.usize(..3)]))
}

pub(crate) fn any_set(random: &mut Rng) -> Set {
    loop {
        let rules = (0..random.usize(..4)).map(|_| (PATTERNS[random.usize(..6)], any_rate(random)));
        let rules = rules.collect();
        let overflow = random.bool().then(|| any_rate(random));
        let set = Set { default: any_rate(random), overflow, rules };
        if set.build().is_ok() {
            return set; // no rule hides another
        }
    }
}

/// Returns the rate of the gates that the function makes. (They are not strict: then they have the
/// buckets that they should.)
pub(crate) fn made() -> Rate {
    Rate::new(3).buckets(10)
}

/// The longest time for which a grant may count: of a wait of the longest interval, that interval
/// with its spare bucket; and what changes of the geometry may add to it.
const FORGOTTEN: u64 = 20_000_000_000;

/// Runs one schedule; returns the number of grants, or the error.
fn run(seed: u64, room: usize, waits: bool) -> Result<u64, String> {
    let mut random = Rng::with_seed(seed);
    let clients = Limits::<Client, Gate<Manual>>::new(room, |_| {
        let clock = CLOCK.with(Clone::clone);
        Gate::builder(3).buckets(10).clock(clock).build().expect("a second in ten buckets")
    });
    let mut sets = vec![Set { default: made(), overflow: None, rules: vec![] }];
    let mut grants = [const { Vec::<Grant>::new() }; 4];
    for _ in 0..400 {
        match random.u8(..20) {
            0 => _ = clients.forget_idle(),
            1 => {
                let set = any_set(&mut random);
                let changes = clients.replace(set.build().unwrap()).unwrap();
                assert_eq!(changes.failed, 0);
                sets.push(set);
                for limit in clients.family() {
                    let set = sets.last().expect("it was pushed");
                    let key = limit.labels().map(|labels| labels.client.to_owned());
                    let rate = key.map_or(set.overflow(), |key| set.rate(&key));
                    let (buckets, gate) =
                        (rate.buckets + usize::from(rate.strict), limit.limiter().unwrap());
                    let has = (gate.limit(), gate.interval(), gate.buckets());
                    let length = rate.interval / rate.buckets as u32;
                    let is_right = has == (rate.limit, length * buckets as u32, buckets);
                    // A retired gate that is still held has no limit any more.
                    if !is_right && gate.limit() > 0 {
                        return Err(format!("{:?} has {has:?}, not {rate:?}", limit.labels()));
                    }
                }
            }
            2 => CLOCK.with(|clock| clock.advance(Duration::from_millis(random.u64(..4_000)))),
            3..8 => CLOCK.with(|clock| clock.advance(Duration::from_micros(random.u64(..200_000)))),
            _ => {
                let (key, weight) = (random.usize(..4), random.u64(1..4));
                let max_wait =
                    if waits { Duration::from_millis(random.u64(..3_000)) } else { Duration::ZERO };
                let asked = clients.admit(Client { client: NAMES[key] }, weight, max_wait);
                let rate = sets.last().expect("there is one").rate(NAMES[key]);
                let wait = match asked {
                    Admission::Now => 0,
                    Admission::After(wait) => wait.as_nanos() as u64,
                    Admission::Refused { .. } => {
                        let counts = |grant: &&Grant| grant.at + FORGOTTEN > now();
                        let most: u64 = grants[key].iter().filter(counts).map(|it| it.weight).sum();
                        // Nothing is granted behind a waiting request.
                        let waits = grants[key].iter().any(|grant| grant.at > now());
                        let is_sure = room >= NAMES.len() && !waits;
                        if is_sure && most + weight <= rate.limit {
                            return Err(format!("{weight} of {rate:?} is refused, beside {most}"));
                        }
                        continue;
                    }
                };
                let is_ruled = sets.len() > 1 && room >= NAMES.len();
                if wait > max_wait.as_nanos() as u64
                    || is_ruled && wait > rate.max_wait.as_nanos() as u64
                {
                    return Err(format!("a wait of {wait} ns, of {max_wait:?} and {rate:?}"));
                }
                let at = now() + wait;
                grants[key].push(Grant { swaps: sets.len() - 1, at, weight });
            }
        }
    }
    for (name, grants) in NAMES.iter().zip(&grants) {
        let rates = sets.iter().map(|set| {
            // With a place for each key, no request has asked the overflow gate.
            if room < NAMES.len() {
                vec![set.rate(name), set.overflow()]
            } else {
                vec![set.rate(name)]
            }
        });
        judge(grants, &rates.collect::<Vec<_>>()).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(grants.iter().flatten().map(|grant| grant.weight).sum())
}

/// Runs schedules with `room` places: `PROPTEST_CASES` gives their number, as in other tests made
/// of cases.
fn run_all(room: usize, waits: bool) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = cases.unwrap_or(300);
    let mut granted = 0;
    for seed in 0..cases {
        granted += run(seed, room, waits).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    assert!(granted > 20 * cases, "{granted}");
}

#[test]
fn no_key_gets_more_than_the_higher_limit_across_swaps() {
    run_all(4, false);
}

#[test]
fn nor_where_requests_wait() {
    run_all(4, true);
}

#[test]
fn nor_where_keys_share_the_overflow_gate_and_find_room() {
    run_all(2, false);
}

#[test]
fn nor_where_requests_wait_in_the_overflow_gate() {
    run_all(2, true);
}

/// A judge that passes everything would prove nothing.
#[test]
fn the_judge_finds_one_too_many() {
    let rate = |limit, millis| Rate::new(limit).interval(Duration::from_millis(millis)).strict();
    let grant = |swaps, at: u64, weight| Grant { swaps, at: at * 1_000_000, weight };
    let rates = [vec![rate(3, 1_000)], vec![rate(5, 1_000)], vec![rate(2, 100)]];
    let judge = |grants: &[Grant]| judge(grants, &rates).is_ok();
    assert!(judge(&[grant(0, 0, 3), grant(1, 1_000, 2), grant(1, 1_001, 3)]));
    assert!(!judge(&[grant(0, 0, 3), grant(1, 1_000, 3)]));
    assert!(!judge(&[grant(0, 0, 3), grant(0, 1_000, 1)]));
    assert!(judge(&[grant(0, 0, 3), grant(0, 1_001, 1)]));
    assert!(judge(&[grant(1, 0, 5), grant(2, 101, 2), grant(2, 202, 2)]));
    assert!(!judge(&[grant(1, 0, 5), grant(2, 100, 1)]));
}
