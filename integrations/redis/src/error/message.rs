//! The messages of the errors of a shared limit.

use std::fmt::{self, Display, Formatter};

use super::SharedError;

impl Display for SharedError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SharedError::Url { reason } => write!(f, "the URL of the engine: {reason}"),
            SharedError::Name { name, reason } => {
                write!(f, "the name {name:?} of a limit: {reason}")
            }
            SharedError::Geometry { interval, buckets, reason } => {
                write!(f, "{buckets} buckets in {interval:?}: {reason}")
            }
            SharedError::LimitTooLarge { limit, max } => {
                write!(f, "a limit of {limit} is above {max}, the largest one")
            }
            SharedError::Absence { reason } => write!(f, "the share of an absence: {reason}"),
            SharedError::NoThread { reason } => write!(f, "no thread could be started: {reason}"),
            SharedError::Unreachable { engine, reason } => {
                write!(f, "{engine} cannot be reached: {reason}")
            }
            SharedError::TimedOut { engine, after } => {
                write!(f, "{engine} has not answered within {after:?}")
            }
            SharedError::NotAuthenticated { engine } => {
                write!(f, "{engine} refuses the user or the password")
            }
            SharedError::NotPermitted { needs } => {
                write!(f, "the user lacks a permission: its access list needs {needs}")
            }
            SharedError::MayEvict { maxmemory, policy } => write!(
                f,
                "the engine may evict keys, and so forget grants: set maxmemory-policy to \
                 noeviction (it is {policy}), or maxmemory to 0 (it is {maxmemory})"
            ),
            SharedError::NotPrimary { engine } => {
                write!(f, "{engine} is a replica, which cannot write: connect to its primary")
            }
            SharedError::OtherNode { at } => {
                write!(
                    f,
                    "another node of the cluster holds the slot of the limit's name, and \
                     redirections are not followed: let the engine's URL name {at}"
                )
            }
            SharedError::Foreign { name } => write!(
                f,
                "a key of the limit {name} holds a value of another program, which was left as it \
                 is"
            ),
            SharedError::OtherGeometry { name } => write!(
                f,
                "the ledger of the limit {name} has another interval or number of buckets, and was \
                 left as it is"
            ),
            SharedError::OtherLimit { limit, in_force } => {
                write!(f, "the limit is not {limit}: another change has set it to {in_force}")
            }
            SharedError::Refused { code } => write!(f, "the engine refuses: {code}"),
            SharedError::Nonsense { expected } => {
                write!(f, "what came from the engine is no {expected}")
            }
        }
    }
}
