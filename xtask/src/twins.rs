//! The table of broken twins.

use crate::twin::Twin;

/// Every mistake that a model must notice.
pub(crate) const TWINS: &[Twin] = &[Twin {
    name: "drain-reads-the-baseline-last",
    file: "src/counter.rs",
    find: "todo",
    replace: "todo",
    model: "todo",
    why: "todo",
}];
