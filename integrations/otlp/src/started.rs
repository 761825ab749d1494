//! A running exporter.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use windrow_http::client::Runtime;

use crate::error::{ExportError, StartError};
use crate::worker::{Asker, Command, Worker};

/// A running exporter: from [`Exporter::start`](crate::Exporter::start).
///
/// Dropping it does what [`shutdown`](Self::shutdown) does, and discards the outcome.
///
/// The exporter's thread runs functions of the program: [`on_error`](crate::Exporter::on_error),
/// and those of its sources. There nothing waits: [`flush`](Self::flush) does nothing, and
/// `shutdown` or dropping this lets the thread end after the present export and a last one.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Started {
    commands: UnboundedSender<Command>,
    thread: Option<JoinHandle<()>>,
}

impl Started {
    pub(crate) fn spawn(worker: Worker, period: Duration) -> Result<Started, StartError> {
        let runtime = Runtime::new().map_err(|error| StartError::Thread { error })?;
        let (commands, asked) = unbounded_channel();
        let export = move || runtime.block_on(worker.run(asked, period));
        let thread = thread::Builder::new().name("windrow-otlp".to_owned()).spawn(export);
        let thread = thread.map_err(|error| StartError::Thread { error })?;
        Ok(Started { commands, thread: Some(thread) })
    }

    /// Exports now, at once even if an export has just failed, and returns when the collector has
    /// answered.
    ///
    /// The call blocks the calling thread until the export under way has ended, and then until the
    /// requests that wait and those of this export have their answers: each takes up to the
    /// [timeout](crate::Exporter::timeout). An async task calls it by `spawn_blocking`.
    ///
    /// # Errors
    ///
    /// [`ExportError`], the first one if several requests fail. [`ExportError::OwnThread`] on the
    /// exporter's own thread.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::Counter;
    /// use windrow_otlp::Exporter;
    ///
    /// static HITS: Counter = Counter::new();
    ///
    /// let exporter = Exporter::to("http://127.0.0.1:9").metric("hits", "", &HITS);
    /// let exporter = exporter.start(Duration::from_secs(10))?;
    /// let error = exporter.flush().unwrap_err(); // there is no collector
    /// assert!(error.is_retried());
    /// # Ok::<(), windrow_otlp::StartError>(())
    /// ```
    pub fn flush(&self) -> Result<(), ExportError> {
        if self.is_own_thread() {
            return Err(ExportError::OwnThread);
        }
        self.ask(Command::Flush)
    }

    /// Exports a last time, as [`flush`](Self::flush) does, and ends the thread.
    ///
    /// Counts that the collector does not take now are lost. If it may have taken a request of
    /// deltas, [`on_error`](crate::Exporter::on_error) is called with
    /// [`ExportError::Unknown`], too.
    ///
    /// # Errors
    ///
    /// [`ExportError`], the first one if several requests fail. [`ExportError::OwnThread`] on the
    /// exporter's own thread, which ends all the same.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to("http://127.0.0.1:4318").start(Duration::from_secs(10))?;
    /// // ... the program ...
    /// if let Err(error) = exporter.shutdown() {
    ///     eprintln!("the last metrics: {error}");
    /// }
    /// # Ok::<(), windrow_otlp::StartError>(())
    /// ```
    pub fn shutdown(mut self) -> Result<(), ExportError> {
        self.end()
    }

    /// Returns whether this is the exporter's thread, which cannot wait for itself.
    fn is_own_thread(&self) -> bool {
        let own = self.thread.as_ref().map(|thread| thread.thread().id());
        own == Some(thread::current().id())
    }

    fn end(&mut self) -> Result<(), ExportError> {
        let is_own_thread = self.is_own_thread();
        let Some(thread) = self.thread.take() else { return Err(ExportError::Ended) };
        if is_own_thread {
            let (answer, _) = mpsc::sync_channel(1);
            let _ = self.commands.send(Command::End(answer)); // it has ended if it cannot be told
            return Err(ExportError::OwnThread);
        }
        let outcome = self.ask(Command::End);
        // It panics only where the program's own function does, which the panic hook has reported.
        let _ = thread.join();
        outcome
    }

    fn ask(&self, command: fn(Asker) -> Command) -> Result<(), ExportError> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.commands.send(command(answer)).map_err(|_| ExportError::Ended)?;
        answered.recv().unwrap_or(Err(ExportError::Ended))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.end(); // `on_error` was called with its error
    }
}
