//! The broken twins: each lacks one rule of the protocol, and must be caught.

/// A broken part of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Twin {
    /// No part is broken.
    None,
    /// The ledger keeps one count for each bucket of the interval, and no spare one.
    NoSpare,
    /// A ration's time begins when its answer arrives.
    FromAnswer,
    /// The engine forgets which asks it has answered.
    NoNumbers,
    /// A repetition has a new number.
    NewNumber,
    /// The engine grants at once after its memory was lost.
    NoCold,
    /// Permits that are given back ride in the next ask as well.
    ReturnTwice,
    /// All attempts have the stamp of the last one.
    OneStamp,
    /// Epochs are known by the numbers of their buckets.
    NoToken,
    /// An answer of an earlier epoch is given again.
    OldAnswer,
    /// No allowance for clocks that drift.
    NoDrift,
    /// The age of an answer that is given again is told by the clock alone, which may fall back.
    NoNewest,
}

impl Twin {
    pub(super) const ALL: [Twin; 11] = [
        Twin::NoSpare,
        Twin::FromAnswer,
        Twin::NoNumbers,
        Twin::NewNumber,
        Twin::NoCold,
        Twin::ReturnTwice,
        Twin::OneStamp,
        Twin::NoToken,
        Twin::OldAnswer,
        Twin::NoDrift,
        Twin::NoNewest,
    ];
}
