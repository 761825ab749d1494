//! The time of an add.

use windrow_benches::harness::{Spent, at_once};

use crate::finds::Finds;

/// Returns the nanoseconds of CPU time of an add, the mean over the threads.
pub(crate) fn time(finds: &dyn Finds, keys: &[u64], threads: usize) -> f64 {
    let part = keys.len() / threads;
    let work = |thread: usize| finds.add_all(&keys[thread * part..][..part]);
    let before = |_| finds.add_all(&keys[..64]);
    let spent = Spent::of(&at_once(threads, &before, &work));
    spent.cpu.as_nanos() as f64 / part as f64
}
