//! Calls that race, for the tests of each kind of limit.

use std::thread;

use super::answer::{Answer, Taken};

const MILLISECOND: u64 = 1_000_000;

/// Takes by weights from 1 to 3 in three threads, at times that step back and leap, and waits for
/// two milliseconds at most. Some calls are given back. Returns the moments and the weights of the
/// others, in the order of the moments.
pub(super) fn admitted<U: Copy>(
    take: impl Fn(u64, u64, u64) -> Answer<U> + Sync,
    give_back: impl Fn(Taken<U>) -> bool + Sync,
) -> Vec<(u64, u64)> {
    let calls = |seed: u64| {
        let mut random = seed;
        let mut admitted = Vec::new();
        for step in 0..2_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let now = step * MILLISECOND / 3 + (random >> 33) % (5 * MILLISECOND);
            let n = 1 + (random >> 60) % 3;
            if let Answer::Taken(taken) = take(now, n, 2 * MILLISECOND) {
                match random >> 61 {
                    0 if give_back(taken) => {}
                    _ => admitted.push((taken.due, n)),
                }
            }
        }
        admitted
    };
    let mut admitted: Vec<_> = thread::scope(|scope| {
        let threads = [1, 2, 3].map(|seed| {
            scope.spawn({
                let calls = &calls;
                move || calls(seed)
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    admitted.sort_unstable();
    admitted
}
