//! The operations that the system may refuse, as errors name them.

use std::fmt::{self, Display, Formatter};

/// Writes the steps: of each its name, and the words of an error.
macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident $words:literal)+) => {
        /// An operation that the system may refuse.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Step {
            $($(#[$doc])* $name),+
        }

        impl Display for Step {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Step::$name => $words),+
                })
            }
        }
    };
}

steps! {
    /// Opening the file.
    Open "open"
    /// Creating it, without a name.
    Create "create"
    /// Asking for its owner, mode, length, seals or file system.
    Inspect "inspect"
    /// Setting its length.
    SetLength "set the length of"
    /// Claiming memory for a part of it.
    Claim "claim memory for"
    /// Writing its header.
    Write "write the header of"
    /// Giving it its name.
    Link "give its name to"
    /// Sealing it.
    Seal "seal"
    /// Mapping it into the process.
    Map "map"
    /// Reading it.
    Read "read"
    /// Locking its names, or a slot for gauges.
    Lock "lock a part of"
    /// Asking whether the owner of a slot lives.
    AskLock "ask for the owners of"
    /// Preparing for forks of this process.
    Prepare "prepare for forks with"
}
