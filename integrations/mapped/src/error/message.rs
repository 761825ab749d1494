//! The errors as text.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::MappedError;

impl Display for MappedError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MappedError::Failed { step, path, error } => {
                write!(f, "cannot {step} {}: {error}", path.display())
            }
            MappedError::NoSpace { path, bytes, error } => {
                write!(f, "{} has no space for {bytes} bytes more: {error}", path.display())
            }
            MappedError::IsLink { path } => {
                write!(f, "{} is a symbolic link; links are not followed", path.display())
            }
            MappedError::NotRegular { path } => {
                write!(f, "{} is not a regular file", path.display())
            }
            MappedError::ForeignOwner { path, owner, user } => write!(
                f,
                "{} belongs to user {owner}; it must belong to user {user}, as the process does",
                path.display()
            ),
            MappedError::OthersMayWrite { path, mode } => write!(
                f,
                "{} has mode {mode:04o}; only its owner may have the right to write",
                path.display()
            ),
            MappedError::UnfitFileSystem { path, found } => write!(
                f,
                "{} is on file system {found:#x}; it must be on tmpfs or ext4",
                path.display()
            ),
            MappedError::Foreign { path } => {
                write!(f, "{} is not a file of windrow-mapped", path.display())
            }
            MappedError::Older { path, found, known }
            | MappedError::Newer { path, found, known } => {
                let path = path.display();
                write!(f, "{path} has layout version {found}; this library knows version {known}")
            }
            MappedError::CutOff { path, length, expected } => {
                write!(f, "{} has {length} bytes; it must have at least {expected}", path.display())
            }
            MappedError::Damaged { path, offset, value, rule } => {
                write!(f, "{} is damaged at byte {offset}: {value}; {rule}", path.display())
            }
            MappedError::TooSparse { path, bytes, most } => {
                let path = path.display();
                write!(f, "{path} has {bytes} bytes of cells, without memory; {most} are read")
            }
            MappedError::LockedTooLong { path, waited } => write!(
                f,
                "another process has held the lock of the names in {} for {waited:?}",
                path.display()
            ),
            MappedError::LostDescriptor { path } => {
                write!(f, "the program has closed the descriptor of {}", path.display())
            }
            MappedError::BadName { error } => Display::fmt(error, f),
            MappedError::OtherKind { name, found, wanted } => write!(
                f,
                "the name {name:?} is registered as kind {found}; it cannot be a {wanted:?} too"
            ),
            MappedError::TooManyNames { name, most } => {
                write!(f, "no place for {name:?}: the file has {most} names, the maximum")
            }
            MappedError::NamesFull { name, bytes } => {
                write!(f, "no place for {name:?}: the {bytes} bytes for names are in use")
            }
            MappedError::ColumnsFull { name, columns } => {
                write!(f, "no place for {name:?}: all {columns} columns are in use")
            }
            MappedError::OtherScale { name, found, wanted } => write!(
                f,
                "the histogram {name:?} is registered with {found:?}; it cannot have {wanted:?} too"
            ),
            MappedError::GaugesFull { name, gauges } => {
                write!(f, "no place for {name:?}: all {gauges} words for gauges are in use")
            }
            MappedError::OwnersFull { path, owners } => write!(
                f,
                "{} has no slot for this process: {owners} processes with gauges live, the maximum",
                path.display()
            ),
            MappedError::PacesFull { name, most } => {
                write!(f, "no place for {name:?}: the file has {most} paces, the maximum")
            }
            MappedError::BadTerms { error } => Display::fmt(error, f),
            MappedError::OtherTerms { name, found, wanted } => other_terms(f, name, found, wanted),
            MappedError::OtherLimits { name, found, wanted } => {
                write!(f, "the paces {name:?} have {found} limits; they cannot have {wanted} too")
            }
            MappedError::NoWideExchange { name } => {
                write!(f, "the paces {name:?} need a processor that exchanges 16 bytes at once")
            }
            MappedError::ShiftedClock { nanoseconds } => shifted_clock(f, *nanoseconds),
            MappedError::UnknownClock { reason } => {
                write!(f, "it is not known whether the clock is the machine's: {reason}")
            }
            MappedError::BadSetting { setting, value, min, max } => {
                write!(f, "the setting {setting} is {value}; it must be from {min} to {max}")
            }
        }
    }
}

fn other_terms(
    f: &mut Formatter<'_>,
    name: &str,
    found: &(Duration, u64),
    wanted: &(Duration, u64),
) -> fmt::Result {
    write!(
        f,
        "the pace {name:?} has a period of {:?} and a burst of {}; it cannot have {:?} and {} too",
        found.0, found.1, wanted.0, wanted.1
    )
}

fn shifted_clock(f: &mut Formatter<'_>, nanoseconds: i128) -> fmt::Result {
    write!(
        f,
        "the monotonic clock of this time namespace is {nanoseconds} ns from the machine's; a pace \
         must have the machine's"
    )
}
