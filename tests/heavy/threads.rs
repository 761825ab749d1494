//! Many threads add, while the ring turns and others read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Finish, Rng, at, clock_at, ms, ns, race};
use windrow::clock::{Manual, Precise};
use windrow::{Clock, HeavyKeys};

use crate::heavy;
use crate::oracle::check;

const THREADS: usize = 4;
/// The keys that a round uses.
const KEYS: usize = 64;

/// The weight of a key in the current round, of adds that have begun, and of those that are done.
#[derive(Default)]
struct Progress {
    begun: AtomicU64,
    done: AtomicU64,
}

/// The keys of a round: some heavy, most light.
fn key(rng: &mut Rng) -> usize {
    rng.usize(0..=rng.clone().usize(0..KEYS))
}

/// In each round threads add to one bucket, while readers compare the bounds with the weights that
/// were certainly there before a read, and those that can be there after it. Between rounds the
/// ring turns, and everything is compared exactly.
#[test]
fn bounds_hold_while_threads_add_and_the_ring_turns() {
    for (capacity, shards) in [(4, 1), (16, 2), (16, 99), (KEYS, 3)] {
        let clock = clock_at(0);
        let keys = heavy::<u64>(capacity, 4, shards, &clock);
        let mut buckets: Vec<HashMap<u64, u64>> = Vec::new();
        for round in 0..12_u64 {
            clock.set(at(250 * round));
            let past = sum(buckets.iter().rev().take(3));
            let progress: [Progress; KEYS] = std::array::from_fn(|_| Progress::default());
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !stop.load(Ordering::Acquire) {
                        read_beside(&keys, &progress, &past);
                    }
                });
                let _finish = Finish(&stop);
                race(THREADS, |thread| {
                    let mut rng = Rng::with_seed(round * 100 + thread as u64);
                    for _ in 0..2_000 {
                        let (key, weight) = (key(&mut rng), rng.u64(1..5));
                        // SeqCst: before and behind an add, as the reader's looks.
                        progress[key].begun.fetch_add(weight, Ordering::SeqCst);
                        keys.add(&(key as u64), weight);
                        progress[key].done.fetch_add(weight, Ordering::SeqCst);
                    }
                });
            });
            let of_round = (0..)
                .zip(&progress)
                .map(|(key, progress)| (key, progress.done.load(Ordering::Relaxed)));
            buckets.push(of_round.filter(|(_, weight)| *weight > 0).collect());
            let truth = sum(buckets.iter().rev().take(4));
            check(&keys.snapshot(), &truth, capacity as u64);
            if capacity == KEYS {
                assert_eq!(keys.snapshot().max_error(), 0, "few keys are exact");
            }
        }
        let all: u64 = buckets.iter().flat_map(HashMap::values).sum();
        assert_eq!((keys.lifetime(), keys.late()), (all, 0));
    }
}

fn sum<'b>(buckets: impl Iterator<Item = &'b HashMap<u64, u64>>) -> HashMap<u64, u64> {
    let mut sum = HashMap::new();
    buckets.flatten().for_each(|(key, weight)| *sum.entry(*key).or_insert(0) += weight);
    sum
}

fn read_beside(
    keys: &HeavyKeys<u64, Manual>,
    progress: &[Progress; KEYS],
    past: &HashMap<u64, u64>,
) {
    let of = |number: fn(&Progress) -> &AtomicU64| -> [u64; KEYS] {
        std::array::from_fn(|key| {
            let before = past.get(&(key as u64)).copied().unwrap_or(0);
            before + number(&progress[key]).load(Ordering::SeqCst)
        })
    };
    let least = of(|progress| &progress.done);
    let snapshot = keys.snapshot();
    let total = keys.total();
    let single = keys.bounds(&0);
    let most = of(|progress| &progress.begun);
    for key in 0..KEYS {
        let bounds = snapshot.bounds(&(key as u64));
        assert!(bounds.at_most >= least[key], "{key}: {bounds:?}, at least {}", least[key]);
        assert!(bounds.at_least <= most[key], "{key}: {bounds:?}, at most {}", most[key]);
    }
    assert!(single.at_most >= least[0] && single.at_least <= most[0]);
    let possible = least.iter().sum()..=most.iter().sum();
    assert!(possible.contains(&snapshot.total()) && possible.contains(&total));
}

/// Buckets so short that a read is overtaken nearly always, and adds come late.
#[test]
fn nothing_is_lost_where_buckets_are_shorter_than_a_read() {
    const ADDS: u64 = 30_000;
    for buckets in [1, 2, 7] {
        let precise = Precise::default();
        let keys = HeavyKeys::<u64, _>::builder(8)
            .interval(ns(buckets * 200))
            .buckets(buckets as usize)
            .clock((move || precise.now(), Duration::ZERO))
            .build()
            .expect("a valid geometry");
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut before = 0;
                while !stop.load(Ordering::Acquire) {
                    let snapshot = keys.snapshot();
                    let list = snapshot.top(usize::MAX);
                    let certain: u64 = list.iter().map(|heavy| heavy.at_least).sum();
                    assert!(certain <= snapshot.total());
                    assert!(snapshot.max_error() <= snapshot.total() / 8);
                    let lifetime = keys.lifetime();
                    assert!(lifetime >= before && lifetime <= THREADS as u64 * ADDS);
                    before = lifetime;
                }
            });
            let _finish = Finish(&stop);
            race(THREADS, |thread| {
                for number in 0..ADDS {
                    keys.increment(&(number % (20 + thread as u64)));
                }
            });
        });
        assert_eq!(keys.lifetime(), THREADS as u64 * ADDS);
        thread::sleep(Duration::from_millis(1));
        assert_eq!(keys.total(), 0, "all buckets have left");
    }
}

