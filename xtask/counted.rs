//! The program in which `cargo xtask instructions` makes callgrind count: `counted PATH TIMES`
//! calls one hot path `TIMES` times, in a function with nothing else in it.
//!
//! Reads visit the rows that are open: one, or two after another thread has added. The program
//! keeps two processors, so that a machine with more counts the same.

use std::hint::black_box;
use std::time::Duration;

use windrow::breaker::Settings;
use windrow::clock::{Coarse, Manual, Ticker};
use windrow::exemplar::TraceContext;
use windrow::gate::Admission;
use windrow::labels::Labels;
use windrow::{
    Breaker, Clock, Counter, Events, Family, Gate, Histogram, Pace, SlidingWindow, labels,
};

#[path = "counted/reads.rs"]
mod reads;

windrow::events! { enum Http { Pass: Count, Rt: Value } }

windrow::events! { enum Queue { Depth: Maximum } }

windrow::events! { enum Answer { Rt: Histogram } }

labels! {
    enum Method { Get, Post }
    struct Enums { method: Method, again: Method, cached: bool }
    struct Mixed { method: Method, route: str, status: u16 }
    struct Texts { method: str, route: str, status: str }
}

static COUNTER: Counter = Counter::new();
static RT: Histogram = Histogram::new();

const TRACE: TraceContext = TraceContext { trace_id: 7, span_id: 7 };

/// The loop that is counted. The path `nothing` counts the loop itself.
#[inline(never)]
fn counted(times: u64, call: impl Fn()) {
    for _ in 0..times {
        call();
    }
}

/// Counts calls after a first one, which does the one-time setup.
fn count(times: u64, call: impl Fn()) {
    call();
    counted(times, call);
}

/// A window with buckets of an hour, which nothing rotates while it is counted.
fn window<E: Events, C: Clock>(clock: C, buckets: u32) -> SlidingWindow<E, C> {
    let interval = Duration::from_secs(3_600) * buckets;
    let builder = SlidingWindow::builder().interval(interval).buckets(buckets as usize);
    builder.clock(clock).build().expect("a sound window")
}

/// Returns a window in which each bucket has a count.
fn full(buckets: u32) -> SlidingWindow<Http, Manual> {
    let clock = Manual::default();
    let window = window(clock.clone(), buckets);
    for _ in 0..buckets {
        clock.advance(Duration::from_secs(3_600));
        window.add(Http::Pass, 1);
    }
    window
}

fn add<C: Clock>(times: u64, clock: C) {
    let window = window(clock, 2);
    count(times, || window.add(Http::Pass, 1));
}

/// Has another thread add, in a row of its own.
fn open_a_row() {
    std::thread::spawn(|| COUNTER.add(1)).join().expect("an add does not panic");
}

/// An add to a window with four tiers.
fn add_tiered(times: u64) {
    let hours = |hours: u64| Duration::from_secs(3_600 * hours);
    let builder = SlidingWindow::<Http>::builder().interval(hours(2)).buckets(2);
    let tiers: [(u64, usize); 4] = [(2, 24), (48, 7), (336, 8), (2_688, 4)];
    let builder = tiers
        .into_iter()
        .fold(builder, |builder, (length, buckets)| builder.tier(hours(length), buckets));
    let window = builder.clock(Manual::default()).build().expect("the tiers nest");
    count(times, || window.add(Http::Pass, 1));
}

/// Adds to the only series of a family.
fn add_labelled<L: Labels>(times: u64, family: &Family<L, Counter>, set: L::Borrowed<'_>) {
    count(times, || family.with(black_box(set)).increment());
    assert_eq!((family.len(), family.lifetime()), (1, times + 1));
}

fn sum(times: u64, buckets: u32) {
    let window = full(buckets);
    assert_eq!(window.sum(Http::Pass), u64::from(buckets));
    count(times, || _ = black_box(window.sum(Http::Pass)));
}

/// Asks a gate that grants always, or never, in a bucket of an hour.
fn admit(times: u64, is_granted: bool) {
    let limit = if is_granted { 1 << 40 } else { 1 };
    let builder = Gate::builder(limit).interval(Duration::from_secs(36_000)).buckets(10);
    let gate = builder.clock(Manual::default()).build().expect("a sound gate");
    assert!(gate.try_admit(1));
    count(times, || assert!(gate.try_admit(black_box(1)) == is_granted));
}

/// Asks a gate that has granted its limit, and refuses; by permits, if that is at most seven.
fn refuse<A: PartialEq>(times: u64, limit: u64, refused: A, ask: impl Fn(&Gate<Manual>) -> A) {
    let builder = Gate::builder(limit).interval(Duration::from_secs(36_000)).buckets(10);
    let gate = builder.clock(Manual::default()).build().expect("a sound gate");
    (0..limit).for_each(|_| assert!(gate.try_admit(1)));
    count(times, || assert!(ask(black_box(&gate)) == refused));
}

/// Asks it for a time to come back.
fn refuse_for_a_time(times: u64, limit: u64) {
    let retry_after = Some(Duration::from_secs(36_000));
    let refused = Admission::Refused { retry_after };
    refuse(times, limit, refused, |gate| gate.admit(black_box(1), Duration::ZERO));
}

/// Asks a pace that admits always, or never.
fn pace(times: u64, is_granted: bool) {
    let burst = if is_granted { 1 << 40 } else { 1 };
    let builder = Pace::builder(Duration::from_micros(1)).burst(burst).allow_coarse_clock();
    let pace = builder.clock(Manual::default()).build().expect("a sound pace");
    assert!(pace.try_admit(1));
    count(times, || assert!(pace.try_admit(black_box(1)) == is_granted));
}

