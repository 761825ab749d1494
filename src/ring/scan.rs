//! The loop of a sum: what a run of slots holds at one position.
//!
//! Apart from the rest of reading, because a sum of sixty buckets is this loop and nothing else. A
//! bucket as nearly all are (in its slot, closed, and the one that was looked for) costs some twenty
//! instructions here; whatever is otherwise goes the ordinary way.

use crate::ring::header::{CLOSED, Link};
use crate::ring::read::View;
use crate::sync::Ordering;

impl View<'_> {
    /// What so many buckets from `start` down hold at a position, all in the ring and older than
    /// `current`.
    pub(super) fn scan(&self, start: u64, count: usize, position: usize) -> u64 {
        if self.shape().adds_up(position) {
            self.scan_by(start, count, position, u64::wrapping_add)
        } else {
            self.scan_by(start, count, position, u64::max)
        }
    }

    #[inline(never)] // so that what it needs stays in registers
    fn scan_by(
        &self,
        mut start: u64,
        count: usize,
        position: usize,
        join: impl Fn(u64, u64) -> u64,
    ) -> u64 {
        let length = self.geometry().length();
        assert!(position < self.shape().cells());
        let (below, above) = self.links().split_at(self.slot_of(start) + 1);
        let first = count.min(below.len());
        let mut total = 0;
        let mut scan = |links: &[Link]| {
            for link in links.iter().rev() {
                // SAFETY: asserted above.
                let number = unsafe { closed_number(link, start, position, &join) };
                let number = number.unwrap_or_else(|| self.number_by(link, start, position));
                total = join(total, number);
                start = start.wrapping_sub(length);
            }
        };
        scan(&below[below.len() - first..]);
        scan(&above[above.len() - (count - first)..]); // a round at most
        total
    }

    #[cold]
    fn number_by(&self, link: &Link, start: u64, position: usize) -> u64 {
        self.bucket(start, link).map_or(0, |source| self.number(source, position))
    }
}

/// What the bucket at `start` holds, if that is what the link leads to, and it is closed. In the
/// order of `Seen::by`, `Header::number` and `Seen::is_still`.
///
/// # Safety
/// The position is one of the shape's.
#[inline(always)]
#[allow(clippy::inline_always)] // the body of the loop
unsafe fn closed_number(
    link: &Link,
    start: u64,
    position: usize,
    join: &impl Fn(u64, u64) -> u64,
) -> Option<u64> {
    // SAFETY: headers live as long as the window. Acquire: pairs with the Release by which a header
    // is linked.
    let header = unsafe { link.load(Ordering::Acquire).as_ref() }?;
    let identity = header.identity();
    let is_it = identity & CLOSED != 0
        && header.start() == start
        && std::ptr::eq(link.load(Ordering::Relaxed), header); // as in `Seen::by`
    if !is_it {
        return None;
    }
    // SAFETY: by contract.
    let pair = unsafe { header.pair(position) };
    // Relaxed, both: the fence behind them pairs with the Release in `Target::add`.
    let number = join(pair.total.load(Ordering::Relaxed), pair.shared.load(Ordering::Relaxed));
    (header.identity_after() == identity).then_some(number)
}
