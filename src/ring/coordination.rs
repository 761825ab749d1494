//! Words on which threads agree: which thread closes buckets (`closer`), which buckets drains have
//! handed out (`cursor`), and which change of geometry comes next (`proposal`). This room may use
//! `order`. Start with `cursor`.

pub(super) mod closer;
pub(super) mod cursor;
pub(super) mod proposal;