fn main() {
    keep_two_processors();
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a path");
    let times = arguments.next().and_then(|times| times.parse().ok()).expect("how many times");
    match &*path {
        "nothing" => count(times, || _ = black_box(())),
        "Counter::add" => count(times, || COUNTER.add(1)),
        "Counter::add_with_exemplar" => count(times, || COUNTER.add_with_exemplar(1, TRACE)),
        "Histogram::record" => count(times, || RT.record(black_box(7_000))),
        "Histogram::record_with_exemplar, none" => {
            count(times, || RT.record_with_exemplar(black_box(7_000), *black_box(&None)));
        }
        "Histogram::record_with_exemplar" => {
            count(times, || RT.record_with_exemplar(black_box(7_000), black_box(Some(TRACE))));
        }
        "Counter::sum, 1 row" => {
            COUNTER.add(1);
            count(times, || _ = black_box(COUNTER.sum()));
        }
        "Counter::sum, 2 rows" => {
            COUNTER.add(1); // in the first row
            open_a_row();
            count(times, || _ = black_box(COUNTER.sum()));
        }
        "Family::with, 3 enums" => {
            let set = Enums { method: Method::Post, again: Method::Get, cached: true };
            add_labelled(times, &Family::<Enums, _>::new(), set);
        }
        "Family::with, an enum, a text, a number" => {
            let set = Mixed { method: Method::Post, route: "/api/v1/cart", status: 200 };
            add_labelled(times, &Family::<Mixed, _>::new(), set);
        }
        "Family::with, 3 texts" => {
            let set = Texts { method: "POST", route: "/api/v1/cart", status: "200" };
            add_labelled(times, &Family::<Texts, _>::new(), set);
        }
        "Family::with, 3 texts, names of run time" => {
            let names = ["method", "route", "status"];
            let set = ["POST", "/api/v1/cart", "200"];
            add_labelled(times, &Family::with_names(names).expect("names that differ"), &set);
        }
        "SlidingWindow::add, Ticker" => add(times, Ticker::default()),
        "SlidingWindow::add, Coarse" => add(times, Coarse::default()),
        "SlidingWindow::add, Manual" => add(times, Manual::default()),
        "SlidingWindow::add, Manual, 4 tiers" => add_tiered(times),
        "SlidingWindow::record, Manual" => {
            let window = full(2);
            count(times, || window.record(Http::Rt, 7));
        }
        "SlidingWindow::record of a Maximum, Manual" => {
            let window = window(Manual::default(), 2);
            count(times, || window.record(Queue::Depth, 7));
        }
        "SlidingWindow::record of a Histogram, Manual" => {
            let window = window(Manual::default(), 2);
            count(times, || window.record(Answer::Rt, black_box(7_000)));
        }
        "Gate::try_admit, granted, Manual" => admit(times, true),
        "Gate::try_admit, refused, Manual" => admit(times, false),
        "Gate::try_admit, refused by seven permits, Manual" => {
            refuse(times, 7, false, |gate| gate.try_admit(black_box(1)));
        }
        "Gate::try_admit, refused by sheets, Manual" => {
            refuse(times, 8, false, |gate| gate.try_admit(black_box(1)));
        }
        "Gate::admit, refused by seven permits, Manual" => refuse_for_a_time(times, 7),
        "Gate::admit, refused by sheets, Manual" => refuse_for_a_time(times, 8),
        "Pace::try_admit, granted, Manual" => pace(times, true),
        "Pace::try_admit, refused, Manual" => pace(times, false),
        "Breaker::try_call and success, the last 100" => {
            let settings = Settings::last_calls(100);
            let breaker = Breaker::with_clock(settings, Manual::default()).expect("sound settings");
            count(times, || breaker.try_call().expect("closed").success());
        }
        "SlidingWindow::sum, 2 buckets" => sum(times, 2),
        "SlidingWindow::sum, 60 buckets" => sum(times, 60),
        "SlidingWindow::sum, 60 buckets, 2 rows" => {
            COUNTER.add(1);
            open_a_row();
            sum(times, 60);
        }
        "RationedGate::try_admit, Manual" => {
            let gate = Gate::builder(1 << 40).clock(Manual::default());
            let gate = gate.build_rationed(1 << 30).expect("a sound gate");
            count(times, || assert!(gate.try_admit(1)));
        }
        read => assert!(reads::read(read, times), "there is no path `{read}`"),
    }
}

/// Leaves this process the first two of the processors that it may use.
fn keep_two_processors() {
    unsafe extern "C" {
        fn sched_getaffinity(thread: i32, size: usize, processors: *mut u64) -> i32;
        fn sched_setaffinity(thread: i32, size: usize, processors: *const u64) -> i32;
    }
    let (mut may, mut left) = ([0_u64; 128], 2);
    // SAFETY: `may` has the stated number of bytes, and the kernel writes no more.
    let known = unsafe { sched_getaffinity(0, size_of_val(&may), may.as_mut_ptr()) };
    assert!(known >= 0, "the kernel says which processors there are");
    for word in &mut may {
        let all = std::mem::take(word);
        for bit in (0..64).map(|place| 1 << place).filter(|bit| all & bit != 0).take(left) {
            *word |= bit;
            left -= 1;
        }
    }
    // SAFETY: as above; it only reads.
    let kept = unsafe { sched_setaffinity(0, size_of_val(&may), may.as_ptr()) };
    assert_eq!(kept, 0, "a process may give up processors");
}
