//! The loop of a sum: what a run of slots holds at one position.
//!
//! Apart from the rest of reading, because a sum of sixty buckets is this loop and nothing else. For
//! a bucket as nearly all are (in its slot, closed, and the one that was looked for) it asks all
//! questions at once, after it has read; whatever is otherwise goes the ordinary way.

use std::ptr::from_ref;

use crate::ring::header::Link;
use crate::ring::read::View;
use crate::sync::Ordering;

impl View<'_> {
    /// What the buckets from `start` down to `last` hold at a position, all older than `current`.
    pub(super) fn scan(&self, start: u64, last: u64, position: usize) -> u64 {
        if self.shape().adds_up(position) {
            self.scan_by(start, last, position, u64::wrapping_add)
        } else {
            self.scan_by(start, last, position, u64::max)
        }
    }

    #[inline(never)] // so that what it needs stays in registers
    fn scan_by(
        &self,
        mut start: u64,
        last: u64,
        position: usize,
        join: impl Fn(u64, u64) -> u64,
    ) -> u64 {
        let (length, width) = (self.geometry().length(), self.shape().cells());
        assert!(position < width);
        let (below, above) = self.links().split_at(self.slot_of(start) + 1);
        let mut total = 0;
        let mut scan = |links: &[Link]| {
            links.iter().rev().any(|link| {
                let number = closed_number(link, start, (position, position + width), &join);
                let number = number.unwrap_or_else(|| self.number_by(link, start, position));
                total = join(total, number);
                let done = start <= last;
                start = start.wrapping_sub(length);
                done
            })
        };
        let _ = scan(below) || scan(above); // a round at most
        total
    }

    #[cold]
    fn number_by(&self, link: &Link, start: u64, position: usize) -> u64 {
        self.bucket(start, link).map_or(0, |source| self.number(source, position))
    }
}

/// What the bucket at `start` holds, if that is what the link leads to, and it is closed: what its
/// two cells at these places make together.
#[inline(always)]
#[allow(clippy::inline_always)] // the body of the loop
fn closed_number(
    link: &Link,
    start: u64,
    (total, shared): (usize, usize),
    join: &impl Fn(u64, u64) -> u64,
) -> Option<u64> {
    // SAFETY: headers live as long as the window. Acquire: pairs with the Release by which a header
    // is linked.
    let header = unsafe { link.load(Ordering::Acquire).as_ref() }?;
    // In the order of `Seen::by`, `Header::number` and `Seen::is_still`; only that nothing is decided
    // before the end.
    let before = header.version_now();
    let linked = link.load(Ordering::Relaxed);
    let (held, closed) = (header.start(), header.is_closed());
    // SAFETY: the places are in the two sets, as the caller has made sure.
    let (total, shared) = unsafe { (header.cell(total), header.cell(shared)) };
    let number = join(total.load(Ordering::Relaxed), shared.load(Ordering::Acquire));
    let after = header.version_after();
    let wrong = (linked.addr() ^ from_ref(header).addr()) as u64
        | (held ^ start)
        | u64::from(!closed)
        | (before & 1)
        | (before ^ after);
    (wrong == 0).then_some(number)
}
