//! Reads of a tier that moves on meanwhile.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::time::Duration;

use testkit::{at_ns, ns};
use windrow::{
    Clock, SlidingWindow, Stats, Timestamp,
    diagnostics::{Strategy, strategy},
    events,
    histogram::Scale,
    snapshot::{Over, Totals},
};

events! {
    enum Seen { Rt: Value, Most: Maximum, Least: Minimum, Took: Histogram(Scale::fixed::<4, 1, 100_000>()) }
}

type Window = SlidingWindow<Seen, &'static Moving>;

/// Something to do when a read asks for the time; its argument is the number of earlier times.
type ToDo = Box<dyn Fn(u64)>;

/// A clock that has something done each time that a read asks for the time.
#[derive(Default)]
struct Moving {
    now: Cell<u64>,
    /// The number of times a read has asked it, while there is something to do.
    asked: Cell<u64>,
    to_do: RefCell<Option<ToDo>>,
}

impl Clock for Moving {
    fn now(&self) -> Timestamp {
        // Adds ask for the time, too; but they do not repeat an action that is under way.
        if let Ok(mut to_do) = self.to_do.try_borrow_mut()
            && let Some(to_do) = &mut *to_do
        {
            self.asked.set(self.asked.get() + 1);
            to_do(self.asked.get());
        }
        at_ns(self.now.get())
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns whether these tests make no sense. By epochs a read is pinned while its clock moves the
/// ring on. Then no bucket closes, the boundaries of coarse buckets stay unknown, and what was
/// counted behind them is told with the coarse bucket before (docs/design/windows.md, Tiers).
fn pins_a_read() -> bool {
    strategy() == Strategy::Epochs
}

fn record(window: &Window, at: u64) {
    window.clock().now.set(at);
    window.record(Seen::Rt, at);
    window.record(Seen::Most, at);
    window.record(Seen::Least, at);
    window.record(Seen::Took, at);
}

/// The window was idle for a while, a round before and now: so of two buckets, the newer one has
/// left its slot, and the older one may still stand there. The sum of both is not the older one's.
#[test]
fn a_bucket_that_has_left_meanwhile_is_not_taken_for_an_older_one() {
    if pins_a_read() {
        return;
    }
    for before in 0..12 {
        moves_on_in_the_middle_of_a_series(before);
    }
}

/// The number of buckets opened `before` decides which memory is used again.
fn moves_on_in_the_middle_of_a_series(before: u64) {
    const BEGIN: u64 = 10_000;
    let clock: &'static Moving = Box::leak(Box::default());
    clock.now.set(BEGIN - 200 * before);
    let builder = SlidingWindow::<Seen>::builder().interval(ns(200)).buckets(20).clock(clock);
    let window = builder.tier(ns(200), 4).build().expect("the tier nests");
    let window: &'static Window = Box::leak(Box::new(window));
    (0..=before).rev().for_each(|back| record(window, BEGIN - 200 * back));
    for by in [200, 400, 600, 610] {
        record(window, BEGIN + by);
    }
    // The clock has stepped back: the newest bucket stays in the tier when another one takes the
    // place of the second.
    let move_on = |_| {
        record(window, BEGIN + 1_000);
        record(window, BEGIN + 1_010);
        clock.now.set(BEGIN + 500);
    };
    *clock.to_do.borrow_mut() = Some(Box::new(move_on));
    let series = window.series(0).expect("there is a tier");
    clock.to_do.borrow_mut().take();
    assert_eq!(
        (clock.asked.get(), series.totals().at()),
        (1, at_ns(BEGIN + 500)),
        "it is read once"
    );
    for (bucket, is_there) in series.buckets().iter().zip([false, false, false, true]) {
        let at = bucket.start().as_nanos();
        let own = Stats { count: 1, sum: at, min: Some(at), max: Some(at) };
        let stats = bucket.stats(Seen::Rt);
        let has_left = !is_there && stats == Stats::default();
        assert!(stats == own || has_left, "{before} before: {at}: {stats:?}");
    }
}

/// The length of a coarse bucket, and the number in the tier.
const LENGTH: u64 = 200;
const BUCKETS: u64 = 6;
/// The last time that a read asks for.
const NOW: u64 = 20_000;

/// The moves of the ring while a read begins again, each by at least a coarse bucket.
#[derive(Clone, Copy, Debug)]
struct Moves {
    /// The number of coarse buckets with adds before.
    before: u64,
    /// The distance of the move at the last question of the read, and the number of steps.
    by: u64,
    steps: u64,
}

/// A window, and the times of its records.
struct Moved {
    by: Moves,
    window: &'static Window,
    times: &'static RefCell<Vec<u64>>,
}

impl Moved {
    /// Calls `see` with windows that move on in each way.
    fn each(see: impl Fn(Moved)) {
        if pins_a_read() {
            return;
        }
        for before in [0, 3, 9] {
            for by in [LENGTH, 250, 600, 800, 1_000, 1_190, 1_200, 1_400, 5_000] {
                for steps in [1, 2, by / 10] {
                    see(Moved::of(Moves { before, by, steps }));
                }
            }
        }
    }

    /// Returns a window that moves on whenever a read asks for the time.
    fn of(moves: Moves) -> Moved {
        const BEGIN: u64 = NOW - 9 * LENGTH;
        let clock: &'static Moving = Box::leak(Box::default());
        let times: &'static RefCell<Vec<u64>> = Box::leak(Box::default());
        clock.now.set(BEGIN - LENGTH * moves.before);
        let builder = SlidingWindow::<Seen>::builder().interval(ns(200)).buckets(20).clock(clock);
        let window = builder.tier(ns(LENGTH), BUCKETS as usize).build().expect("the tier nests");
        let window: &'static Window = Box::leak(Box::new(window));
        let record = |at| {
            times.borrow_mut().push(at);
            record(window, at);
        };
        for back in (1..=moves.before).rev() {
            record(BEGIN - LENGTH * back);
            record(BEGIN - LENGTH * back + 30);
        }
        record(BEGIN);
        let move_on = move |asked: u64| {
            let now = BEGIN + LENGTH * asked;
            assert!(now <= NOW, "it asks for the time nine times at most");
            if now < NOW {
                record(now + LENGTH);
            } else {
                (1..=moves.steps).for_each(|step| record(NOW + moves.by * step / moves.steps));
            }
            clock.now.set(now);
        };
        *clock.to_do.borrow_mut() = Some(Box::new(move_on));
        Moved { by: moves, window, times }
    }

    fn over(&self, buckets: u64) -> Over<'_, Seen, &'static Moving> {
        self.window.over(ns(buckets * LENGTH)).expect("the tier reaches so far")
    }

    /// Returns the part of `buckets` coarse buckets up to the one that ends at `end` that is still
    /// in the tier.
    fn rest(&self, buckets: u64, end: u64) -> Range<u64> {
        let live = self.times.borrow().last().copied().expect("there are records");
        let oldest = live / LENGTH * LENGTH + LENGTH - BUCKETS * LENGTH;
        (end - buckets * LENGTH).max(oldest)..end
    }

    /// Returns the stats of the records of a span.
    fn stats(&self, span: &Range<u64>) -> Stats {
        let times = self.times.borrow();
        let of = || times.iter().copied().filter(|at| span.contains(at));
        Stats { count: of().count() as u64, sum: of().sum(), min: of().min(), max: of().max() }
    }

    /// Expects of totals that they are those of a span, and say so.
    fn judge(&self, totals: &Totals<Seen>, span: &Range<u64>) {
        let (own, by) = (self.stats(span), self.by);
        assert_eq!(totals.stats(Seen::Rt), own, "{by:?}: {span:?}");
        assert_eq!(totals.stats(Seen::Took), own, "{by:?}: {span:?}");
        let extremes = (totals.stats(Seen::Least).min, totals.stats(Seen::Most).max);
        assert_eq!(extremes, (own.min, own.max), "{by:?}: {span:?}");
        let interval = totals.interval().as_nanos() as u64;
        if span.is_empty() {
            assert_eq!(interval, 0, "{by:?}: it has left the tier");
        } else {
            let end = totals.end().as_nanos();
            assert_eq!(end - interval..end, span.clone(), "{by:?}");
        }
    }
}

#[test]
fn totals_that_are_overtaken_each_time_are_those_of_their_span() {
    for buckets in [2, 3, 6] {
        Moved::each(|moved| {
            let totals = moved.over(buckets).totals();
            assert_eq!(totals.at(), at_ns(NOW), "{:?}: it is overtaken each time", moved.by);
            moved.judge(&totals, &moved.rest(buckets, NOW + LENGTH));
        });
        Moved::each(|moved| {
            let stats = moved.over(buckets).stats(Seen::Rt);
            let own = moved.stats(&moved.rest(buckets, NOW + LENGTH));
            assert_eq!(stats, own, "{:?}", moved.by);
        });
        // The times whose buckets were present when they were read.
        Moved::each(|moved| {
            let totals = moved.over(buckets).complete();
            let span = moved.rest(buckets.min(BUCKETS - 1), totals.at().as_nanos());
            moved.judge(&totals, &span);
        });
    }
}

#[test]
fn a_series_that_is_overtaken_each_time_has_each_buckets_own() {
    Moved::each(|moved| {
        let series = moved.window.series(0).expect("there is a tier");
        assert_eq!(series.totals().at(), at_ns(NOW), "{:?}: it is overtaken each time", moved.by);
        for bucket in series.buckets() {
            let span = bucket.start().as_nanos()..bucket.end().as_nanos();
            let is_there = moved.rest(1, span.end) == span;
            let own = if is_there { moved.stats(&span) } else { Stats::default() };
            assert_eq!(bucket.stats(Seen::Rt), own, "{:?}: {span:?}", moved.by);
            let extremes = (bucket.stats(Seen::Least).min, bucket.stats(Seen::Most).max);
            assert_eq!(extremes, (own.min, own.max), "{:?}: {span:?}", moved.by);
        }
    });
}

/// The ring is taken back while it is read, and goes on in tiers that begin anew: what these count
/// is in no span of the earlier ones.
#[test]
fn a_span_that_is_cleared_meanwhile_has_nothing_of_an_earlier_time() {
    const BEGIN: u64 = 10_000;
    let clock: &'static Moving = Box::leak(Box::default());
    clock.now.set(BEGIN);
    let builder = SlidingWindow::<Seen>::builder().interval(ns(200)).buckets(20).clock(clock);
    let window = builder.tier(ns(LENGTH), BUCKETS as usize).build().expect("the tier nests");
    let window: &'static Window = Box::leak(Box::new(window));
    for by in [0, 200, 400, 600, 800] {
        record(window, BEGIN + by);
    }
    let clear = |asked| {
        if asked == 1 {
            clock.now.set(BEGIN + 300);
            window.clear().expect("there is room");
            record(window, BEGIN + 300);
        }
        clock.now.set(BEGIN + 810);
    };
    *clock.to_do.borrow_mut() = Some(Box::new(clear));
    let totals = window.over(ns(2 * LENGTH)).expect("the tier reaches so far").totals();
    clock.to_do.borrow_mut().take();
    assert_eq!(totals.end(), at_ns(BEGIN + 1_000));
    assert_eq!(totals.stats(Seen::Rt), Stats::default());
    assert_eq!(window.lifetime(Seen::Rt).count, 6);
}
