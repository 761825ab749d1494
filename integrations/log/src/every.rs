//! A thread that writes a batch in each period.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::LogError;
use crate::log::{Batch, Log, Unwritten};

/// A thread that writes to a log: from [`Log::every`].
///
/// When this is dropped, the thread writes once more and ends. So after a service has ended, the
/// log has all lines except those of the buckets that were still open.
#[must_use = "the thread ends when this is dropped"]
pub struct Every {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), LogError>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ends: Condvar,
}

#[derive(Default)]
struct State {
    ends: bool,
    unwritten: Unwritten,
    error: Option<LogError>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no code panics under it
    }

    /// Waits until `deadline`, or forever, for the request to end. Returns whether the thread is to
    /// end.
    fn ends_before(&self, deadline: Option<Instant>) -> bool {
        let wait =
            deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        let waited = self.ends.wait_timeout_while(self.lock(), wait, |state| !state.ends);
        waited.unwrap_or_else(PoisonError::into_inner).0.ends
    }

    fn tell(&self, unwritten: Unwritten, error: Option<LogError>) {
        let mut state = self.lock();
        state.unwritten = unwritten;
        state.error = error.or(state.error.take());
    }
}

impl Log {
    /// Starts a thread that writes a batch in each period, until the result is dropped or
    /// [finished](Every::finish).
    ///
    /// `fill` adds the windows to the batch. The period should be at most the length of a bucket;
    /// it is at least one millisecond.
    ///
    /// # Panics
    ///
    /// Panics if the system cannot start a thread.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{SlidingWindow, events};
    /// # use windrow_log::{Log, Options};
    /// events! { enum Http { Pass: Count } }
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let window = std::sync::Arc::new(SlidingWindow::<Http>::builder().build()?);
    /// let log = Log::open(directory.path(), Options::default())?;
    /// let logged = window.clone();
    /// let period = Duration::from_millis(250);
    /// let logging = log.every(period, move |batch| batch.add("checkout", &logged));
    /// window.add(Http::Pass, 1);
    /// // ... and when the service ends:
    /// logging.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn every(
        self,
        period: Duration,
        fill: impl FnMut(&mut Batch<'_>) + Send + 'static,
    ) -> Every {
        Every::start(self, period, fill)
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("").to_owned()
}

impl Every {
    fn start(
        mut log: Log,
        period: Duration,
        mut fill: impl FnMut(&mut Batch<'_>) + Send + 'static,
    ) -> Every {
        let period = period.max(Duration::from_millis(1));
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let mut write = move |log: &mut Log| {
            let mut batch = log.batch();
            // A panic, in one window's name for example, is no reason to stop logging the others.
            // The state that it leaves behind is the function's concern.
            let filled = catch_unwind(AssertUnwindSafe(|| fill(&mut batch)));
            let written = batch.write().map(drop);
            filled.map_err(|panic| LogError::Panicked { message: message(&*panic) }).and(written)
        };
        let run = move || {
            let mut next = Some(Instant::now());
            loop {
                // After a pause of several periods, one batch suffices. `None` is a time beyond the
                // clock's range.
                next =
                    next.and_then(|last| last.checked_add(period)).map(|at| at.max(Instant::now()));
                let ends = its.ends_before(next);
                let result = write(&mut log);
                if ends {
                    let result = result.and(log.flush());
                    its.tell(log.unwritten(), None);
                    return result;
                }
                its.tell(log.unwritten(), result.err());
            }
        };
        let thread = thread::Builder::new().name("windrow-log".to_owned()).spawn(run);
        Every { shared, thread: Some(thread.expect("a thread")) }
    }

    /// Returns the lines that waited, and that were lost, at the end of the last batch.
    pub fn unwritten(&self) -> Unwritten {
        self.shared.lock().unwritten
    }

    /// Returns the last error since the previous call of this method. The thread goes on after an
    /// error, also after a panic of the function that fills batches: see [`LogError`].
    pub fn error(&self) -> Option<LogError> {
        self.shared.lock().error.take()
    }

    /// Writes once more, syncs, and ends the thread.
    ///
    /// # Errors
    ///
    /// Returns the error of this last write, or of the function that filled it. Lines that could
    /// not be written are lost.
    pub fn finish(mut self) -> Result<(), LogError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), LogError> {
        self.shared.lock().ends = true;
        self.shared.ends.notify_all();
        let ended = self.thread.take().map_or(Ok(Ok(())), JoinHandle::join);
        ended.unwrap_or_else(|panic| Err(LogError::Panicked { message: message(&*panic) }))
    }
}

/// Shows the lines that wait.
impl Debug for Every {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Every").field("unwritten", &self.unwritten()).finish_non_exhaustive()
    }
}

impl Drop for Every {
    fn drop(&mut self) {
        // An error has nowhere to go.
        let _ = self.end();
    }
}
