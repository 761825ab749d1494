//! `gates [--rounds N]`: the cost of a decision, granted and refused, of windrow's limiters and of
//! governor; and the cost of opening a bucket of a gate.
//!
//! governor has the generic cell rate algorithm, in one word: a cell comes back each
//! `interval / limit`, and up to `limit` cells may be gone at once.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::{Quota, RateLimiter};
use windrow::clock::{Coarse, Manual, Ticker};
use windrow::gate::GateBuilder;
use windrow::{Clock, Gate, Pace, Paces};
use windrow_benches::harness::{WARM_UP, at_once, cores, keep_to_core, time};
use windrow_benches::lab::entries::{Entry, measure, print, print_rows};
use windrow_benches::lab::stats::Sample;
use windrow_benches::limits::Timed;
use windrow_benches::terminal::options;

/// Decisions of a thread in a round.
const TIMES: u64 = 50_000;
/// The buckets of a round that are opened.
const OPENED: u64 = 2_000;

/// A limit, and its interval.
#[derive(Clone, Copy)]
struct Terms(u64, Duration);

/// A limit that is not reached by asking for one at a time.
const ENDLESS: Terms = Terms(4_000_000_000, Duration::from_secs(1_000));
/// A limit that the decisions of up to 128 threads in a round do not reach. Two such limits fit one
/// word.
const A_ROUND: Terms = Terms(7_000_000, Duration::from_secs(100_000));
/// One, and then nothing for longer than any run.
const SPENT: Terms = Terms(1, Duration::from_secs(100_000));

impl Terms {
    /// Returns the settings of a gate whose limit holds for each interval of whole buckets.
    fn gate<C: Clock>(self, clock: C) -> GateBuilder<C> {
        Gate::builder(self.0).interval(self.1).buckets(10).clock(clock).allow_coarse_clock()
    }

    /// Returns the time after which one comes back.
    fn period(self) -> Duration {
        Duration::from_nanos(self.1.as_nanos() as u64 / self.0)
    }

    /// Returns a pace of the same rate, whose burst is the limit.
    fn pace(self) -> Pace<Coarse> {
        let pace = Pace::builder(self.period()).burst(self.0).clock(Coarse::default());
        pace.allow_coarse_clock().build().expect("sound terms")
    }

    /// Returns one limit, or two: the same in twice the interval, too.
    fn paces(self, limits: u32) -> Paces<Coarse> {
        let mut all = Paces::builder().max_wait(Duration::ZERO);
        for times in 1..=limits {
            all = all.limit(self.0, times * self.1);
        }
        all.clock(Coarse::default()).allow_coarse_clock().build().expect("sound terms")
    }

    fn governor(self) -> impl Fn() -> bool + Sync {
        let limit = u32::try_from(self.0).ok().and_then(NonZeroU32::new).expect("it fits");
        let quota = Quota::with_period(self.period()).expect("a nanosecond at least");
        let clock = Timed(Coarse::default());
        let governor = RateLimiter::direct_with_clock(quota.allow_burst(limit), clock);
        move || governor.check().is_ok()
    }
}

/// Returns four columns of a limiter's decisions: granted and refused, each on one thread and on
/// one for each core. What grants has terms that last for the run, or is renewed in each round.
fn decisions<L: Fn() -> bool + Sync + 'static>(
    name: &str,
    granting: Terms,
    is_renewed: bool,
    make: impl Fn(Terms) -> L + Copy + 'static,
) -> Entry<'static> {
    let mut entry = Entry::new(name);
    for (terms, answer) in [(granting, true), (SPENT, false)] {
        for threads in [1, cores()] {
            let mut ask = make(terms);
            ask();
            let name = name.to_owned();
            entry = entry.column(move || {
                if is_renewed && answer {
                    ask = make(terms);
                }
                let many = |times: u64| {
                    let others = (0..times).filter(|_| ask() != answer).count();
                    assert_eq!(others, 0, "{name} has decided otherwise");
                };
                at_once(threads, &|_| many(WARM_UP), &|_| many(TIMES)).each(TIMES)
            });
        }
    }
    entry
}

