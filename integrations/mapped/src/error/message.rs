//! The errors as text.

use std::fmt::{self, Display, Formatter};

use super::MappedError;

/// Writes `Display`: of each variant the fields, in brackets one that is a path, and the text.
macro_rules! messages {
    ($($name:ident { $([$path:ident])? $($field:ident)* } => $text:literal $(, $more:expr)*;)+) => {
        impl Display for MappedError {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $(MappedError::$name { $($path,)? $($field),* } => {
                        $(let $path = $path.display();)?
                        write!(f, $text $(, $more)*)
                    })+
                }
            }
        }
    };
}

messages! {
    Failed { [path] step error } => "cannot {step} {path}: {error}";
    NoSpace { [path] bytes error } => "{path} has no space for {bytes} bytes more: {error}";
    IsLink { [path] } => "{path} is a symbolic link; links are not followed";
    NotRegular { [path] } => "{path} is not a regular file";
    ForeignOwner { [path] owner user } =>
        "{path} belongs to user {owner}; it must belong to user {user}, as the process does";
    OthersMayWrite { [path] mode } =>
        "{path} has mode {mode:04o}; only its owner may have the right to write";
    UnfitFileSystem { [path] found } =>
        "{path} is on file system {found:#x}; it must be on tmpfs or ext4";
    Foreign { [path] } => "{path} is not a file of windrow-mapped";
    OtherVersion { [path] found known } =>
        "{path} has layout version {found}; this library knows version {known}";
    CutOff { [path] length expected } =>
        "{path} has {length} bytes; it must have at least {expected}";
    Damaged { [path] offset value rule } =>
        "{path} is damaged at byte {offset}: {value}; {rule}";
    TooSparse { [path] bytes most } =>
        "{path} has {bytes} bytes of cells, without memory; {most} are read";
    LockedTooLong { [path] waited } =>
        "another process has held the lock of the names in {path} for {waited:?}";
    LostDescriptor { [path] } => "the program has closed the descriptor of {path}";
    BadName { text rule } => "{text:?} cannot be in a name: {rule}";
    OtherKind { name found wanted } =>
        "the name {name:?} is registered as {}; it cannot be a {wanted:?} too",
        found.map_or("another kind".to_owned(), |found| format!("a {found:?}"));
    Full { name part most } => "no place for {name:?}: all {most} {part} are in use";
    OwnersFull { [path] owners } =>
        "{path} has no slot for this process: {owners} processes with gauges live, the maximum";
    BadTerms { error } => "{error}";
    OtherTerms { name found wanted } =>
        "the limits {name:?} have periods and bursts of {found:?}; they cannot have {wanted:?} too";
    NoWideExchange { name } =>
        "the paces {name:?} need a processor that exchanges 16 bytes at once";
    ShiftedClock { nanoseconds } =>
        "the monotonic clock of this time namespace is {nanoseconds} ns from the machine's; a pace \
         must have the machine's";
    UnknownClock { reason } => "it is not known whether the clock is the machine's: {reason}";
    BadSetting { setting value min max } =>
        "the setting {setting} is {value}; it must be from {min} to {max}";
}
