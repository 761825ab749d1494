//! Windows and gates in statics: made at the first use, by whichever thread comes first, and then
//! as any other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use testkit::{Finish, alone, race};
use windrow::clock::Ticker;
use windrow::export::AnyWindow;
use windrow::{
    AtMost, Clock, Family, Gate, SlidingWindow,
    diagnostics::Strategy,
    events,
    gate::{Admission, RationedGate},
    labels,
    snapshot::BucketSnapshot,
};

events! {
    enum Http { Pass: Count, Rt: Histogram }
}

type Window = SlidingWindow<Http>;

const MINUTE: Duration = Duration::from_secs(60);

static READ_FIRST: Window = SlidingWindow::of(MINUTE, 60);
static ADDED_FIRST: Window = SlidingWindow::of(MINUTE, 6);
static CHANGED_FIRST: Window = SlidingWindow::of(Duration::from_secs(1), 10);

#[test]
fn each_first_use_makes_it() {
    assert_eq!((READ_FIRST.interval(), READ_FIRST.buckets()), (MINUTE, 60));
    assert_eq!((READ_FIRST.sum(Http::Pass), READ_FIRST.lifetime(Http::Pass).count), (0, 0));
    ADDED_FIRST.add(Http::Pass, 3);
    ADDED_FIRST.record(Http::Rt, 7);
    assert_eq!((ADDED_FIRST.sum(Http::Pass), ADDED_FIRST.lifetime(Http::Rt).sum), (3, 7));
    CHANGED_FIRST.reconfigure(MINUTE, 30).expect("a geometry");
    CHANGED_FIRST.add(Http::Pass, 1);
    assert_eq!((CHANGED_FIRST.buckets(), CHANGED_FIRST.sum(Http::Pass)), (30, 1));
    let moment = READ_FIRST.moment();
    assert!(ADDED_FIRST.moment().since(&moment).is_none(), "another window's");
}

#[test]
fn it_is_built_when_it_is_first_used() {
    let (window, other) = (Window::of(MINUTE, 60), Window::of(MINUTE, 60));
    let before = other.clock().now();
    thread::sleep(Duration::from_millis(50));
    window.add(Http::Pass, 1);
    let built = window.built();
    assert!(built - before >= Duration::from_millis(40) && built <= window.clock().now());
}

#[test]
fn threads_that_come_at_once_lose_nothing() {
    alone::in_each_strategy("statics::raced");
    alone::run("statics::raced", &alone::BY_PROCESSOR);
}

/// The first adds of all threads, some of which meet a window that is not made, or being made.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn raced() {
    const THREADS: usize = 6;
    for round in 0..400 {
        let window = Window::of(MINUTE, 60);
        race(THREADS, |thread| {
            if thread == 0 && round % 2 == 0 {
                assert!(window.stats(Http::Pass).count <= 10 * THREADS as u64);
            }
            for value in 0..10 {
                window.add(Http::Pass, 1);
                window.record(Http::Rt, value);
            }
        });
        let all = 10 * THREADS as u64;
        assert_eq!((window.sum(Http::Pass), window.lifetime(Http::Pass).sum), (all, all));
        assert_eq!(window.stats(Http::Rt).sum, 45 * THREADS as u64);
        let built = window.built();
        assert_eq!(window.built(), built, "made once");
    }
}

/// Each metric is freed exactly once, whether it was used or not.
#[test]
fn one_that_is_no_static_may_be_dropped() {
    drop(Window::of(MINUTE, 60));
    for _ in 0..100 {
        let window = Window::of(MINUTE, 60);
        window.add(Http::Pass, 1);
        let moved = Some(window); // before and after it is made
        assert_eq!(moved.as_ref().map(|window| window.sum(Http::Pass)), Some(1));
    }
}

