//! The shared prefix: what the shared cells of all buckets before the live bucket's interval have
//! counted.
//!
//! The ring keeps a copy of every add to shared cells, `shared_total`. So what the shared cells of
//! an interval hold is `shared_total` less the shared prefix, and a sum need not look for the
//! touched buckets.
//!
//! # Theorem
//!
//! Let a thread find a bucket current and *quiet*: behind a fence, no thread is writing to shared
//! cells. Then no thread will ever write to a shared cell of a bucket that has left the interval of
//! that bucket. So the shared prefix of the interval is a constant. It is `shared_total`, less the
//! shared cells of the interval, if no writer has begun while these were read.
//!
//! # Why
//!
//! A writer enters, passes a fence, and only then looks at `current`. It adds to a bucket of the
//! interval that ends there, and to `shared_total`, and leaves. One of the two fences comes first.
//! If it is the writer's, the other thread finds that the writer has entered, and it is not quiet
//! until the writer has left. If it is the other thread's, the writer finds the same bucket current
//! or a later one, and writes to no bucket that has left the interval.
//!
//! What a writer has done before it left is seen by a thread that finds it gone: the bucket's cell
//! and `shared_total` agree then. A writer that begins while these are read changes the number of
//! writers that have entered. So the reading that is published is as if all was read at once.
//!
//! # When it is written
//!
//! The thread that has made a bucket current, and the last writer that leaves (see `settling`). One
//! of them at a time claims the cells, by an odd version. All others go on: a sum that finds no
//! prefix for the live bucket adds up the touched buckets.

use crate::clock::forks::process;
use crate::ring::cells::zeroed;
use crate::ring::order::bucket::Bucket;
use crate::sync::{AtomicU64, Ordering, fence};

/// One writer that has not left, and one more that has ever entered. (A thread reads a few cells,
/// while other threads would have to enter 2^44 times.)
const WRITER: u64 = ENTRY + 1;
const ENTRY: u64 = 1 << 20;

/// The bit of a version that says that a thread writes, of the process in the next bits.
const WRITING: u64 = 1;
/// One version more.
const NEXT: u64 = 1 << 9;

/// The shared prefix of the live bucket's interval, at the additive positions that are not wide.
#[derive(Debug)]
pub(in crate::ring) struct SharedPrefix {
    /// The number of threads that are writing to shared cells, and of all that ever have. Twice: a
    /// forked child counts in the other word, because the writers of its parent never leave.
    writers: [AtomicU64; 2],
    /// The version of what follows, and whether a thread is writing it.
    version: AtomicU64,
    /// The rank of the bucket whose interval it is.
    number: AtomicU64,
    start: AtomicU64,
    cells: Box<[AtomicU64]>,
}

/// A thread that writes to shared cells, until this is dropped.
pub(in crate::ring) struct Writer<'r>(&'r AtomicU64);

/// The number of writers that had entered when none was writing.
#[derive(Clone, Copy)]
pub(in crate::ring) struct Quiet(u64);

/// The shared prefix of a bucket's interval, as a reader has found it.
#[derive(Clone, Copy)]
pub(in crate::ring) struct Found<'r> {
    cells: &'r [AtomicU64],
    version: u64,
}

impl SharedPrefix {
    /// Makes one of no bucket, for a number of positions.
    pub(in crate::ring) fn new(positions: usize) -> SharedPrefix {
        SharedPrefix {
            writers: [AtomicU64::new(0), AtomicU64::new(0)],
            version: AtomicU64::new(0),
            number: AtomicU64::new(u64::MAX), // no generation has it
            start: AtomicU64::new(0),
            cells: zeroed(positions),
        }
    }

    /// Returns the count of this process.
    fn writers(&self) -> &AtomicU64 {
        &self.writers[process() as usize % 2]
    }

