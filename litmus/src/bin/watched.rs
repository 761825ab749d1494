//! A program for a sanitizer to watch: everything that threads can do to a window and a counter, at
//! once.
//!
//! Plain `main`, and every thread is joined by name: how the test harness hands results over, and
//! how a scope waits, is in the standard library, which was built without the sanitizer. The
//! strategy is chosen, and the epoch pinned for the first time, before there is a second thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Counter, SlidingWindow};

windrow::events! { enum Seen { Pass: Count, Rt: Value } }

static ADDS: Counter = Counter::new();

const THREADS: u64 = 3;
const EACH: u64 = 20_000;

fn main() {
    let clock = Manual::default();
    let builder = SlidingWindow::<Seen>::builder().interval(Duration::from_nanos(400)).buckets(4);
    let window = builder.clock(clock.clone()).build().expect("a sound window");
    ADDS.add(0);
    let (window, clock, over, mut drained) = (&window, &clock, &AtomicBool::new(false), 0);
    std::thread::scope(|scope| {
        let adders: Vec<_> =
            (0..THREADS).map(|_| scope.spawn(move || add(window, clock))).collect();
        let changer = scope.spawn(move || {
            for round in (0..).take_while(|_| !over.load(Ordering::Relaxed)) {
                let buckets = 2 + round % 4;
                let interval = Duration::from_nanos(100 * buckets);
                window.reconfigure(interval, buckets as usize).expect("a sound geometry");
            }
        });
        let reader = scope.spawn(move || {
            let mut drained = 0;
            while !over.load(Ordering::Relaxed) {
                assert!(window.sum(Seen::Pass) <= window.lifetime(Seen::Pass).sum);
                window.snapshot();
                window.drain_closed(|bucket| _ = bucket.stats(Seen::Rt));
                drained += ADDS.take();
            }
            drained
        });
        for adder in adders {
            adder.join().expect("no adder panics");
        }
        over.store(true, Ordering::Relaxed);
        drained = reader.join().expect("the reader does not panic");
        changer.join().expect("the changer does not panic");
    });
    assert_eq!(window.lifetime(Seen::Pass).sum, THREADS * EACH);
    assert_eq!(window.lifetime(Seen::Rt).count, THREADS * EACH);
    assert_eq!(drained + ADDS.sum(), THREADS * EACH);
    println!("{:?}: {} adds, none lost", windrow::diagnostics::strategy(), THREADS * EACH);
}

fn add(window: &SlidingWindow<Seen, Manual>, clock: &Manual) {
    for n in 0..EACH {
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, n);
        ADDS.increment();
        if n % 16 == 0 {
            clock.advance(Duration::from_nanos(20));
        }
    }
}
