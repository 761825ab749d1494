//! What a counter promises, of a recorded history.
//!
//! * A *sum* lies between the true count when it began and when it returned (intermediate value
//!   linearizability): it has every add that had returned, and no add that had not begun.
//! * *Drains* are one after the other, each at some instant of its call; what they return adds up, at
//!   every drain, to a number between the same two bounds.
//! * A sum is what was added less what had been drained at some instant of its call.
//! * With no drain between or beside them, a later sum is not less than an earlier one.
//! * At rest, which the last call of a history must be at, all this makes everything exact.
//!
//! The instants are searched for: drains and sums are put in one order, always one next that need
//! not come after another which is left. What was drained depends on who has had his turn alone, not
//! on the order, so each such state is looked at once.

use std::collections::HashSet;

use super::{Call, Numbers, Span};

/// What a call did to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterCall {
    /// Added.
    Add(u64),
    /// Drained, and found.
    Drain(u64),
    /// Found as the sum.
    Sum(u64),
}

/// A sum or a drain.
struct Read {
    span: Span,
    found: u64,
    drains: bool,
    /// What was added for sure, and at most, when it looked.
    least: u64,
    most: u64,
}

impl Read {
    /// What is drained after this, if it can come where so much was drained before.
    fn follow(&self, drained: u64, numbers: Numbers) -> Option<u64> {
        // What does not fit is a negative number, wrapped.
        let added = drained.checked_add(self.found)?;
        let fits = numbers.within(self.least, added, self.most);
        fits.then_some(if self.drains { added } else { drained })
    }

    fn name(&self) -> &'static str {
        if self.drains { "drain" } else { "sum" }
    }
}

/// Whether a counter's promises allow a history, which must end at rest: with a read that began
/// when every other call had returned.
///
/// # Errors
///
/// The read that they do not allow, and why.
pub fn check_counter(history: &[Call<CounterCall>]) -> Result<(), String> {
    let adds: Vec<(Span, u64)> = history
        .iter()
        .filter_map(|call| match call.did {
            CounterCall::Add(n) => Some((call.span, n)),
            _ => None,
        })
        .collect();
    let numbers = Numbers::of(adds.iter().map(|(_, n)| *n));
    let threads = reads(history, &adds);
    at_rest(history, &threads)?;
    in_some_order(&threads, numbers)?;
    never_back(&threads, numbers)
}

/// Each thread's reads, in the order in which it made them.
fn reads(history: &[Call<CounterCall>], adds: &[(Span, u64)]) -> Vec<Vec<Read>> {
    let mut threads: Vec<Vec<Read>> = Vec::new();
    for Call { thread, span, did } in history {
        let (found, drains) = match *did {
            CounterCall::Add(_) => continue,
            CounterCall::Drain(found) => (found, true),
            CounterCall::Sum(found) => (found, false),
        };
        let added = |begun: &dyn Fn(&Span) -> bool| {
            adds.iter().filter(|(add, _)| begun(add)).map(|(_, n)| n).sum()
        };
        let least = added(&|add| add.is_before(*span));
        let most = added(&|add| add.begin < span.end);
        if threads.len() <= *thread {
            threads.resize_with(thread + 1, Vec::new);
        }
        threads[*thread].push(Read { span: *span, found, drains, least, most });
    }
    for reads in &mut threads {
        reads.sort_by_key(|read| read.span.begin);
    }
    threads
}

fn at_rest(history: &[Call<CounterCall>], threads: &[Vec<Read>]) -> Result<(), String> {
    let last_end = history.iter().map(|call| call.span.end).max();
    let last = threads.iter().filter_map(|reads| reads.last()).max_by_key(|read| read.span.begin);
    let rests = last.is_some_and(|last| {
        Some(last.span.end) == last_end
            && history.iter().all(|call| call.span == last.span || call.span.is_before(last.span))
    });
    if rests { Ok(()) } else { Err("the history does not end with a read at rest".to_owned()) }
}

/// Whether the reads fit in one order.
fn in_some_order(threads: &[Vec<Read>], numbers: Numbers) -> Result<(), String> {
    let all: usize = threads.iter().map(Vec::len).sum();
    let mut looked_at = HashSet::new();
    // How many reads of each thread have had their turn, and what was drained by them.
    let mut left = vec![(vec![0; threads.len()], 0)];
    let mut furthest = (0, String::new());
    while let Some((turns, drained)) = left.pop() {
        let done: usize = turns.iter().sum();
        if done == all {
            return Ok(());
        }
        if !looked_at.insert(turns.clone()) {
            continue;
        }
        let next = |thread: usize| threads[thread].get(turns[thread]);
        let mut candidates: Vec<(usize, &Read)> =
            (0..threads.len()).filter_map(|thread| Some((thread, next(thread)?))).collect();
        let first_end = candidates.iter().map(|(_, read)| read.span.end).min();
        candidates.retain(|(_, read)| first_end.is_some_and(|end| read.span.begin <= end));
        // Pushed last, so looked at first: the one that returned first.
        candidates.sort_by_key(|(_, read)| std::cmp::Reverse(read.span.end));
        for (thread, read) in candidates {
            if let Some(drained) = read.follow(drained, numbers) {
                let mut turns = turns.clone();
                turns[thread] += 1;
                left.push((turns, drained));
            } else if furthest.1.is_empty() || done > furthest.0 {
                furthest = (done, misfit(read, drained, numbers));
            }
        }
    }
    Err(furthest.1)
}

fn misfit(read: &Read, drained: u64, numbers: Numbers) -> String {
    format!(
        "a {} found {} with {} drained before it, where {} were added for sure and {} at most",
        read.name(),
        numbers.show(read.found),
        numbers.show(drained),
        numbers.show(read.least),
        numbers.show(read.most),
    )
}

/// Whether sums without a drain between or beside them only grow.
fn never_back(threads: &[Vec<Read>], numbers: Numbers) -> Result<(), String> {
    let (drains, sums): (Vec<&Read>, Vec<&Read>) =
        threads.iter().flatten().partition(|read| read.drains);
    for later in &sums {
        for earlier in sums.iter().filter(|sum| sum.span.is_before(later.span)) {
            let grown = numbers.within(earlier.found, later.found, u64::MAX);
            let between = Span { begin: earlier.span.begin, end: later.span.end };
            let apart =
                |drain: &&Read| drain.span.is_before(between) || between.is_before(drain.span);
            if !grown && drains.iter().all(apart) {
                return Err(format!(
                    "the sum went back from {} to {}",
                    numbers.show(earlier.found),
                    numbers.show(later.found)
                ));
            }
        }
    }
    Ok(())
}