/// A ticker that does not tick closes nothing, and adds leave it to the ticker; one that ends
/// leaves it to adds again.
#[test]
fn a_ticker_closes_the_buckets_of_a_static() {
    static WINDOW: LazyLock<Arc<Window>> =
        LazyLock::new(|| Arc::new(SlidingWindow::of(Duration::from_secs(10), 100)));
    if !matches!(windrow::diagnostics::strategy(), Strategy::PerCore | Strategy::Portable) {
        return; // no barriers
    }
    let closes = || {
        WINDOW.add(Http::Pass, 1);
        thread::sleep(WINDOW.bucket_length());
        WINDOW.add(Http::Pass, 1); // a bucket later, or two
        let all = WINDOW.snapshot();
        let mut used = all.buckets().iter().rev().filter(|bucket| bucket.sum(Http::Pass) > 0);
        used.nth(1).is_some_and(BucketSnapshot::is_closed)
    };
    let asleep = Ticker::start(Duration::from_secs(3_600));
    WINDOW.close_on(&asleep);
    assert!(!closes());
    drop(asleep);
    assert!(closes());
    assert_eq!(WINDOW.lifetime(Http::Pass).sum, 4);
}

/// Adds go on while others read, as of a window that was built.
#[test]
fn a_static_is_read_while_it_is_added_to() {
    static WINDOW: Window = SlidingWindow::of(MINUTE, 60);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&done);
        let reader = scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Acquire) {
                let now = WINDOW.lifetime(Http::Pass).count;
                assert!(last <= now);
                last = now;
            }
        });
        race(3, |_| (0..20_000).for_each(|_| WINDOW.add(Http::Pass, 1)));
        drop(finish);
        reader.join().expect("no failure");
    });
    assert_eq!(WINDOW.sum(Http::Pass), 60_000);
}

static MAILS: Gate = Gate::of(AtMost(3), MINUTE, 60);
static PACKETS: RationedGate = RationedGate::of(AtMost(1_000), MINUTE, 60, AtMost(10));

#[test]
fn gates_stand_in_statics() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    shared(&MAILS);
    shared(&PACKETS);
    assert!(MAILS.try_admit(2) && !MAILS.try_admit(2) && MAILS.try_admit(1));
    assert_eq!((MAILS.granted(), MAILS.left()), (3, 0));
    assert_eq!(PACKETS.unused(), 0, "no thread has asked");
    assert!(PACKETS.try_admit(1));
    assert_eq!(PACKETS.gate().granted(), 1 + PACKETS.unused());
    assert!((1..10).contains(&PACKETS.unused()), "the rest of a ration");
    assert!(PACKETS.admit(1, Duration::ZERO).is_granted());
}

#[test]
fn a_strict_gate_has_a_bucket_more_and_keeps_it() {
    static STRICT: Gate = Gate::strict(AtMost(3), MINUTE, 60);
    let second = Duration::from_secs(1);
    assert_eq!((STRICT.interval(), STRICT.buckets()), (MINUTE + second, 61));
    STRICT.reconfigure(2 * MINUTE, 60).expect("a geometry");
    assert_eq!((STRICT.interval(), STRICT.buckets()), (2 * (MINUTE + second), 61));
    assert!(STRICT.try_admit(3) && !STRICT.try_admit(1));
}

/// Any call may be the first.
#[test]
fn each_first_use_opens_a_gate() {
    let gate = || Gate::of(AtMost(3), MINUTE, 60);
    assert!(gate().try_admit(0) && gate().try_admit(3) && !gate().try_admit(4));
    assert_eq!(gate().admit(3, Duration::ZERO), Admission::Now);
    let never = Admission::Refused { retry_after: None };
    assert_eq!(gate().admit(4, Duration::MAX), never);
    assert_eq!((gate().granted(), gate().waiting(), gate().left()), (0, 0, 3));
    assert_eq!((gate().limit(), gate().buckets()), (3, 60));
    assert_eq!(gate().interval(), MINUTE);
    assert_eq!(format!("{:?}", gate()), "Gate { limit: 3, interval: 60s, buckets: 60, .. }");
    let gates = [gate(), gate(), gate(), gate()];
    gates[0].set_limit(2).expect("a limit");
    gates[1].reconfigure(2 * MINUTE, 10).expect("a geometry");
    assert!(gates[2].retire());
    let limits = gates.each_ref().map(|gate| (gate.limit(), gate.interval()));
    assert_eq!(limits, [(2, MINUTE), (3, 2 * MINUTE), (0, MINUTE), (3, MINUTE)]);
    let granted = gates.map(|gate| (0..9).filter(|_| gate.try_admit(1)).count());
    assert_eq!(granted, [2, 3, 0, 3]);
}

