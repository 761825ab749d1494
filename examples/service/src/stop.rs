//! The end of the service: at the first SIGINT or SIGTERM in good order, at the second at once.

use std::io;
use std::process;

use tokio_util::sync::CancellationToken;

/// The exit code of a process that ends at once, as shells say it of SIGINT.
const INTERRUPTED: i32 = 130;

/// Listens for signals from now on. The first cancels what it returns.
pub(crate) fn at_signals() -> io::Result<CancellationToken> {
    let mut signals = Signals::listen()?;
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        told.cancel();
        signals.next().await;
        tracing::warn!("stopped at once: requests in flight are not answered");
        process::exit(INTERRUPTED);
    });
    Ok(stop)
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
