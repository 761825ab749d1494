//! An engine, Redis or Valkey, that keeps limits for many processes.

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
    pub(crate) is_lazy: bool,
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

    /// Returns an engine that is connected to later, so that a service can start while it is away.
    ///
    /// A thread begins to connect at once, and limits on it are built without a wait. Until the
    /// engine is reached, the [policy](crate::Absence) of each limit decides. It is in force after
    /// the [timeout](EngineBuilder::timeout), or as soon as the attempt fails; before that a
    /// request waits for as long as its patience. What [`connect`](Self::connect) refuses at the
    /// start is told by [`fault`](Self::fault), until it is mended.
    ///
    /// ```no_run
    /// use windrow::AtMost;
    /// use windrow_redis::{Absence, Engine, SharedGate};
    ///
    /// let engine = Engine::connect_lazy("redis://127.0.0.1/")?;
    /// let orders = SharedGate::builder(AtMost(1_000)).on_absence(Absence::Share(AtMost(100)));
    /// let orders = orders.build(&engine)?;
    /// // Now and then, or for a status page:
    /// if let Some(fault) = orders.fault() {
    ///     eprintln!("each process counts by itself: {fault}");
    /// }
    /// # Ok::<(), windrow_redis::SharedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SharedError::Url`] and [`SharedError::NoThread`].
    pub fn connect_lazy(url: &str) -> Result<Engine, SharedError> {
        Engine::builder().connect_lazy(url)
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

    fn start(target: Target, connection: Option<Connection>) -> Result<Engine, SharedError> {
        let no_thread = |error: std::io::Error| SharedError::NoThread { reason: error.to_string() };
        forks::watch().map_err(no_thread)?;
        let is_lazy = connection.is_none();
        let hub = Arc::new(Hub::new(target));
        if is_lazy {
            hub.sent(0, hub.time().now()); // the first answer is owed
        }
        let asker = Asker::new(hub.clone(), connection);
        let thread = thread::Builder::new().name("windrow-redis".into());
        let thread = thread.spawn(move || asker.run()).map_err(no_thread)?;
        hub.begin(thread.thread().clone());
        Ok(Engine { hub: hub.clone(), is_lazy, _owner: Arc::new(Owner { hub }) })
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
        let target = Target::of(url, self.timeout)?;
        let connection = Connection::open(&target)?;
        Engine::start(target, Some(connection))
    }

    /// Connects later: see [`Engine::connect_lazy`].
    ///
    /// # Errors
    ///
    /// Those of [`Engine::connect_lazy`].
    pub fn connect_lazy(&self, url: &str) -> Result<Engine, SharedError> {
        Engine::start(Target::of(url, self.timeout)?, None)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.hub.end();
    }
}

shown! {
    /// Shows the host and the port, and no password.
    Engine(engine) { at: engine.hub.target.shown, is_away: engine.is_away() }
}
