//! The promises of a window, checked on a recorded history.
//!
//! Buckets have numbers, time is in buckets, and all geometries of a history have buckets of one
//! length. What must be in a number, and what may, is said by [`Known`], since calls that are under
//! way may have moved the ring on or not.
//!
//! * A *sum* for the interval that ends at its reader's time has every add that had returned, whose
//!   bucket is in that interval and in the ring in every order of the adds under way; and no add
//!   but those that had begun, whose bucket may be in both.
//! * The same holds of each *bucket* that a snapshot shows.
//! * `lifetime` and `late` lie between their bounds, and never go back.
//! * *Drained* buckets are handed out in their order, each once; each has every add that had
//!   returned when its turn came.
//! * *Conservation*: at rest, all adds are handed out, in the newest bucket, late, or came after
//!   their bucket's turn or left the ring before it.
//!
//! Buckets are handed out as they were opened, those of one geometry after those of the one before.
//! So in a history with changes of geometry a bucket may have several turns, between those of
//! others: there no add may be handed out twice, and of order and conservation nothing is demanded.

use super::known::{Add, Bounds, Known, WindowCall, WindowHistory};
use super::{Call, Numbers, Span};

impl WindowHistory {
    /// Returns whether a window's promises allow this history.
    ///
    /// # Errors
    ///
    /// The call that they do not allow, and why.
    pub fn check(&self) -> Result<(), String> {
        let known = Known::of(self);
        let numbers = Numbers::of(known.adds.iter().map(|add| add.n));
        for Call { span, did, .. } in &self.calls {
            check_call(did, *span, &known, numbers)?;
        }
        let lifetime = |did: &WindowCall| match did {
            WindowCall::Lifetime(found) => Some(*found),
            _ => None,
        };
        let late = |did: &WindowCall| match did {
            WindowCall::Late(found) => Some(*found),
            _ => None,
        };
        self.never_back("lifetime", lifetime, numbers)?;
        self.never_back("late", late, numbers)?;
        self.in_order(&known, numbers)?;
        self.conserved(&known, numbers)
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

    /// Returns the drained buckets, in the order of their drains.
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

    fn in_order(&self, known: &Known, numbers: Numbers) -> Result<(), String> {
        let drained = self.handed_out();
        for pair in drained.windows(2) {
            let ((_, one, _), (_, next, _)) = (pair[0], pair[1]);
            if next <= one && !known.was_reconfigured() {
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
    fn conserved(&self, known: &Known, numbers: Numbers) -> Result<(), String> {
        let newest = known.newest();
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
        if drained.is_empty() || known.was_reconfigured() {
            return Ok(()); // the reads at rest are exact, each by itself
        }
        let handed_out: u64 = drained.iter().map(|(.., found)| found).sum();
        let Some(missed) = lifetime.checked_sub(handed_out + live + late) else {
            return Err(format!(
                "{handed_out} handed out, {live} live and {late} late are more than {lifetime}"
            ));
        };
        let may_be_missed = |add: &&Add| {
            let after_its_turn = drained.iter().any(|(turn, bucket, _)| {
                *bucket >= add.bucket && add.ends_after_the_beginning_of(*turn)
            });
            add.bucket < newest && (after_its_turn || !known.has_at_rest(add.bucket))
        };
        let most = known.adds.iter().filter(may_be_missed).map(|add| add.n).sum();
        demand("the sum that was never handed out", missed, &Bounds { least: 0, most }, numbers)
    }
}

/// Returns whether what one call found lies between its bounds.
fn check_call(did: &WindowCall, span: Span, known: &Known, numbers: Numbers) -> Result<(), String> {
    match did {
        WindowCall::Add(..) | WindowCall::Reconfigure(_) => Ok(()),
        WindowCall::Sum(now, found) => {
            let bounds = known.interval(span, *now, None);
            demand(&format!("the sum at bucket {now}"), *found, &bounds, numbers)
        }
        WindowCall::Buckets(now, buckets) => {
            if !buckets.is_sorted_by(|one, next| one.0 < next.0) {
                return Err(format!("a snapshot's buckets are out of order: {buckets:?}"));
            }
            buckets.iter().try_for_each(|(bucket, found)| {
                let bounds = known.interval(span, *now, Some(*bucket));
                demand(&format!("bucket {bucket} of a snapshot"), *found, &bounds, numbers)
            })
        }
        WindowCall::Lifetime(found) => demand("lifetime", *found, &known.lifetime(span), numbers),
        WindowCall::Late(found) => demand("late", *found, &known.late(span), numbers),
        WindowCall::Drained(bucket, found) => {
            let bounds = known.drained(span, *bucket);
            demand(&format!("bucket {bucket}, handed out,"), *found, &bounds, numbers)
        }
    }
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
