//! A part: a kind of thing of which there are many, and how all parts measure.

use windrow_benches::harness::time;
use windrow_benches::heap::Counting;

#[global_allocator]
pub(crate) static HEAP: Counting = Counting::new();

/// The number of times that something is done at random.
pub(crate) const AT_RANDOM: usize = 1_000_000;

/// A kind of thing of which there are many.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// The text above the table.
    pub(crate) about: &'static str,
    /// The heads of the figures.
    pub(crate) columns: &'static [&'static str],
    /// Returns a row for each contender of which this number can be made.
    pub(crate) measure: fn(usize) -> Vec<Row>,
}

/// The figures of a contender for some number of things: one for each column.
pub(crate) struct Row {
    pub(crate) contender: &'static str,
    pub(crate) count: usize,
    pub(crate) figures: Vec<f64>,
}

/// Returns the processor time of `work`, divided by the number of `times` that it does something,
/// in nanoseconds.
pub(crate) fn nanos(times: usize, work: impl FnOnce()) -> f64 {
    time(work).each(times as u64).ns
}

/// Returns the number of sets that are measured together, so that times are long enough.
pub(crate) fn sets(count: usize) -> usize {
    (1_000 / count).max(1)
}

/// Returns numbers of things at random.
pub(crate) fn at_random(count: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(7);
    let count = u32::try_from(count).expect("few enough");
    (0..AT_RANDOM).map(|_| random.u32(..count)).collect()
}

/// Returns the bytes on the heap that `make` has asked for and not given back.
pub(crate) fn bytes<T>(make: impl FnOnce() -> T) -> (T, usize) {
    HEAP.stop(false);
    let before = HEAP.bytes();
    let all = make();
    let bytes = HEAP.bytes() - before;
    HEAP.stop(true);
    (all, bytes)
}
