//! Words on which threads agree: which thread closes buckets (`closer`), which buckets drains have
//! handed out (`cursor`), which change of geometry comes next (`proposal`), and which threads add
//! to shared cells (`shared_prefix`). This room may use `cells` and `order`. Start with `cursor`.

pub(super) mod closer;
pub(super) mod cursor;
pub(super) mod proposal;
pub(super) mod shared_prefix;
