//! A runtime on the caller's thread.

use std::io;

/// A runtime of tokio for clients, on the thread that calls it. Its drop waits for nothing: a
/// look-up of a name that hangs holds nothing up.
pub struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    /// Makes a runtime.
    ///
    /// # Errors
    ///
    /// Returns the system's error if that gives no means to wait for connections.
    pub fn new() -> io::Result<Runtime> {
        tokio::runtime::Builder::new_current_thread().enable_all().build().map(Some).map(Runtime)
    }

    /// Runs a future to its end, on this thread.
    ///
    /// # Panics
    ///
    /// Panics on a thread of another runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.as_ref().expect("it is there until the drop").block_on(future)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
