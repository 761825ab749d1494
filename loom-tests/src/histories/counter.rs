//! The promises of a counter, checked on a recorded history.
//!
//! * A *sum* lies between the true count when it began and when it returned (intermediate value
//!   linearizability): it has every add that had returned, and no add that had not begun.
//! * *Drains* are one after the other, each at some instant of its call; what they return adds up,
//!   at every drain, to a number between the same two bounds.
//! * A sum is what was added less what had been drained at some instant of its call: it has no add
//!   that began when the next drain after that instant had returned. (The same goes for drains.)
//! * With no drain between or beside them, a later sum is not less than an earlier one.
//! * At rest, which the last call of a history must be at, all this makes everything exact.
//!
//! The instants are searched for: drains and sums are put in one order, always one next that need
//! not come after another which is left. What was drained depends only on which reads have had
//! their turn, not on the order, so each such state is examined once.

use std::collections::HashSet;

use super::{Call, Numbers, Span};

/// The effect of a call on a counter.
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
    /// The sum that had certainly been added when it looked.
    least: u64,
    /// The return of this thread's next drain after it; `u64::MAX` if there is none.
    next_drain: u64,
}

impl Read {
    fn name(&self) -> &'static str {
        if self.drains { "drain" } else { "sum" }
    }
}

/// A history's adds.
struct Adds {
    /// The beginning of each add, and the sum of the adds begun by then, itself included.
    begun: Vec<(u64, u64)>,
    numbers: Numbers,
}

impl Adds {
    /// Returns the sum of the adds begun before a stamp.
    fn begun_before(&self, stamp: u64) -> u64 {
        let count = self.begun.partition_point(|(begin, _)| *begin < stamp);
        count.checked_sub(1).map_or(0, |last| self.begun[last].1)
    }
}

/// Returns whether a counter's promises allow a history, which must end at rest: with a read that
/// began when every other call had returned.
///
/// # Errors
///
/// The read that they do not allow, and why.
pub fn check_counter(history: &[Call<CounterCall>]) -> Result<(), String> {
    let mut added: Vec<(Span, u64)> = history
        .iter()
        .filter_map(|call| match call.did {
            CounterCall::Add(n) => Some((call.span, n)),
            _ => None,
        })
        .collect();
    added.sort_by_key(|(span, _)| span.begin);
    let numbers = Numbers::of(added.iter().map(|(_, n)| *n));
    let mut all = 0;
    let begun = added.iter().map(|(span, n)| {
        all += n;
        (span.begin, all)
    });
    let adds = Adds { begun: begun.collect(), numbers };
    let threads = reads(history, &added);
    at_rest(history, &threads)?;
    in_some_order(&threads, &adds)?;
    never_back(&threads, numbers)
}

/// Each thread's reads, in the order in which it made them.
fn reads(history: &[Call<CounterCall>], added: &[(Span, u64)]) -> Vec<Vec<Read>> {
    let mut threads: Vec<Vec<Read>> = Vec::new();
    for Call { thread, span, did } in history {
        let (found, drains) = match *did {
            CounterCall::Add(_) => continue,
            CounterCall::Drain(found) => (found, true),
            CounterCall::Sum(found) => (found, false),
        };
        let least = added.iter().filter(|(add, _)| add.is_before(*span)).map(|(_, n)| n).sum();
        if threads.len() <= *thread {
            threads.resize_with(thread + 1, Vec::new);
        }
        threads[*thread].push(Read { span: *span, found, drains, least, next_drain: u64::MAX });
    }
    for reads in &mut threads {
        reads.sort_by_key(|read| read.span.begin);
        let mut next_drain = u64::MAX;
        for read in reads.iter_mut().rev() {
            read.next_drain = next_drain;
            if read.drains {
                next_drain = read.span.end;
            }
        }
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

/// The reads that have had their turn: their number for each thread.
type Turns = Vec<usize>;

/// Returns whether the reads fit in one order.
fn in_some_order(threads: &[Vec<Read>], adds: &Adds) -> Result<(), String> {
    let all: usize = threads.iter().map(Vec::len).sum();
    let mut looked_at = HashSet::new();
    // The reads that have had their turn, and the sum drained by then.
    let mut left: Vec<(Turns, u64)> = vec![(vec![0; threads.len()], 0)];
    let mut furthest = (0, String::new());
    while let Some((turns, drained)) = left.pop() {
        let done: usize = turns.iter().sum();
        if done == all {
            return Ok(());
        }
        if !looked_at.insert(turns.clone()) {
            continue;
        }
        let mut candidates: Vec<(usize, &Read)> = next(threads, &turns).collect();
        let first_end = candidates.iter().map(|(_, read)| read.span.end).min();
        candidates.retain(|(_, read)| first_end.is_some_and(|end| read.span.begin <= end));
        // Pushed last, so looked at first: the one that returned first.
        candidates.sort_by_key(|(_, read)| std::cmp::Reverse(read.span.end));
        for (thread, read) in candidates {
            let drains_left = next(threads, &turns).map(|(other, its)| {
                if other != thread && its.drains { its.span.end } else { its.next_drain }
            });
            // A read that comes before a drain has looked before that returned.
            let looked_before = drains_left.fold(read.span.end, u64::min);
            let most = adds.begun_before(looked_before);
            // An overflow is a difference below zero.
            match drained.checked_add(read.found) {
                Some(added) if adds.numbers.within(read.least, added, most) => {
                    let mut turns = turns.clone();
                    turns[thread] += 1;
                    left.push((turns, if read.drains { added } else { drained }));
                }
                _ if furthest.1.is_empty() || done > furthest.0 => {
                    furthest = (done, misfit(read, drained, most, adds.numbers));
                }
                _ => {}
            }
        }
    }
    Err(furthest.1)
}

/// Each thread's next read.
fn next<'h>(threads: &'h [Vec<Read>], turns: &'h Turns) -> impl Iterator<Item = (usize, &'h Read)> {
    let turns = threads.iter().zip(turns).enumerate();
    turns.filter_map(|(thread, (reads, turn))| Some((thread, reads.get(*turn)?)))
}

fn misfit(read: &Read, drained: u64, most: u64, numbers: Numbers) -> String {
    format!(
        "a {} found {} with {} drained before it, where {} were added for sure and {} at most",
        read.name(),
        numbers.show(read.found),
        numbers.show(drained),
        numbers.show(read.least),
        numbers.show(most),
    )
}

/// Returns whether sums without a drain between or beside them only grow.
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
