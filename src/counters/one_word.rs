//! What an `AtomicU64` can do because it is one word, and a striped number cannot.

/// Is implemented by nothing: a call that wants it is refused with a message.
#[diagnostic::on_unimplemented(
    message = "a striped counter cannot be set, swapped or compared: it is many cells, not one word",
    label = "no thread can change all cells at one moment",
    note = "to restart a `Counter` at zero: `reset()`",
    note = "to read and restart a `Counter`, without losing an add: `take()`",
    note = "to decide by the number, keep an `AtomicU64`; to limit a rate, see `windrow::Gate`; how \
            many are there at once, `windrow::InFlight`"
)]
pub trait OfOneWord {}
