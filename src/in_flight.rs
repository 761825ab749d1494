//! Operations in progress: an exact gauge, concurrency limits, and the peak in each bucket of a
//! window.
//!
//! # The level
//!
//! One atomic holds it: an enter adds a weight, a leave takes it off. So all threads see one order
//! of operations, and between two of them one level. Each operation joins two levels, the one
//! before it and the one after it, and **raises** the greater of the two: an enter the level after
//! it, a leave the level before it. Then the thread reads the window's clock, and the bucket of
//! that reading is raised to it. The operation *counts in* that bucket.
//!
//! # The theorem
//!
//! Take a run of operations that follow each other in the order of the level. The greatest of what
//! they raise is the greatest level from just before the first of them until just after the last:
//! each of these levels is joined by one of them, and none of them raises anything else. So
//!
//! * a bucket's maximum is the greatest of the levels that its operations join: exact, and no level
//!   that never was;
//! * all buckets' maximum is the greatest level ever, if anything was ever entered;
//! * if the readings come in the order of the operations, the maximum of a run of buckets with an
//!   operation in it is the greatest level *held* in that span of time: the level at its beginning
//!   is joined by the first operation, and the one at its end by the last. That is what the leave's
//!   raise is for: a bucket that begins with many in flight may see only leaves.
//!
//! Readings may come in another order: a thread that stands still between its operation and its
//! reading counts in a later bucket. So the most that can be wrong is *when*: by the time between
//! an operation and the reading behind it. It is never early: no bucket has a level that was first
//! reached after it ended. And an operation counts in no earlier bucket than what its thread, or
//! the thread of any operation before it, had read when it began: each operation is Acquire and
//! Release, so the clock that one thread has seen, the next one sees. (All this is by the window's
//! clock, if that does not step back; then, too, nothing is lost, and an operation counts where the
//! clock says.)
//!
//! # Buckets without operations
//!
//! They have no maximum. In a span without operations the level is one number. Is it known? Of a
//! span that ends now, it is the level now; so the most at once until now is the greater of the
//! level and the maximum, whether there were operations or not (`Peaks::peak`). Of a quiet bucket
//! with operations behind it, it is not: the operation before the bucket has raised the level that
//! lasted, or a greater one, and so has the one behind it. The lesser of these two is a bound, and
//! no more can be told from maxima: from 5 in flight, with 3 leaves, then a quiet bucket, then 3
//! enters, they are 5, nothing, 5; and so they are from one leave and one enter. But an operation
//! of weight zero is an operation. Who needs each bucket's maximum has somebody enter with nothing
//! once a bucket.
//!
//! # Ranges
//!
//! The atomic is the sum of all weights in flight, modulo 2^64. Each weight leaves once, by the
//! guard that it entered with, and there is no other way to leave. So the sum is what is in flight,
//! if that is less than 2^64; and no limit is lifted by a leave too many.

mod entered;
mod level;
mod peaks;

pub use crate::at_most::AtMost;
pub use entered::{InFlightGuard, LevelOwner};
pub use level::InFlight;
pub use peaks::Peaks;
