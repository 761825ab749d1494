//! Threads that come and go, and windows that go while threads are busy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use windrow::clock::Manual;
use windrow::{Counter, Gauge, Maximum, Minimum, SlidingWindow};

use crate::Seen;
use testkit::{Finish, Rng, ns, window};

type Window = SlidingWindow<Seen, Manual>;

/// Hundreds of threads, each of which adds a little and ends.
#[test]
fn short_lived_threads_lose_nothing() {
    let clock = Manual::default();
    let window = window::<Seen>(ns(10), 4, &clock);
    let (counter, gauge) = (Counter::new(), Gauge::new());
    let (most, least) = (Maximum::new(), Minimum::new());
    let (waves, threads, adds) = (80, 8, 50);
    for wave in 0..waves {
        thread::scope(|scope| {
            for thread in 0..threads {
                let (clock, window, counter, gauge) = (&clock, &window, &counter, &gauge);
                let (most, least) = (&most, &least);
                scope.spawn(move || {
                    let number = wave * threads + thread + 1;
                    for _ in 0..adds {
                        counter.add(2);
                        gauge.decrement();
                        window.add(Seen::Pass, 3);
                        window.record(Seen::Rt, number);
                    }
                    most.record(number);
                    least.record(number);
                    clock.advance(ns(3));
                });
            }
        });
        let done = (wave + 1) * threads;
        assert_eq!(counter.sum(), done * adds * 2);
        assert_eq!(gauge.sum(), -(done * adds).cast_signed());
        assert_eq!((most.get(), least.get()), (Some(done), Some(1)));
        let rt = window.lifetime(Seen::Rt);
        assert_eq!(window.lifetime(Seen::Pass).sum, done * adds * 3);
        assert_eq!((rt.count, rt.sum), (done * adds, done * (done + 1) / 2 * adds));
        assert_eq!((rt.min, rt.max), (Some(1), Some(done)));
    }
}

/// Opens some buckets, so that retired and closed ones are there when the window goes.
fn use_a_little(window: &Window, clock: &Manual, random: &mut Rng) {
    let buckets = 1 + random.u64(..5);
    for value in 0..buckets {
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, value);
        clock.advance(ns(10));
    }
    let rt = window.lifetime(Seen::Rt);
    assert_eq!((rt.count, rt.sum), (buckets, buckets * (buckets - 1) / 2));
    assert_eq!((rt.min, rt.max), (Some(0), Some(buckets - 1)));
    assert_eq!(window.lifetime(Seen::Pass).count, buckets);
    assert_eq!(window.lifetime(Seen::Idle).count + window.lifetime(Seen::Still).count, 0);
}

/// Windows are made, used, handed to another thread and dropped there, while others go on rotating
/// windows of their own, with the guards and grace periods that this takes.
#[test]
fn windows_go_while_others_rotate() {
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&finished);
        let rotate = || {
            let clock = Manual::default();
            let window = window::<Seen>(ns(1), 3, &clock);
            let mut steps = 0;
            while !finished.load(Ordering::Acquire) {
                clock.advance(ns(1));
                window.record(Seen::Rt, 1);
                steps += 1;
                assert_eq!(window.stats(Seen::Rt).count, steps.min(3));
            }
            assert_eq!(window.lifetime(Seen::Rt).sum, steps);
        };
        let rotators = [scope.spawn(rotate), scope.spawn(rotate)];
        let (give, take) = mpsc::channel::<Window>();
        let dropper = scope.spawn(move || take.into_iter().map(drop).count());
        let makers = [1, 2].map(|seed| {
            let give = give.clone();
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed);
                for _ in 0..600 {
                    let clock = Manual::default();
                    let window = window::<Seen>(ns(10), 1 + random.u64(..6) as u32, &clock);
                    use_a_little(&window, &clock, &mut random);
                    if random.u64(..2) == 0 {
                        give.send(window).expect("the dropper takes them all");
                    }
                }
            })
        });
        drop(give);
        for maker in makers {
            maker.join().expect("every window was exact");
        }
        assert!(dropper.join().expect("drops never panic") > 0);
        drop(finish);
        for rotator in rotators {
            rotator.join().expect("every window was exact");
        }
    });
}

/// The last of several threads that share a window drops it, whichever that is.
#[test]
fn the_last_thread_drops_the_window() {
    for round in 0..150 {
        let clock = Manual::default();
        let window = Arc::new(window::<Seen>(ns(10), 3, &clock));
        let threads = [1, 2, 3, 4].map(|seed| {
            let (window, clock) = (Arc::clone(&window), clock.clone());
            thread::spawn(move || {
                let mut random = Rng::with_seed(round * 10 + seed);
                for _ in 0..random.u64(..40) {
                    window.add(Seen::Pass, 1);
                    window.record(Seen::Rt, seed);
                    clock.advance(ns(random.u64(..9)));
                    drop(window.snapshot());
                }
            })
        });
        drop(window);
        for thread in threads {
            thread.join().expect("no thread panics");
        }
    }
}
