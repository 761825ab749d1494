//! What a window promises, of a recorded history.
//!
//! Buckets have numbers, time is in buckets, and all geometries of a history have buckets of one
//! length. What is known of the ring at a stamp is two numbers, since adds that are under way may
//! have moved it on or not: its newest bucket *at least*, by the adds that had returned, and *at
//! most*, by those that had begun. Likewise, of changes of geometry, its *fewest* and *most* buckets.
//!
//! * A *sum* for the interval that ends at its reader's time has every add that had returned, whose
//!   bucket is in that interval and in the ring whatever the adds under way do; and no add but those
//!   that had begun, whose bucket may be in both.
//! * The same holds of each *bucket* that a snapshot shows.
//! * `lifetime` and `late` lie between their bounds, and never go back.
//! * *Drained* buckets are handed out in their order, each once; each has every add that had
//!   returned when its turn came.
//! * *Conservation*: at rest, what was handed out, what is in the newest bucket, what was late, and
//!   what came after its bucket's turn or left the ring before it, are all that was ever added.
//!
//! Buckets are handed out as they were opened, those of one geometry after those of the one before.
//! So in a history with changes of geometry a bucket may have several turns, between those of others:
//! there no add may be handed out twice, and of order and conservation nothing is demanded.

use super::{Call, Numbers, Span};

/// What a call did to a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowCall {
    /// Added so much at a time in a bucket.
    Add(u64, u64),
    /// At a time in a bucket, found as the sum of its interval.
    Sum(u64, u64),
    /// At a time in a bucket, found these buckets, and so much in each.
    Buckets(u64, Vec<(u64, u64)>),
    /// Found as the sum of all adds ever.
    Lifetime(u64),
    /// Found as the sum of late adds.
    Late(u64),
    /// Was handed out a closed bucket with so much in it.
    Drained(u64, u64),
    /// Changed the geometry to so many buckets.
    Reconfigure(u64),
}

/// A window's history. It must end at rest: with `Lifetime`, `Late` and `Buckets` that began when
/// every other call had returned, the last at a time in the newest bucket.
#[derive(Debug)]
pub struct WindowHistory {
    /// How many buckets it was built with.
    pub buckets: u64,
    /// At a time in which bucket it was built.
    pub built_at: u64,
    /// What was done to it.
    pub calls: Vec<Call<WindowCall>>,
}

/// One add.
struct Add {
    span: Span,
    bucket: u64,
    n: u64,
    /// The newest bucket at least when it began, and at most when it returned.
    newest_at_least: u64,
    newest_at_most: u64,
}

/// What was found in a number, and what must and may be in it.
struct Bounds {
    least: u64,
    most: u64,
}

impl WindowHistory {
    /// Whether a window's promises allow this history.
    ///
    /// # Errors
    ///
    /// The call that they do not allow, and why.
    pub fn check(&self) -> Result<(), String> {
        let adds = self.adds();
        let numbers = Numbers::of(adds.iter().map(|add| add.n));
        for Call { span, did, .. } in &self.calls {
            let demand =
                |what: &str, found: u64, bounds: &Bounds| demand(what, found, bounds, numbers);
            match did {
                WindowCall::Add(..) | WindowCall::Reconfigure(_) => {}
                WindowCall::Sum(now, found) => {
                    let bounds = self.interval(&adds, *span, *now, None);
                    demand(&format!("the sum at bucket {now}"), *found, &bounds)?;
                }
                WindowCall::Buckets(now, buckets) => {
                    if !buckets.is_sorted_by(|one, next| one.0 < next.0) {
                        return Err(format!("a snapshot's buckets are out of order: {buckets:?}"));
                    }
                    for (bucket, found) in buckets {
                        let bounds = self.interval(&adds, *span, *now, Some(*bucket));
                        demand(&format!("bucket {bucket} of a snapshot"), *found, &bounds)?;
                    }
                }
                WindowCall::Lifetime(found) => {
                    let begun = bounds(&adds, *span, |_| (true, true));
                    demand("lifetime", *found, &begun)?;
                }
                WindowCall::Late(found) => {
                    demand("late", *found, &self.late(&adds, *span))?;
                }
                WindowCall::Drained(bucket, found) => {
                    let bounds = self.drained(&adds, *span, *bucket);
                    demand(&format!("bucket {bucket}, handed out,"), *found, &bounds)?;
                }
            }
        }
        let lifetimes = |did: &WindowCall| match did {
            WindowCall::Lifetime(found) => Some(*found),
            _ => None,
        };
        let late = |did: &WindowCall| match did {
            WindowCall::Late(found) => Some(*found),
            _ => None,
        };
        self.never_back("lifetime", lifetimes, numbers)?;
        self.never_back("late", late, numbers)?;
        self.in_order(numbers)?;
        self.conserved(&adds, numbers)
    }

