//! The operations that the system may refuse, as errors name them.

use std::fmt::{self, Display, Formatter};

/// An operation that the system may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Opening the file.
    Open,
    /// Creating it, without a name.
    Create,
    /// Asking for its owner, mode, length, seals or file system.
    Inspect,
    /// Setting its length.
    SetLength,
    /// Claiming memory for a part of it.
    Claim,
    /// Writing its header.
    Write,
    /// Giving it its name.
    Link,
    /// Sealing it.
    Seal,
    /// Mapping it into the process.
    Map,
    /// Reading it.
    Read,
    /// Locking its names, or a slot for gauges.
    Lock,
    /// Asking whether the owner of a slot lives.
    AskLock,
    /// Preparing for forks of this process.
    Prepare,
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Open => "open",
            Step::Create => "create",
            Step::Inspect => "inspect",
            Step::SetLength => "set the length of",
            Step::Claim => "claim memory for",
            Step::Write => "write the header of",
            Step::Link => "give its name to",
            Step::Seal => "seal",
            Step::Map => "map",
            Step::Read => "read",
            Step::Lock => "lock a part of",
            Step::AskLock => "ask for the owners of",
            Step::Prepare => "prepare for forks with",
        })
    }
}