#[test]
fn threads_that_come_to_a_gate_at_once_are_let_through_up_to_the_limit() {
    alone::in_each_strategy("statics::gates_raced");
    alone::run("statics::gates_raced", &alone::BY_PROCESSOR);
}

/// Returns the number admitted, with `threads` threads that each ask for one `times` times.
fn let_through(threads: usize, times: u32, ask: impl Fn(usize) -> bool + Sync) -> u64 {
    let all = AtomicU64::new(0);
    race(threads, |thread| {
        let mine = (0..times).filter(|_| ask(thread)).count();
        all.fetch_add(mine as u64, Ordering::Relaxed);
    });
    all.into_inner()
}

/// The first calls of all threads, some of which meet a gate that has opened no bucket.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn gates_raced() {
    const THREADS: usize = 6;
    for round in 0..400 {
        let gate = Gate::of(AtMost(25), MINUTE, 60);
        let through = let_through(THREADS, 10, |thread| match (thread + round) % 3 {
            0 => gate.try_admit(1),
            1 => gate.granted() <= 25 && gate.try_admit(1),
            _ => gate.admit(1, Duration::ZERO).is_granted(),
        });
        assert_eq!((through, gate.granted(), gate.left()), (25, 25, 0));

        let gate = RationedGate::of(AtMost(25), MINUTE, 60, AtMost(4));
        let through = let_through(THREADS, 10, |_| gate.try_admit(1));
        assert!(through <= 25, "{through} of 25");
        assert_eq!(gate.gate().granted(), through + gate.unused());
        let through = through + (0..25).filter(|_| gate.try_admit(1)).count() as u64;
        assert_eq!(through + gate.unused(), 25);
    }
}

labels! { struct Client { client: u64 } }

#[test]
fn a_family_has_a_gate_for_each_client() {
    const CLIENTS: u64 = 50;
    static GATES: Family<Client, Gate> =
        Family::with_constructor(|| Gate::of(AtMost(2), MINUTE, 60));
    static RATIONED: Family<Client, RationedGate> =
        Family::with_constructor(|| RationedGate::of(AtMost(2), MINUTE, 60, AtMost(1)));
    for client in 0..CLIENTS {
        let ask = |_| GATES.with(Client { client }).try_admit(1);
        assert_eq!(let_through(4, 2, ask), 2, "client {client}");
        let rationed = || RATIONED.with(Client { client });
        let through = let_through(4, 2, |_| rationed().try_admit(1));
        assert_eq!(rationed().gate().granted(), through + rationed().unused());
    }
}

#[test]
fn a_static_of_gates_has_another_limit_of_series_without_its_types_written_twice() {
    static GATES: Family<Client, Gate> = Family::bounded(3, || Gate::of(AtMost(2), MINUTE, 60));
    for client in 0..5 {
        let _counted = GATES.with(Client { client }).try_admit(1);
    }
    assert_eq!((GATES.max_series(), GATES.len(), GATES.refused()), (3, 3, 2));
}

#[test]
fn a_constructor_that_captures_takes_a_limit_too() {
    let limit = 2;
    let gates = Family::<Client, _, _>::bounded(1, move || Gate::of(AtMost(limit), MINUTE, 60));
    let ask = |_| gates.with(Client { client: 7 }).try_admit(1);
    assert_eq!(let_through(4, 2, ask), 2);
    assert_eq!(gates.max_series(), 1);
}
