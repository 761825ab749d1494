//! A ring of buckets behind one lock, which checks and counts while it holds that: slow when
//! shared, and right.

use std::collections::VecDeque;
use std::sync::Mutex;

use windrow::Clock;

use super::{Limiter, Terms};

struct Ring {
    /// The number and the sum of each bucket of the interval with admissions.
    buckets: VecDeque<(u64, u64)>,
    sum: u64,
}

/// Admits the limit in each run of `buckets` buckets, as a gate does. With one bucket it is a
/// *fixed window*: a count that begins anew with each interval.
pub struct MutexRing<C> {
    terms: Terms,
    length: u64,
    clock: C,
    ring: Mutex<Ring>,
}

impl<C: Clock> MutexRing<C> {
    /// Returns the limiter on this clock.
    pub fn new(terms: Terms, clock: C) -> MutexRing<C> {
        let length = terms.interval.as_nanos() as u64 / u64::from(terms.buckets);
        let ring = Mutex::new(Ring { buckets: VecDeque::new(), sum: 0 });
        MutexRing { terms, length, clock, ring }
    }
}

impl<C: Clock + Send + Sync> Limiter for MutexRing<C> {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        let now = self.clock.now().as_nanos() / self.length;
        let ring = &mut *self.ring.lock().expect("no thread panics in here");
        // Others may have been quicker to the lock, with a later time.
        let now = ring.buckets.back().map_or(now, |(newest, _)| now.max(*newest));
        while let Some((bucket, count)) = ring.buckets.front()
            && bucket + u64::from(self.terms.buckets) <= now
        {
            ring.sum -= count;
            ring.buckets.pop_front();
        }
        let fits = ring.sum < self.terms.limit;
        if fits {
            ring.sum += 1;
            match ring.buckets.back_mut() {
                Some((bucket, count)) if *bucket == now => *count += 1,
                _ => ring.buckets.push_back((now, 1)),
            }
        }
        fits
    }
}
