//! Results of reading a [`SlidingWindow`](crate::SlidingWindow): totals, spans and buckets.
//!
//! | to read | type | from |
//! |---|---|---|
//! | an interval's totals, of all events at one time | [`Totals`] | [`totals`](crate::SlidingWindow::totals) |
//! | a shorter span, or a tier | [`Over`] | [`over`](crate::SlidingWindow::over) |
//! | bucket by bucket | [`Snapshot`], [`BucketSnapshot`] | [`snapshot`](crate::SlidingWindow::snapshot), [`series`](crate::SlidingWindow::series) |
//! | the adds between two moments | [`Moment`], [`Totals`] | [`moment`](crate::SlidingWindow::moment) |
//! | each core's part | [`ByRow`] | [`by_row`](crate::Counter::by_row) |

pub use crate::arena::by_row::ByRow;
pub use crate::error::{MergeError, OutOfRangeError};
pub use crate::window::{BucketSnapshot, Moment, Over, Snapshot, Totals};
