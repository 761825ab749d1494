//! Words on which threads agree: which thread closes, what drains have handed out, which geometry is next.
//! It may use `order`.
//! Start with `cursor`.

pub(super) mod closer;
pub(super) mod cursor;
pub(super) mod proposal;