    fn adds(&self) -> Vec<Add> {
        let adds = self.calls.iter().filter_map(|call| match call.did {
            WindowCall::Add(bucket, n) => Some((call.span, bucket, n)),
            _ => None,
        });
        adds.map(|(span, bucket, n)| Add {
            span,
            bucket,
            n,
            newest_at_least: self.newest_at_least(span.begin),
            newest_at_most: self.newest_at_most(span.end),
        })
        .collect()
    }

    /// The newest bucket at a stamp, by the adds that match.
    fn newest(&self, counts: impl Fn(&Span) -> bool) -> u64 {
        let buckets = self.calls.iter().filter_map(|call| match call.did {
            WindowCall::Add(bucket, _) if counts(&call.span) => Some(bucket),
            _ => None,
        });
        buckets.fold(self.built_at, u64::max)
    }

    fn newest_at_least(&self, at: u64) -> u64 {
        self.newest(|add| add.end < at)
    }

    fn newest_at_most(&self, at: u64) -> u64 {
        self.newest(|add| add.begin < at)
    }

    /// How many buckets the ring may have had until a stamp.
    fn geometries(&self, until: u64) -> impl Iterator<Item = u64> {
        let changes = self.calls.iter().filter_map(move |call| match call.did {
            WindowCall::Reconfigure(buckets) if call.span.begin < until => Some(buckets),
            _ => None,
        });
        std::iter::once(self.buckets).chain(changes)
    }

    fn fewest(&self, until: u64) -> u64 {
        self.geometries(until).fold(u64::MAX, u64::min)
    }

    fn most(&self, until: u64) -> u64 {
        self.geometries(until).fold(0, u64::max)
    }

