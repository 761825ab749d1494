//! An engine, Redis or Valkey, that keeps limits for many processes.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::asker::Asker;
use crate::connection::Connection;
use crate::error::SharedError;
use crate::forks;
use crate::hub::Hub;
use crate::target::Target;

/// The time that an answer of the engine may take, unless it is told otherwise.
const TIMEOUT: Duration = Duration::from_millis(100);

/// An engine, Redis or Valkey, that keeps the limits of many processes: one connection, and one
/// thread that asks.
///
/// All limits that are built on it use that connection, and their asks go out together. A clone is
/// of the same engine. The thread ends when the last clone is gone, and the last limit.
///
/// ```no_run
/// use windrow::AtMost;
/// use windrow_redis::{Engine, SharedGate};
///
/// let engine = Engine::connect("redis://127.0.0.1/")?;
/// let orders = SharedGate::builder(AtMost(100_000)).name("orders").build(&engine)?;
/// let mails = SharedGate::builder(AtMost(50)).name("mails").build(&engine)?;
/// # Ok::<(), windrow_redis::SharedError>(())
/// ```
///
/// # Forks
///
/// A forked child has its parent's memory, and none of its threads. So each limit that was made
/// before the fork refuses everything in the child, whatever its policy. The child connects an
/// engine of its own. (A process that is made by the system call itself, past the C library, is not
/// noticed.)
#[derive(Clone)]
pub struct Engine {
    hub: Arc<Hub>,
    _owner: Arc<Owner>,
}

/// The last handle of an engine: the thread ends with it.
struct Owner {
    hub: Arc<Hub>,
}

impl Engine {
    /// Connects to the engine that a URL names: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`,
    /// `rediss://` for TLS with the feature `tls`, or `unix:///PATH`.
    ///
    /// # Errors
    ///
    /// Those of [`SharedError`]: the engine cannot be reached, is a replica, may evict keys, or
    /// lets the user not ask.
    pub fn connect(url: &str) -> Result<Engine, SharedError> {
        Engine::builder().connect(url)
    }

    /// Returns a builder of an engine with other settings.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_redis::{Engine, SharedError};
    ///
    /// let far_away = Engine::builder().timeout(Duration::from_millis(500));
    /// assert!(matches!(far_away.connect("localhost"), Err(SharedError::Url { .. })));
    /// ```
    pub fn builder() -> EngineBuilder {
        EngineBuilder { timeout: TIMEOUT }
    }

    #[inline]
    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Returns whether the engine is away: it has left a request unanswered for the
    /// [`timeout`](EngineBuilder::timeout), or could not be reached, and has not answered since.
    pub fn is_away(&self) -> bool {
        self.hub().is_away(self.hub().time().now())
    }

    /// Returns why the engine is away, if it is.
    pub fn fault(&self) -> Option<SharedError> {
        self.hub().fault()
    }

    /// Returns the number of attempts at asks that were sent: those of all limits of this engine in
    /// this process, repetitions included.
    pub fn asks(&self) -> u64 {
        self.hub().asks()
    }
}

/// A builder of an [`Engine`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it connects"]
pub struct EngineBuilder {
    timeout: Duration,
}

impl EngineBuilder {
    /// Sets the time that an answer of the engine may take: 100 ms unless it is set. At least a
    /// millisecond, at most a minute.
    ///
    /// An ask that is not answered by then is sent again on a new connection, three times, and then
    /// given up. A connection may take ten times as long to be made. No request waits longer than
    /// its own patience, however long this is.
    pub fn timeout(mut self, timeout: Duration) -> EngineBuilder {
        self.timeout = timeout.clamp(Duration::from_millis(1), Duration::from_secs(60));
        self
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::connect`].
    pub fn connect(&self, url: &str) -> Result<Engine, SharedError> {
        let no_thread = |error: std::io::Error| SharedError::NoThread { reason: error.to_string() };
        forks::watch().map_err(no_thread)?;
        let target = Target::of(url, self.timeout)?;
        let connection = Connection::open(&target)?;
        let hub = Arc::new(Hub::new(target));
        let asker = Asker::new(hub.clone(), connection);
        let thread = thread::Builder::new().name("windrow-redis".into());
        let thread = thread.spawn(move || asker.run()).map_err(no_thread)?;
        hub.begin(thread.thread().clone());
        Ok(Engine { hub: hub.clone(), _owner: Arc::new(Owner { hub }) })
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.hub.end();
    }
}

/// Shows the host and the port, and no password.
impl Debug for Engine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("at", &self.hub().target().shown())
            .field("is_away", &self.is_away())
            .finish_non_exhaustive()
    }
}