/// A read is of one span, however often buckets leave while it runs: in each bucket there is one
/// add, so the four newest have four, or three as long as the newest has none.
#[test]
fn a_read_that_is_overtaken_is_of_one_span() {
    let clock = clock_at(0);
    let keys = heavy::<u64>(10, 4, 1, &clock);
    let stop = AtomicBool::new(false);
    let turn = |bucket: u64| {
        clock.set(at(250 * bucket));
        keys.add(&(bucket % 2), 1_000);
    };
    (0..4).for_each(turn);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _finish = Finish(&stop);
            (4..400_000).for_each(turn);
        });
        let mut reads = 0;
        while !stop.load(Ordering::Acquire) {
            let total = keys.total();
            assert!(total == 3_000 || total == 4_000, "a total of {total}");
            let sum: u64 = keys.top(9).iter().map(|heavy| heavy.at_least).sum();
            assert!(sum == 3_000 || sum == 4_000, "a sum of {sum}");
            reads += 1;
        }
        println!("{reads} reads");
    });
}

/// Each add is before a clear or after it: a read that no add meets sees all shards before the
/// clear, or all after it.
#[test]
fn a_clear_has_one_moment() {
    let clock = clock_at(0);
    let keys = heavy::<u64>(100, 2, 8, &clock);
    let (stop, round, met) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                let before = round.load(Ordering::SeqCst);
                let total = keys.total();
                // Odd: full, or being cleared, or empty.
                if before % 2 == 1 && round.load(Ordering::SeqCst) == before {
                    assert!(total == 0 || total == 400, "{total}");
                    met.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let _finish = Finish(&stop);
        for _ in 0..100 {
            race(4, |thread| (0..100).for_each(|_| keys.increment(&(thread as u64))));
            round.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            keys.clear();
            assert_eq!(keys.total(), 0);
            round.fetch_add(1, Ordering::SeqCst);
        }
    });
    println!("{} reads met a clear", met.load(Ordering::Relaxed));
    assert_eq!(keys.lifetime(), 100 * 400);
}

/// A thread that stands still in a read holds up no add.
#[test]
fn adds_go_on_beside_a_suspended_comparison() {
    use std::hash::{Hash, Hasher};
    use std::sync::Mutex;

    /// A key whose comparison waits while the gate is locked.
    #[derive(Clone, Copy)]
    struct Slow(u64, &'static Mutex<()>, bool);
    impl PartialEq for Slow {
        fn eq(&self, other: &Slow) -> bool {
            if self.2 || other.2 {
                drop(self.1.lock());
            }
            self.0 == other.0
        }
    }
    impl Eq for Slow {}
    impl Hash for Slow {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    static GATE: Mutex<()> = Mutex::new(());

    let keys = heavy::<Slow>(10, 2, 2, &clock_at(0));
    keys.increment(&Slow(1, &GATE, false));
    let closed = GATE.lock().unwrap();
    thread::scope(|scope| {
        let suspended = scope.spawn(|| keys.increment(&Slow(1, &GATE, true)));
        thread::sleep(ms(20)); // so that it stands under its shard's lock, if it uses the first's
        for _ in 0..1_000 {
            keys.increment(&Slow(2, &GATE, false));
        }
        drop(closed);
        suspended.join().unwrap();
    });
    assert_eq!((keys.total(), keys.lifetime()), (1_002, 1_002));
}

/// Buckets leave the ring for the tiers while readers add them up: each add is in one of them.
#[test]
fn a_tier_misses_no_add_and_has_none_twice_while_the_ring_turns() {
    const ADDS: u64 = 20_000;
    let clock = clock_at(0);
    let builder = HeavyKeys::<u64>::builder(8).interval(ms(4)).buckets(2).shards(3);
    let keys = builder.tier(ms(10), 4).tier(ms(1_000), 1_000).clock(clock.clone()).build().unwrap();
    let day = Duration::from_secs(1_000);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                // Late adds may come between the two readings: more than there were adds before.
                let before = keys.lifetime().saturating_sub(keys.late());
                let read = keys.snapshot_over(day).expect("it fits");
                let behind = keys.lifetime();
                assert!((before..=behind).contains(&read.total()), "{before}, {read:?}, {behind}");
                assert!(read.max_error() <= read.total() / 8, "{read:?}");
            }
        });
        let _finish = Finish(&stop);
        race(THREADS, |thread| {
            for number in 0..ADDS {
                if number % 16 == 0 {
                    clock.advance(ms(1));
                }
                keys.increment(&(number * thread as u64 % 50));
            }
        });
    });
    let read = keys.snapshot_over(day).expect("it fits");
    assert_eq!(read.total() + keys.late(), keys.lifetime());
    assert_eq!(keys.lifetime(), THREADS as u64 * ADDS);
}
