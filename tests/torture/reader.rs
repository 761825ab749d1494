//! The demands on a window: while it is under torture, and at rest.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use windrow::Event;
use windrow::{Stats, snapshot::BucketSnapshot};

use crate::Seen;
use crate::book::{Books, agree};
use crate::round::Round;
use testkit::ledger::{Ledger, Progress, Tally};

/// The number of buckets that are checked each time, or all if there are fewer.
const LOOKED_AT: usize = 64;

/// A bucket that the reader has come across.
#[derive(Clone, Copy)]
struct Once {
    numbers: [Tally; 2],
    /// No thread could add to it any more: it must not change.
    left_alone: bool,
}

/// The buckets that the reader has come across, closed or left alone.
pub(crate) struct Found {
    buckets: BTreeMap<u64, Once>,
    /// The contents of buckets that may have left the ring while they were read.
    left: Vec<(u64, [Tally; 2])>,
}

fn numbers(bucket: &BucketSnapshot<Seen>) -> [Tally; 2] {
    [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].map(|event| Tally::from(bucket.stats(event)))
}

/// Returns whether nothing that is in `before` is missing from `after`.
fn grew(before: Tally, after: Tally) -> bool {
    let lower = before.min.is_none() || after.min.is_some_and(|min| Some(min) <= before.min);
    before.count <= after.count && before.sum <= after.sum && before.max <= after.max && lower
}

/// Reads until it is finished.
pub(crate) fn read(round: &Round, finished: &AtomicBool) -> Found {
    let mut seen = Found { buckets: BTreeMap::new(), left: Vec::new() };
    let mut last = [Tally::default(); 2];
    while !finished.load(Ordering::Acquire) {
        round.bracket_lifetimes(&mut last);
        seen.look(round);
        let _ = (round.window.previous(), round.window.sum(Seen::Pass));
    }
    seen
}

impl Found {
    /// Looks at the newest buckets.
    fn look(&mut self, round: &Round) {
        let floor = round.floors.iter().map(|floor| floor.load(Ordering::SeqCst)).min();
        let snapshot = round.window.snapshot();
        let latest = round.latest();
        let newest = snapshot.buckets().last().expect("the current bucket");
        assert!(round.plan.back_one_in > 0 || !newest.is_closed(), "{newest:?} is live");
        for bucket in snapshot.buckets().iter().rev().take(LOOKED_AT) {
            let start = bucket.start().as_nanos();
            let left = start + round.interval() <= latest + round.longest();
            let left_alone = floor.is_some_and(|floor| bucket.end().as_nanos() <= floor);
            if round.plan.geometries.len() > 1 {
                continue; // may have lost its contents
            }
            if left {
                // It may have lost its contents here too, but it has no other bucket's.
                if left_alone && numbers(bucket) != <[Tally; 2]>::default() {
                    self.left.push((start, numbers(bucket)));
                }
                continue;
            }
            if !left_alone && !bucket.is_closed() {
                continue;
            }
            let now = Once { numbers: numbers(bucket), left_alone };
            if left_alone {
                agree(bucket.stats(Seen::Rt)).expect("numbers of the same values");
            }
            let before = self.buckets.insert(start, now).unwrap_or(now);
            for (before_all, now_all) in before.numbers.into_iter().zip(now.numbers) {
                let same = before_all == now_all;
                let grew = !before.left_alone && grew(before_all, now_all);
                assert!(same || grew, "the bucket {start}: {before_all:?}, then {now_all:?}");
            }
        }
    }

    /// Checks that buckets seen left alone have exactly their adds, and buckets seen closed no more
    /// than that.
    pub(crate) fn compare(&self, round: &Round, books: &Books) {
        for (start, once) in &self.buckets {
            let all = [books.pass.at(*start), books.rt.at(*start)];
            for (seen, all) in once.numbers.into_iter().zip(all) {
                let right = if once.left_alone { seen == all } else { grew(seen, all) };
                assert!(right, "the bucket {start} was seen as {seen:?}, not {all:?}");
            }
        }
        for (start, numbers) in &self.left {
            let all = [books.pass.at(*start), books.rt.at(*start)];
            for (seen, all) in numbers.iter().zip(all) {
                assert!(grew(*seen, all), "the bucket {start} was seen as {seen:?}, not {all:?}");
            }
        }
        let (stayed, left) = (self.buckets.len(), self.left.len());
        println!("{:?}: {stayed} buckets seen, and {left} as they left", round.plan);
    }
}

