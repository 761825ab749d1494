//! Operations of `AtomicU64` that a striped number, which is many words, cannot have.

/// Implemented by no type: a call that needs it does not compile, and this is the message.
#[diagnostic::on_unimplemented(
    message = "a striped counter cannot be set, swapped or compared: it is many cells, not one word",
    label = "no thread can change all cells at one moment",
    note = "to restart a `Counter` at zero, without losing an add: `take()`",
    note = "to decide by the number, keep an `AtomicU64`; to limit a rate, see `windrow::Gate`; how \
            many are there at once, `windrow::InFlight`"
)]
pub trait OfOneWord {}

/// Implemented by no type: a call that needs it does not compile, and this is the message.
#[diagnostic::on_unimplemented(
    message = "a `Gauge` cannot be set: other threads add to its cells meanwhile, and a set would \
               lose one of these adds or count it twice",
    label = "a striped gauge only adds and subtracts",
    note = "a level that is known as a whole (a temperature, the length of a queue): keep it in an \
            `AtomicI64` or `AtomicU64`, and export it by `windrow::export::from_fn`",
    note = "a gauge that begins at a level: `Gauge::from(level)`; operations in progress: \
            `windrow::InFlight`"
)]
pub trait Settable {}

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
