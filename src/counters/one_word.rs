//! Operations of `AtomicU64` that a striped number, which is many words, cannot have.

/// Implemented by no type: a call that needs it does not compile, and this is the message.
#[diagnostic::on_unimplemented(
    message = "a striped counter cannot be set, swapped or compared: it is many cells, not one word",
    label = "no thread can change all cells at one moment",
    note = "to restart a `Counter` at zero: `reset()`",
    note = "to read and restart a `Counter`, without losing an add: `take()`",
    note = "to decide by the number, keep an `AtomicU64`; to limit a rate, see `windrow::Gate`; how \
            many are there at once, `windrow::InFlight`"
)]
pub trait OfOneWord {}

/// Implemented by no type: a call that needs it does not compile, and this is the message.
#[diagnostic::on_unimplemented(
    message = "a `Counter` only grows: nothing can be subtracted",
    label = "a number that goes up and down is a `windrow::Gauge`",
    note = "`Gauge` has `add`, `increment`, `decrement`, `fetch_add` and `fetch_sub`"
)]
pub trait Falling {}

/// Implemented by no type: a call that needs it does not compile, and this is the message.
#[diagnostic::on_unimplemented(
    message = "a striped counter keeps a sum, and no maximum or minimum",
    label = "the greatest value is kept by a `windrow::Maximum`, the least by a `windrow::Minimum`",
    note = "in place of `fetch_max`: `Maximum::record`; of `fetch_min`: `Minimum::record`"
)]
pub trait Extremal {}
