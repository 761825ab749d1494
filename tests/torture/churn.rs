//! Windows that come and go beside the one under torture, on threads of their own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, Scope};

use windrow::clock::Manual;
use windrow::{Event, SlidingWindow};

use crate::Seen;
use crate::book::{agree, some_value};
use testkit::ledger::Tally;
use testkit::{Rng, ns, window};

const EVENTS: [Event<Seen>; 4] = [
    Event::at(Seen::Pass.index()),
    Event::at(Seen::Idle.index()),
    Event::at(Seen::Rt.index()),
    Event::at(Seen::Still.index()),
];

/// A window that two threads use, and whichever comes last drops.
struct Shared {
    window: SlidingWindow<Seen, Manual>,
    clock: Manual,
    added: AtomicU64,
}

/// Adds a little, and opens some buckets.
fn use_a_little(shared: &Shared, random: &mut Rng) {
    let adds = random.u64(..40);
    for _ in 0..adds {
        shared.window.add(Seen::Pass, 1);
        shared.window.record(Seen::Rt, some_value(random));
        shared.clock.advance(ns(random.u64(..8)));
    }
    shared.added.fetch_add(adds, Ordering::Relaxed);
}

/// Drops a reference to a window. The last thread checks that its numbers are all of its adds and
/// no others.
fn release(shared: Arc<Shared>) {
    let Some(Shared { window, added, .. }) = Arc::into_inner(shared) else {
        return;
    };
    let (added, rt) = (added.into_inner(), window.lifetime(Seen::Rt));
    assert_eq!((window.lifetime(Seen::Pass).count, rt.count), (added, added));
    agree(rt).expect("no thread records any more");
    for idle in [Event::<Seen>::from(Seen::Idle), Seen::Still.into()] {
        assert_eq!(Tally::from(window.lifetime(idle)), Tally::default());
    }
}

/// Makes, uses and drops windows, on two threads, until it is finished.
pub(crate) fn windows_come_and_go<'s>(scope: &'s Scope<'s, '_>, finished: &'s AtomicBool) {
    let (give, take) = mpsc::sync_channel::<Arc<Shared>>(4);
    scope.spawn(move || {
        let mut random = Rng::with_seed(1);
        for shared in take {
            use_a_little(&shared, &mut random);
            release(shared);
        }
    });
    scope.spawn(move || {
        let mut random = Rng::with_seed(2);
        while !finished.load(Ordering::Acquire) {
            let clock = Manual::default();
            let window = window::<Seen>(ns(10), 1 + random.u64(..6) as u32, &clock);
            for event in EVENTS {
                assert_eq!(Tally::from(window.lifetime(event)), Tally::default(), "a new window");
                assert_eq!(Tally::from(window.stats(event)), Tally::default(), "a new window");
            }
            let shared = Arc::new(Shared { window, clock, added: AtomicU64::new(0) });
            use_a_little(&shared, &mut random);
            if random.u64(..2) == 0 && give.send(Arc::clone(&shared)).is_err() {
                return; // the other has failed, and says why
            }
            use_a_little(&shared, &mut random);
            release(shared);
            thread::yield_now();
        }
    });
}
