//! Windows under soak, one on each clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow::{Clock, SlidingWindow, Timestamp};

use super::subject::Subject;
use testkit::Rng;

windrow::events! {
    /// One of each kind.
    enum Seen { Pass: Count, Rt: Value }
}

/// The number of adds at a time.
const BURST: u64 = 16;

/// Lengths of buckets in nanoseconds and their number; the window goes from one to the next.
type Geometries = &'static [(u64, u32)];

const MANUAL: Geometries = &[(10, 64), (20, 30), (5, 90)];
const PRECISE: Geometries = &[(100_000, 100), (50_000, 400), (400_000, 50)];
const TICKER: Geometries = &[(10_000_000, 100), (20_000_000, 20)];
const COARSE: Geometries = &[(100_000_000, 10), (200_000_000, 60)];

/// A window, and the sum of its adds.
struct Watched<C> {
    window: SlidingWindow<Seen, C>,
    /// Moves the clock on, if it must be moved.
    push: fn(&C, &mut Rng),
    clock: C,
    geometries: Geometries,
    passes: AtomicU64,
    values: AtomicU64,
    sum: AtomicU64,
    /// The lifetime that a read has found: it never goes back.
    found: AtomicU64,
}

impl<C: Clock + Clone> Watched<C> {
    fn new(clock: C, geometries: Geometries, push: fn(&C, &mut Rng)) -> Watched<C> {
        let (length, buckets) = geometries[0];
        let window = SlidingWindow::<Seen>::builder()
            .interval(Duration::from_nanos(length) * buckets)
            .buckets(buckets as usize)
            .clock(clock.clone())
            .build()
            .expect("a valid window");
        let [passes, values, sum, found] = [const { AtomicU64::new(0) }; 4];
        Watched { window, push, clock, geometries, passes, values, sum, found }
    }

    fn back_dated(&self, random: &mut Rng) -> u64 {
        let now = self.clock.now().as_nanos();
        let time = now.saturating_sub(random.u64(..2 * self.geometries[0].0));
        let added = self.window.add_at(Timestamp::from_nanos(time), Seen::Pass, 1);
        u64::from(added.is_ok())
    }
}

impl<C: Clock + Clone + Send + Sync> Subject for Watched<C> {
    fn add(&self, random: &mut Rng) -> u64 {
        let (mut passes, mut sum) = (0, 0);
        for _ in 0..BURST {
            (self.push)(&self.clock, random);
            let (n, value) = (random.u64(..4), random.u64(..1_000));
            self.window.add(Seen::Pass, n);
            self.window.record(Seen::Rt, value);
            passes += n + self.back_dated(random);
            sum += value;
        }
        self.passes.fetch_add(passes, Ordering::Relaxed);
        self.values.fetch_add(BURST, Ordering::Relaxed);
        self.sum.fetch_add(sum, Ordering::Relaxed);
        3 * BURST
    }

    fn disturb(&self, random: &mut Rng) {
        match random.u64(..40) {
            0 => {
                let which = random.u64(..self.geometries.len() as u64) as usize;
                let (length, buckets) = self.geometries[which];
                let interval = Duration::from_nanos(length) * buckets;
                self.window.reconfigure(interval, buckets as usize).expect("a valid geometry");
            }
            1..4 => _ = self.window.snapshot(),
            4..10 => _ = self.window.drain_closed(|bucket| _ = bucket.stats(Seen::Rt)),
            10..20 => _ = (self.window.sum(Seen::Pass), self.window.stats(Seen::Rt)),
            _ => {
                let before = self.found.load(Ordering::Acquire);
                let lifetime = self.window.lifetime(Seen::Pass).count;
                assert!(before <= lifetime, "a lifetime went back from {before} to {lifetime}");
                self.found.fetch_max(lifetime, Ordering::AcqRel);
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let (pass, rt) = (self.window.lifetime(Seen::Pass), self.window.lifetime(Seen::Rt));
        let found = [pass.count, rt.count, rt.sum];
        let book = [&self.passes, &self.values, &self.sum].map(|n| n.load(Ordering::Relaxed));
        if found == book {
            return Ok(());
        }
        let clock = std::any::type_name::<C>();
        Err(format!("window on {clock}: passes, values and their sum {found:?}, not {book:?}"))
    }
}

/// Forward, mostly by less than a bucket; now and then a step back.
fn push(clock: &Manual, random: &mut Rng) {
    if random.u64(..500) == 0 {
        let now = clock.now().as_nanos();
        clock.set(Timestamp::from_nanos(now.saturating_sub(random.u64(..1_000))));
    } else {
        clock.advance(Duration::from_nanos(random.u64(..8)));
    }
}

/// One on each clock.
pub(super) fn all() -> Vec<Box<dyn Subject>> {
    vec![
        Box::new(Watched::new(Manual::default(), MANUAL, push)),
        Box::new(Watched::new(Precise::default(), PRECISE, |_, _| ())),
        Box::new(Watched::new(Ticker::start(Duration::from_millis(1)), TICKER, |_, _| ())),
        Box::new(Watched::new(Coarse::default(), COARSE, |_, _| ())),
    ]
}