    fn was_reconfigured(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.did, WindowCall::Reconfigure(_)))
    }

    /// Of the interval that ends with a bucket, or of one bucket of it.
    fn interval(&self, adds: &[Add], span: Span, now: u64, only: Option<u64>) -> Bounds {
        let (fewest, most) = (self.fewest(span.end), self.most(span.end));
        let newest_at_least = self.newest_at_least(span.begin);
        let newest_at_most = self.newest_at_most(span.end);
        bounds(adds, span, |add| {
            if add.bucket > now || only.is_some_and(|only| only != add.bucket) {
                return (false, false);
            }
            let stays = add.bucket + fewest > now.max(newest_at_most);
            let newest = newest_at_least.max(add.newest_at_least);
            let may_be_there = add.bucket + most > now.max(newest);
            (stays, may_be_there)
        })
    }

    /// Of what was late.
    fn late(&self, adds: &[Add], span: Span) -> Bounds {
        bounds(adds, span, |add| {
            let (fewest, most) = (self.fewest(add.span.end), self.most(add.span.end));
            let gone = add.bucket + most <= add.newest_at_least;
            (gone, add.bucket + fewest <= add.newest_at_most)
        })
    }

    /// Of a bucket that was handed out. After a change of geometry one bucket may be two headers.
    fn drained(&self, adds: &[Add], span: Span, bucket: u64) -> Bounds {
        let is_one = !self.was_reconfigured();
        bounds(adds, span, |add| {
            let (fewest, most) = (self.fewest(add.span.end), self.most(add.span.end));
            let here = add.bucket == bucket;
            let stayed = add.bucket + fewest > add.newest_at_most;
            (here && is_one && stayed, here && add.bucket + most > add.newest_at_least)
        })
    }

    fn never_back(
        &self,
        what: &str,
        number: impl Fn(&WindowCall) -> Option<u64>,
        numbers: Numbers,
    ) -> Result<(), String> {
        let found: Vec<(Span, u64)> =
            self.calls.iter().filter_map(|call| Some((call.span, number(&call.did)?))).collect();
        for (later, now) in &found {
            for (_, before) in found.iter().filter(|(earlier, _)| earlier.is_before(*later)) {
                if !numbers.within(*before, *now, u64::MAX) {
                    let (before, now) = (numbers.show(*before), numbers.show(*now));
                    return Err(format!("{what} went back from {before} to {now}"));
                }
            }
        }
        Ok(())
    }

    /// What was handed out, in the order in which it was.
    fn handed_out(&self) -> Vec<(Span, u64, u64)> {
        let mut drained: Vec<_> = self
            .calls
            .iter()
            .filter_map(|call| match call.did {
                WindowCall::Drained(bucket, found) => Some((call.span, bucket, found)),
                _ => None,
            })
            .collect();
        drained.sort_by_key(|(span, ..)| span.end);
        drained
    }

    fn in_order(&self, numbers: Numbers) -> Result<(), String> {
        let drained = self.handed_out();
        for pair in drained.windows(2) {
            let ((_, one, _), (_, next, _)) = (pair[0], pair[1]);
            if next <= one && !self.was_reconfigured() {
                return Err(format!("bucket {next} was handed out after bucket {one}"));
            }
        }
        if numbers.are_sets {
            let mut all = 0;
            for (_, bucket, found) in drained {
                if all & found != 0 {
                    let twice = numbers.show(all & found);
                    return Err(format!("{twice} of bucket {bucket} were handed out twice"));
                }
                all |= found;
            }
        }
        Ok(())
    }

    /// At rest.
    fn conserved(&self, adds: &[Add], numbers: Numbers) -> Result<(), String> {
        let newest = self.newest_at_most(u64::MAX);
        let fewest = self.fewest(u64::MAX);
        let (mut lifetime, mut late, mut live) = (None, None, None);
        let busy = |call: &&Call<WindowCall>| {
            !matches!(
                call.did,
                WindowCall::Lifetime(_) | WindowCall::Late(_) | WindowCall::Buckets(..)
            )
        };
        let rest = self.calls.iter().filter(busy).map(|call| call.span.end).max().unwrap_or(0);
        for call in self.calls.iter().filter(|call| call.span.begin > rest) {
            match &call.did {
                WindowCall::Lifetime(found) => lifetime = Some(*found),
                WindowCall::Late(found) => late = Some(*found),
                WindowCall::Buckets(now, buckets) if *now == newest => {
                    live = buckets.last().map(|(_, found)| *found);
                }
                _ => {}
            }
        }
        let (Some(lifetime), Some(late), Some(live)) = (lifetime, late, live) else {
            return Err("the history does not end with reads at rest".to_owned());
        };
        let drained = self.handed_out();
        if drained.is_empty() || self.was_reconfigured() {
            return Ok(()); // the reads at rest are exact, each by itself
        }
        let handed_out: u64 = drained.iter().map(|(.., found)| found).sum();
        let Some(missed) = lifetime.checked_sub(handed_out + live + late) else {
            return Err(format!(
                "{handed_out} handed out, {live} live and {late} late are more than {lifetime}"
            ));
        };
        let may_be_missed = |add: &&Add| {
            let after_its_turn = drained
                .iter()
                .any(|(turn, bucket, _)| *bucket >= add.bucket && turn.begin < add.span.end);
            add.bucket < newest && (after_its_turn || add.bucket + fewest <= newest)
        };
        let most = adds.iter().filter(may_be_missed).map(|add| add.n).sum();
        demand("what nobody was handed out", missed, &Bounds { least: 0, most }, numbers)
    }
}

/// What must and may be in a read: of the adds that had returned, and of those that had begun, those
/// of which `counts` says so.
fn bounds(adds: &[Add], read: Span, counts: impl Fn(&Add) -> (bool, bool)) -> Bounds {
    let mut bounds = Bounds { least: 0, most: 0 };
    for add in adds {
        let (must, may) = counts(add);
        if must && add.span.is_before(read) {
            bounds.least += add.n;
        }
        if may && add.span.begin < read.end {
            bounds.most += add.n;
        }
    }
    bounds
}

fn demand(what: &str, found: u64, bounds: &Bounds, numbers: Numbers) -> Result<(), String> {
    if numbers.within(bounds.least, found, bounds.most) {
        return Ok(());
    }
    Err(format!(
        "{what} is {}, where {} must be in it and {} may",
        numbers.show(found),
        numbers.show(bounds.least),
        numbers.show(bounds.most),
    ))
}
