//! The end of the service: at the first SIGINT or SIGTERM in good order, at the second at once.

use std::io;
use std::process;

use tokio::sync::watch;

/// The exit code of a process that ends at once, as shells say it of SIGINT.
const INTERRUPTED: i32 = 130;

/// The moment to stop; clones are of the same one.
#[derive(Clone)]
pub(crate) struct Stop(watch::Sender<bool>);

impl Stop {
    /// Listens for signals from now on.
    pub(crate) fn at_signals() -> io::Result<Stop> {
        let mut signals = Signals::listen()?;
        let stop = Stop(watch::Sender::new(false));
        let told = stop.clone();
        tokio::spawn(async move {
            signals.next().await;
            stop.ask();
            signals.next().await;
            tracing::warn!("stopped at once: requests in flight are not answered");
            process::exit(INTERRUPTED);
        });
        Ok(told)
    }

    /// Asks for the stop, as the first signal does.
    pub(crate) fn ask(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether the stop is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the first signal.
    pub(crate) async fn asked(&self) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|stop| *stop).await;
    }
}

#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 2]);

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn listen() -> io::Result<Signals> {
        Ok(Signals(tokio::signal::windows::ctrl_c()?))
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
