//! Operations in progress: an exact gauge, concurrency limits, and the peak in each bucket of a
//! window.
//!
//! # The level
//!
//! One atomic holds the level: an enter adds a weight, a leave subtracts it. So all threads see one
//! order of operations, and one level between two neighbouring operations. Each operation joins two
//! levels, the one before it and the one after it, and **raises** the greater of the two: an enter
//! raises the level after it, a leave the level before it. Then the thread reads the window's
//! clock, and raises the maximum of that reading's bucket to this level. The operation *counts in*
//! that bucket.
//!
//! # The theorem
//!
//! Take a run of operations that follow each other in the order of the level. The greatest level
//! that they raise is the greatest level from just before the first of them until just after the
//! last, because each of these levels is joined by one of the operations, and they raise no other
//! level. So
//!
//! * a bucket's maximum is the greatest of the levels that its operations join: exact, and a level
//!   that occurred;
//! * the maximum of all buckets is the greatest level ever, if there was ever an enter;
//! * if the readings come in the order of the operations, the maximum of a run of buckets with an
//!   operation in it is the greatest level *held* in that span of time: the level at its beginning
//!   is joined by the first operation, and the one at its end by the last. For this reason leaves
//!   raise, too: a bucket that begins with many in flight may see only leaves.
//!
//! Readings may come in another order: a thread that stands still between its operation and its
//! reading counts in a later bucket. So only the *time* of a level can be wrong, by the time
//! between an operation and the reading after it. It is never early: no bucket has a level that was
//! first reached after the bucket ended. And an operation counts in no earlier bucket than that of
//! any clock reading that its thread, or the thread of any operation before it, had made before
//! that operation: each operation is Acquire and Release, so the next thread's clock reading is no
//! older. (This holds for a clock that does not step back. If it does, nothing is lost either, and
//! an operation counts in the bucket of its reading.)
//!
//! # Buckets without operations
//!
//! A bucket without operations has no maximum. In a span without operations the level is constant.
//! If the span ends now, that constant is the present level; so the peak until now is the greater
//! of the level and the maximum, with or without operations (`Peaks::peak`). If operations follow a
//! quiet bucket, its level is not known: the operation before the bucket has raised the constant
//! level or a greater one, and the operation after it has done the same. The lesser of these two is
//! an upper bound, and maxima say no more: with 5 in flight, then 3 leaves, a quiet bucket and 3
//! enters, the maxima are 5, none and 5; one leave and one enter give the same. But an operation of
//! weight zero is an operation. To have a maximum in each bucket, enter with weight zero once a
//! bucket.
//!
//! # Ranges
//!
//! The atomic is the sum of all weights in flight, modulo 2^64. Each weight leaves once, by the
//! guard with which it entered, and there is no other way to leave. So the sum is the weight in
//! flight, if that is less than 2^64; and no surplus leave can lift a limit.

mod entered;
mod level;
mod peaks;

pub use entered::{InFlightGuard, LevelOwner};
pub use level::InFlight;
pub use peaks::Peaks;
