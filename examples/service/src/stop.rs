//! The end of the service: at the first SIGINT or SIGTERM in good order, at the second at once.

use std::io;
use std::process;

use tokio::sync::watch;

/// The exit code of a process that ends at once, as shells say it of SIGINT.
const INTERRUPTED: i32 = 130;

/// The moment to stop; clones wait for the same one.
#[derive(Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Listens for signals from now on.
    pub(crate) fn at_signals() -> io::Result<Stop> {
        let mut signals = Signals::listen()?;
        let (tell, told) = watch::channel(false);
        tokio::spawn(async move {
            signals.next().await;
            tell.send_replace(true);
            signals.next().await;
            eprintln!("windrow-service: stopped at once: requests in flight are not answered");
            process::exit(INTERRUPTED);
        });
        Ok(Stop(told))
    }

    /// Waits for the first signal.
    pub(crate) async fn asked(mut self) {
        // The sender lives as long as the process.
        let _ = self.0.wait_for(|stop| *stop).await;
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
