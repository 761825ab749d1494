//! The messages of the errors of a shared limit.

use std::fmt::{self, Display, Formatter};

use super::SharedError;

/// Writes `Display`: of each variant the fields, and the text.
macro_rules! messages {
    ($($name:ident { $($field:ident)+ } => $text:literal;)+) => {
        impl Display for SharedError {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $(SharedError::$name { $($field),+ } => write!(f, $text),)+
                }
            }
        }
    };
}

messages! {
    Url { reason } => "the URL of the engine: {reason}";
    Name { name reason } => "the name {name:?} of a limit: {reason}";
    Geometry { interval buckets reason } => "{buckets} buckets in {interval:?}: {reason}";
    LimitTooLarge { limit max } => "a limit of {limit} is above {max}, the largest one";
    Absence { reason } => "the share of an absence: {reason}";
    NoThread { reason } => "no thread could be started: {reason}";
    Unreachable { engine reason } => "{engine} cannot be reached: {reason}";
    TimedOut { engine after } => "{engine} has not answered within {after:?}";
    NotAuthenticated { engine } => "{engine} refuses the user or the password";
    NotPermitted { needs } => "the user lacks a permission: its access list needs {needs}";
    MayEvict { maxmemory policy } =>
        "the engine may evict keys, and so forget grants: set maxmemory-policy to noeviction (it \
         is {policy}), or maxmemory to 0 (it is {maxmemory})";
    NotPrimary { engine } => "{engine} is a replica, which cannot write: connect to its primary";
    OtherNode { at } =>
        "another node of the cluster holds the slot of the limit's name, and redirections are not \
         followed: let the engine's URL name {at}";
    Foreign { name } =>
        "a key of the limit {name} holds a value of another program, which was left as it is";
    OtherGeometry { name } =>
        "the ledger of the limit {name} has another interval or number of buckets, and was left as \
         it is";
    OtherLimit { limit in_force } =>
        "the limit is not {limit}: another change has set it to {in_force}";
    Refused { code } => "the engine refuses: {code}";
    Nonsense { expected } => "what came from the engine is no {expected}";
}
