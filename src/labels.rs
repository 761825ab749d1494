//! Labels: the keys of a [`Family`](crate::Family)'s series.
//!
//! [`labels!`](crate::labels!) declares a set of labels whose names are known at compile time. Sets
//! whose names are known only at run time are [`RuntimeLabels`].

pub use crate::error::LabelNamesError;
pub use crate::family::labels::{Label, LabelValue, Labels};
pub use crate::family::run_time::RuntimeLabels;
pub use crate::family::short_text::ShortText;
