//! The facts that a window's history implies about its ring at a stamp, and about the adds in a
//! number.
//!
//! Adds that are under way may have moved the ring on or not, and changes of geometry likewise. So
//! only bounds are known: the newest bucket *at least*, by the adds that had returned, and *at
//! most*, by those that had begun; and of all geometries that have begun, the *fewest* and the
//! *most* buckets.

use super::{Call, Span};

/// The effect of a call on a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowCall {
    /// An add at a time in a bucket: the bucket, and the amount.
    Add(u64, u64),
    /// At a time in a bucket, found as the sum of its interval.
    Sum(u64, u64),
    /// A read at a time in a bucket: the bucket, and the buckets found with the sum of each.
    Buckets(u64, Vec<(u64, u64)>),
    /// Found as the sum of all adds ever.
    Lifetime(u64),
    /// Found as the sum of late adds.
    Late(u64),
    /// A drain of a closed bucket: the bucket, and its sum.
    Drained(u64, u64),
    /// A change of the geometry to this number of buckets.
    Reconfigure(u64),
}

/// A window's history. It must end at rest: with `Lifetime`, `Late` and `Buckets` that began when
/// every other call had returned, the last at a time in the newest bucket.
#[derive(Debug)]
pub struct WindowHistory {
    /// The number of buckets with which it was built.
    pub buckets: u64,
    /// At a time in which bucket it was built.
    pub built_at: u64,
    /// The calls on it.
    pub calls: Vec<Call<WindowCall>>,
}

/// One add.
pub(super) struct Add {
    span: Span,
    pub(super) bucket: u64,
    pub(super) n: u64,
    /// The bounds of the ring when the add looked for its bucket.
    ring: Ring,
}

/// The bounds of the ring during a call.
#[derive(Clone, Copy)]
struct Ring {
    /// The newest bucket at least when the call began, and at most when it returned.
    newest: (u64, u64),
    /// The least and the greatest number of buckets until it returned.
    buckets: (u64, u64),
}

impl Ring {
    /// Returns whether a bucket was in the ring all the time.
    fn surely_has(&self, bucket: u64) -> bool {
        bucket + self.buckets.0 > self.newest.1
    }

    /// Returns whether a bucket may have been in the ring.
    fn may_have(&self, bucket: u64) -> bool {
        bucket + self.buckets.1 > self.newest.0
    }
}

impl Add {
    /// Returns whether it went into its bucket in every order of the other calls.
    fn was_in_time(&self) -> bool {
        self.ring.surely_has(self.bucket)
    }

    /// Returns whether it was late in every order of the other calls.
    fn was_late(&self) -> bool {
        !self.ring.may_have(self.bucket)
    }

    /// Returns whether it had not returned when another call began.
    pub(super) fn ends_after_the_beginning_of(&self, call: Span) -> bool {
        call.begin < self.span.end
    }
}

/// The adds that must be in a number, and those that may.
pub(super) struct Bounds {
    pub(super) least: u64,
    pub(super) most: u64,
}

/// Everything that is known.
pub(super) struct Known {
    pub(super) adds: Vec<Add>,
    /// The newest bucket by each add's beginning, and by each add's end.
    by_begin: Vec<(u64, u64)>,
    by_end: Vec<(u64, u64)>,
    /// The first number of buckets, and its changes.
    first: u64,
    changes: Vec<(u64, u64)>,
}

impl Known {
    pub(super) fn of(history: &WindowHistory) -> Known {
        let mut adds = Vec::new();
        let mut changes = Vec::new();
        for call in &history.calls {
            match call.did {
                WindowCall::Add(bucket, n) => adds.push((call.span, bucket, n)),
                WindowCall::Reconfigure(buckets) => changes.push((call.span.begin, buckets)),
                _ => {}
            }
        }
        let newest_by = |when: fn(&Span) -> u64| {
            let mut moves: Vec<_> =
                adds.iter().map(|(span, bucket, _)| (when(span), *bucket)).collect();
            moves.push((0, history.built_at));
            moves.sort_unstable();
            let mut newest = 0;
            for (_, bucket) in &mut moves {
                newest = newest.max(*bucket);
                *bucket = newest;
            }
            moves
        };
        let (by_begin, by_end) = (newest_by(|add| add.begin), newest_by(|add| add.end));
        let mut known =
            Known { adds: Vec::new(), by_begin, by_end, first: history.buckets, changes };
        let add = |(span, bucket, n)| Add { span, bucket, n, ring: known.ring(span) };
        known.adds = adds.into_iter().map(add).collect();
        known
    }

    pub(super) fn was_reconfigured(&self) -> bool {
        !self.changes.is_empty()
    }

    fn ring(&self, call: Span) -> Ring {
        let newest = |moves: &[(u64, u64)], before| {
            let count = moves.partition_point(|(when, _)| *when < before);
            moves[count.saturating_sub(1)].1
        };
        let begun = self.changes.iter().filter(|(begin, _)| *begin < call.end);
        let buckets = begun.fold((self.first, self.first), |(fewest, most), (_, buckets)| {
            (fewest.min(*buckets), most.max(*buckets))
        });
        Ring {
            newest: (newest(&self.by_end, call.begin), newest(&self.by_begin, call.end)),
            buckets,
        }
    }

    /// Returns the newest bucket of all.
    pub(super) fn newest(&self) -> u64 {
        self.by_begin.last().map_or(0, |(_, newest)| *newest)
    }

    /// Returns whether a bucket is in the ring at rest, whatever the geometry.
    pub(super) fn has_at_rest(&self, bucket: u64) -> bool {
        self.ring(Span { begin: u64::MAX, end: u64::MAX }).surely_has(bucket)
    }

    /// Returns the bounds of a read: of the adds that must be in it, those that had returned; of
    /// those that may, those that had begun.
    fn bounds(&self, read: Span, counts: impl Fn(&Add) -> (bool, bool)) -> Bounds {
        let mut bounds = Bounds { least: 0, most: 0 };
        for add in self.adds.iter().filter(|add| add.span.begin < read.end) {
            let (must, may) = counts(add);
            if must && add.span.is_before(read) {
                bounds.least += add.n;
            }
            if may {
                bounds.most += add.n;
            }
        }
        bounds
    }

    /// Returns the bounds of all adds.
    pub(super) fn lifetime(&self, read: Span) -> Bounds {
        self.bounds(read, |_| (true, true))
    }

    /// Returns the bounds of the late adds.
    pub(super) fn late(&self, read: Span) -> Bounds {
        self.bounds(read, |add| (add.was_late(), !add.was_in_time()))
    }

    /// Returns the bounds of the interval that ends with a bucket, or of one bucket of it.
    pub(super) fn interval(&self, read: Span, now: u64, only: Option<u64>) -> Bounds {
        let ring = self.ring(read);
        let (fewest, most) = ring.buckets;
        self.bounds(read, |add| {
            let bucket = add.bucket;
            if bucket > now || only.is_some_and(|only| only != bucket) {
                return (false, false);
            }
            // An add in the ring during the whole read was in it when it was made.
            let stays = bucket + fewest > now && ring.surely_has(bucket);
            (stays, bucket + most > now && ring.may_have(bucket) && !add.was_late())
        })
    }

    /// Returns the bounds of a drained bucket. After a change of geometry it may be handed out in
    /// parts.
    pub(super) fn drained(&self, turn: Span, bucket: u64) -> Bounds {
        let whole = !self.was_reconfigured();
        self.bounds(turn, |add| {
            let here = add.bucket == bucket;
            (here && whole && add.was_in_time(), here && !add.was_late())
        })
    }
}