/// Returns what an admission takes more that opens a bucket of a gate.
fn opening(buckets: u32) -> Entry<'static> {
    const LENGTH: Duration = Duration::from_millis(100);
    let clock = Manual::default();
    let gate = Terms(1 << 40, LENGTH * buckets).gate(clock.clone()).buckets(buckets as usize);
    let gate = gate.build().expect("sound terms");
    Entry::new(buckets.to_string()).column(move || {
        let [more, less] = [LENGTH, Duration::ZERO].map(|step| {
            let each = |_| {
                clock.advance(step);
                black_box(gate.try_admit(black_box(1)));
            };
            time(|| (0..OPENED).for_each(each)).each(OPENED)
        });
        Sample { ns: more.ns - less.ns, running: more.running.min(less.running) }
    })
}

fn main() {
    let [rounds] = options("gates", [("rounds", 15)], &[]).numbers;
    let ticker = &*Box::leak(Box::new(Ticker::start(Duration::from_millis(1))));
    let coarse = Coarse::default;
    let mut all = [
        decisions("governor, Coarse", ENDLESS, false, Terms::governor),
        decisions("Pace, Coarse", ENDLESS, false, |terms| {
            let pace = terms.pace();
            move || pace.try_admit(1)
        }),
        decisions("Paces, one limit, Coarse", A_ROUND, true, |terms| {
            let paces = terms.paces(1);
            move || paces.try_admit(1)
        }),
        decisions("Paces, two limits, Coarse", A_ROUND, true, |terms| {
            let paces = terms.paces(2);
            move || paces.try_admit(1)
        }),
        decisions("Gate, Coarse", ENDLESS, false, move |terms| {
            let gate = terms.gate(coarse()).build().expect("sound terms");
            move || gate.try_admit(1)
        }),
        decisions("Gate, Ticker", ENDLESS, false, move |terms| {
            let gate = terms.gate(ticker.clone()).build().expect("sound terms");
            move || gate.try_admit(1)
        }),
        decisions("RationedGate, by 1000, Coarse", ENDLESS, false, move |terms| {
            let gate = terms.gate(coarse()).strict().build_rationed(1_000).expect("sound terms");
            move || gate.try_admit(1)
        }),
        decisions("RationedGate, by 1000, Ticker", ENDLESS, false, move |terms| {
            let gate = terms.gate(ticker.clone()).strict().build_rationed(1_000);
            let gate = gate.expect("sound terms");
            move || gate.try_admit(1)
        }),
        decisions("Gate, reserve two and settle one, Coarse", ENDLESS, false, move |terms| {
            let gate = terms.gate(coarse()).build().expect("sound terms");
            move || gate.reserve(2, Duration::ZERO).map(|call| call.settle(1)).is_ok()
        }),
        decisions("Pace, reserve two and settle one, Coarse", ENDLESS, false, |terms| {
            let pace = terms.pace();
            move || pace.reserve(2, Duration::ZERO).map(|call| call.settle(1)).is_ok()
        }),
    ];
    measure("decisions", rounds, &mut all);
    let cases =
        ["granted, 1 thread", "granted, all cores", "refused, 1 thread", "refused, all cores"];
    let heads = |what| [what].into_iter().chain(cases).collect::<Vec<_>>();
    print(&heads("ns a decision"), &all);
    print_rows(&heads("in parts of governor"), &all[1..], |entry| {
        (0..cases.len()).map(|at| entry.ratio(at, &all[0], at).show()).collect()
    });
    keep_to_core(0);
    let mut openings = [2, 10, 60, 600].map(opening);
    measure("openings", rounds, &mut openings);
    print(&["buckets", "ns that a grant takes more which opens one"], &openings);
}