impl Round {
    /// Asks for the lifetimes, which must lie between done and begun, and never go back.
    fn bracket_lifetimes(&self, last: &mut [Tally; 2]) {
        let pairs = [(Event::<Seen>::from(Seen::Pass), &self.pass), (Seen::Rt.into(), &self.rt)];
        for ((event, progress), last) in pairs.into_iter().zip(last) {
            let done = Progress::done(progress);
            let now = Tally::from(self.window.lifetime(event));
            let begun = Progress::begun(progress);
            for (i, number) in [now.count, now.sum].into_iter().enumerate() {
                let range = done[i]..=begun[i];
                assert!(range.contains(&number), "{event:?}: {number} is not in {range:?}");
            }
            assert!(grew(*last, now), "{last:?}, then {now:?}");
            *last = now;
        }
    }

    /// With no add running: everything is where it belongs.
    pub(crate) fn at_rest(&self, books: &Books) {
        let newest = [&books.pass, &books.rt, &books.peak].map(Ledger::newest).into_iter().max();
        let newest = newest.flatten().expect("something was added");
        let latest = self.latest();
        self.stop_at(newest + self.longest() - 1);
        let pairs = [
            (Event::<Seen>::from(Seen::Pass), &books.pass),
            (Event::<Seen>::from(Seen::Rt), &books.rt),
            (Event::<Seen>::from(Seen::Peak), &books.peak),
        ];
        for (event, ledger) in pairs {
            assert_eq!(Tally::from(self.window.lifetime(event)), ledger.total(), "{event:?}");
        }
        for idle in [Event::<Seen>::from(Seen::Idle), Seen::Still.into()] {
            assert_eq!(Tally::from(self.window.lifetime(idle)), Tally::default(), "{idle:?}");
        }
        self.buckets_are_exact(books, newest, latest);
        let late = self.window.late(Seen::Rt);
        agree(late).expect("late values");
        let range = books.late..=books.maybe_late;
        assert!(range.contains(&late.count), "{} late, not in {range:?}", late.count);
    }

    /// Buckets are put together to the longest there are, in which a change of geometry moves
    /// nothing out of its place.
    fn buckets_are_exact(&self, books: &Books, newest: u64, latest: u64) {
        let snapshot = self.window.snapshot();
        let (mut held, mut each) = ([Tally::default(); 2], BTreeMap::new());
        let mut peaks: BTreeMap<u64, Tally> = BTreeMap::new();
        for bucket in snapshot.buckets() {
            agree(bucket.stats(Seen::Rt)).expect("numbers of the same values");
            assert_eq!(bucket.sum(Seen::Idle) + bucket.stats(Seen::Still).count, 0);
            let together: &mut [Tally; 2] =
                each.entry(self.start_of(bucket.start().as_nanos())).or_default();
            let peak = peaks.entry(self.start_of(bucket.start().as_nanos())).or_default();
            peak.merge(Tally::from(bucket.stats(Seen::Peak)));
            for (i, tally) in numbers(bucket).into_iter().enumerate() {
                together[i].merge(tally);
                held[i].merge(tally);
            }
        }
        // With several geometries: what may have left one of their rings is not looked for.
        let several = self.plan.geometries.len() > 1;
        let oldest = if several { latest + 2 * self.longest() } else { 0 };
        let checked = each.iter().filter(|(start, _)| **start + self.interval() > oldest);
        for (start, together) in checked {
            let all = [books.pass.at(*start), books.rt.at(*start)];
            assert_eq!(peaks[start], books.peak.at(*start), "the bucket {start}");
            assert_eq!(*together, all, "the bucket {start}, with {newest} the newest");
        }
        for (event, held) in
            [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().zip(held)
        {
            let Stats { count, sum, .. } = self.window.lifetime(event);
            let late = self.window.late(event);
            assert_eq!(Tally::from(self.window.stats(event)), held);
            assert!(held.count + late.count <= count, "{event:?}: {late:?}");
            assert!(held.sum + late.sum <= sum, "{event:?}: {late:?}");
        }
    }
}
