//! A thread that writes a batch in each period.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::LogError;
use crate::log::{Batch, Log, Unwritten};

/// A thread that writes to a log: from [`Log::every`].
///
/// When this is dropped, the thread writes once more and ends. So after a service has ended, the
/// log has all lines except those of the buckets that were still open.
#[derive(Debug)]
#[must_use = "the thread ends when this is dropped"]
pub struct Every {
    told: Arc<Mutex<Told>>,
    /// The sender whose drop ends the thread.
    goes_on: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<(), LogError>>>,
}

/// The report of the thread after each batch.
#[derive(Debug, Default)]
struct Told {
    unwritten: Unwritten,
    /// The last error that was not taken.
    error: Option<LogError>,
}

fn lock(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner) // no code panics under it
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
        mut self,
        period: Duration,
        mut fill: impl FnMut(&mut Batch<'_>) + Send + 'static,
    ) -> Every {
        let period = period.max(Duration::from_millis(1));
        let told = Arc::new(Mutex::new(Told::default()));
        let its = Arc::clone(&told);
        let (goes_on, ended) = channel();
        let run = move || {
            let mut next = Some(Instant::now());
            loop {
                // After a pause of several periods, one batch suffices. `None` is a time beyond the
                // clock's range.
                let now = Instant::now();
                next = next.and_then(|last| last.checked_add(period)).map(|at| at.max(now));
                let wait = next.map_or(Duration::MAX, |at| at - now);
                let ends = ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
                let mut batch = self.batch();
                // A panic, in one window's name for example, is no reason to stop logging the
                // others. The state that it leaves behind is the function's concern.
                let filled = catch_unwind(AssertUnwindSafe(|| fill(&mut batch)));
                let written = batch.write().map(drop);
                let result = filled.map_err(|panic| panicked(&*panic)).and(written);
                if ends {
                    let result = result.and(self.flush());
                    lock(&its).unwritten = self.unwritten();
                    return result;
                }
                let mut told = lock(&its);
                told.unwritten = self.unwritten();
                told.error = result.err().or(told.error.take());
            }
        };
        let thread = thread::Builder::new().name("windrow-log".to_owned()).spawn(run);
        Every { told, goes_on: Some(goes_on), thread: Some(thread.expect("a thread")) }
    }
}

/// Returns the error of a panic, with its message.
fn panicked(panic: &(dyn Any + Send)) -> LogError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    LogError::Panicked { message: text.unwrap_or("").to_owned() }
}

impl Every {
    /// Returns the lines that waited, and that were lost, at the end of the last batch.
    pub fn unwritten(&self) -> Unwritten {
        lock(&self.told).unwritten
    }

    /// Returns the last error since the previous call of this method. The thread goes on after an
    /// error, also after a panic of the function that fills batches: see [`LogError`].
    pub fn error(&self) -> Option<LogError> {
        lock(&self.told).error.take()
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
        self.goes_on = None;
        let ended = self.thread.take().map_or(Ok(Ok(())), JoinHandle::join);
        ended.unwrap_or_else(|panic| Err(panicked(&*panic)))
    }
}

impl Drop for Every {
    fn drop(&mut self) {
        // An error has nowhere to go.
        let _ = self.end();
    }
}