    /// Enters as a writer. The caller then looks at `current`, and writes to no bucket that has
    /// left the interval which ends there.
    pub(in crate::ring) fn enter(&self) -> Writer<'_> {
        // Relaxed: the fence orders it.
        let writers = self.writers();
        writers.fetch_add(WRITER, Ordering::Relaxed);
        // Pairs with the fence in `quiet`: see above.
        fence(Ordering::SeqCst);
        Writer(writers)
    }

    /// Returns that no thread is writing, if that is so. The caller has found a bucket current.
    pub(in crate::ring) fn quiet(&self) -> Option<Quiet> {
        // Pairs with the fence in `enter`: see above.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in `Writer::drop`: what the writers have added is seen.
        let writers = self.writers().load(Ordering::Acquire);
        writers.is_multiple_of(ENTRY).then_some(Quiet(writers))
    }

    /// Returns whether no writer has entered since, as far as what was read of their writing says.
    pub(in crate::ring) fn is_still(&self, quiet: Quiet) -> bool {
        // Pairs with the Release of `Target::add`: a thread that has read what a writer has added
        // finds that the writer has entered.
        fence(Ordering::Acquire);
        self.writers().load(Ordering::Relaxed) == quiet.0
    }

    /// Returns whether it is that of the interval which ends with the bucket of a rank, as a hint.
    pub(in crate::ring) fn is_of(&self, (number, start): (u64, u64)) -> bool {
        // Relaxed, all: a wrong answer costs time.
        self.version.load(Ordering::Relaxed) & WRITING == 0
            && self.number.load(Ordering::Relaxed) == number
            && self.start.load(Ordering::Relaxed) == start
    }

    /// Lets `write` write the cells for the interval of a rank, and publishes them if it returns
    /// true. Returns false if it does not, or if another thread is writing them.
    pub(in crate::ring) fn write(
        &self,
        (number, start): (u64, u64),
        write: impl FnOnce(&[AtomicU64]) -> bool,
    ) -> bool {
        let seen = self.version.load(Ordering::Relaxed);
        let writing = this_process() << 1 | WRITING;
        let claimed = (seen & !(NEXT - 1)).wrapping_add(NEXT) | writing;
        // Acquire: pairs with the Release below: this thread writes behind the last one. Relaxed on
        // failure: another thread writes.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        if seen & (NEXT - 1) == writing
            || self.version.compare_exchange(seen, claimed, order, failed).is_err()
        {
            return false;
        }
        // Pairs with the fence in `is_valid`: a reader that sees any of the later stores sees
        // that the version has changed.
        fence(Ordering::Release);
        let written = write(&self.cells);
        // Relaxed, both: published by the version. Without a prefix they are no bucket's.
        self.number.store(if written { number } else { u64::MAX }, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
        // Release: pairs with the Acquire in `of` and above.
        self.version.store(claimed.wrapping_add(NEXT) & !(NEXT - 1), Ordering::Release);
        written
    }

    /// Returns the shared prefix of the interval that ends with a bucket, if it is known. The
    /// caller looks afterwards whether it [is valid](Self::is_valid), and whether the bucket is
    /// still what it was found to be.
    #[inline]
    pub(in crate::ring) fn of(&self, bucket: &Bucket) -> Option<Found<'_>> {
        // Acquire: pairs with the Release in `write`.
        let version = self.version.load(Ordering::Acquire);
        let (number, start) = bucket.rank();
        let is_it = version & WRITING == 0
            && self.number.load(Ordering::Relaxed) == number
            && self.start.load(Ordering::Relaxed) == start;
        is_it.then_some(Found { cells: &self.cells, version })
    }

    /// Returns whether what was read of it belongs together.
    #[inline]
    pub(in crate::ring) fn is_valid(&self, found: Found<'_>) -> bool {
        // Pairs with the fence in `write`.
        fence(Ordering::Acquire);
        self.version.load(Ordering::Relaxed) == found.version
    }
}

impl Found<'_> {
    /// Returns the prefix at a position, by its index among those that are not wide.
    #[inline]
    pub(in crate::ring) fn at(self, index: usize) -> u64 {
        self.cells[index].load(Ordering::Relaxed) // before the fence in `is_valid`
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `quiet`.
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Returns the number of the process, in eight bits.
fn this_process() -> u64 {
    u64::from(process() & 0xff)
}
