//! The errors of a shared limit.

use std::error::Error;
use std::time::Duration;

mod message;

/// The error of a limit that many processes share through Redis or Valkey.
///
/// Returned by [`Engine::connect`](crate::Engine::connect), the builders, and `fault` of a limit.
/// No message has a password or a URL in it.
///
/// ```
/// use windrow_redis::{Engine, SharedError};
///
/// let error = Engine::connect("http://localhost").unwrap_err();
/// assert!(matches!(error, SharedError::Url { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedError {
    /// The URL is none that the client crate knows, or asks for TLS without the feature `tls`.
    Url {
        /// The rule that the URL breaks.
        reason: &'static str,
    },
    /// The name of a limit is empty, too long, or has a byte that is not allowed in it.
    Name {
        /// The name requested: its first 128 characters.
        name: String,
        /// The rule that the name breaks.
        reason: &'static str,
    },
    /// The buckets do not divide the interval into whole microseconds, or there are too few or too
    /// many of them.
    Geometry {
        /// The interval requested.
        interval: Duration,
        /// The number of buckets requested.
        buckets: usize,
        /// The rule that they break.
        reason: &'static str,
    },
    /// The limit is larger than a ledger can count.
    LimitTooLarge {
        /// The limit requested.
        limit: u64,
        /// The largest one.
        max: u64,
    },
    /// The policy for an absent engine has a limit that no gate can have.
    Absence {
        /// The gate's message.
        reason: String,
    },
    /// No thread could be started.
    NoThread {
        /// The system's message.
        reason: String,
    },
    /// No connection could be made, or it broke.
    Unreachable {
        /// The host and the port, or the path of a socket.
        engine: String,
        /// The system's message.
        reason: String,
    },
    /// The engine did not answer in time.
    TimedOut {
        /// The host and the port, or the path of a socket.
        engine: String,
        /// The time that it had.
        after: Duration,
    },
    /// The engine refused the user or the password.
    NotAuthenticated {
        /// The host and the port, or the path of a socket.
        engine: String,
    },
    /// The user lacks a permission that a limit needs.
    NotPermitted {
        /// The rule to add to the user's access list, such as `+info`.
        needs: &'static str,
    },
    /// The engine may evict keys, and so forget grants.
    MayEvict {
        /// The engine's value of `maxmemory`, in bytes, which is not zero.
        maxmemory: u64,
        /// The engine's value of `maxmemory-policy`, which is not `noeviction`.
        policy: String,
    },
    /// The engine is a replica, which cannot write.
    NotPrimary {
        /// The host and the port, or the path of a socket.
        engine: String,
    },
    /// A node of a cluster that does not hold the limit's slot was asked. The client follows no
    /// redirection: the URL must name the primary that holds the slot of the limit's name.
    OtherNode {
        /// The address of the node that holds it, as the engine tells.
        at: String,
    },
    /// A key of the limit holds what no ledger is. It was not overwritten.
    Foreign {
        /// The limit's name.
        name: String,
    },
    /// The limit's ledger has another interval or another number of buckets. It was not
    /// overwritten.
    OtherGeometry {
        /// The limit's name.
        name: String,
    },
    /// Another change of the limit holds: another process's, of which this one had not heard, or a
    /// later one.
    OtherLimit {
        /// The limit requested.
        limit: u64,
        /// The limit that holds.
        in_force: u64,
    },
    /// The engine refused a request.
    Refused {
        /// The code of its answer, such as `OOM`.
        code: String,
    },
    /// The answer is none that an engine gives.
    Nonsense {
        /// The expected kind of answer.
        expected: &'static str,
    },
}

impl SharedError {
    /// Returns the error of a limit of the parent in a forked child.
    pub(crate) fn forked() -> SharedError {
        SharedError::NoThread { reason: "its process was forked".into() }
    }
}

impl Error for SharedError {}
