//! The server, from its first connection to an orderly end.

use std::io::{Error, ErrorKind, Result};
use std::net::TcpListener;
use std::time::Duration;

use axum::Router;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The time that requests in flight have once the server is to end: more than the slowest of the
/// shop takes.
const GRACE: Duration = Duration::from_secs(6);

/// A server at work.
pub(crate) struct Server {
    close: oneshot::Sender<()>,
    task: JoinHandle<Result<()>>,
}

impl Server {
    pub(crate) fn start(listener: TcpListener, router: Router) -> Result<Server> {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (close, closed) = oneshot::channel();
        let server = axum::serve(listener, router).with_graceful_shutdown(async {
            let _ = closed.await;
        });
        Ok(Server { close, task: tokio::spawn(server.into_future()) })
    }

    /// Refuses new connections, answers the requests in flight, and ends.
    ///
    /// Ends the server. A client that has sent half a request, or does not read the answer, is
    /// waited for at most for [`GRACE`].
    pub(crate) async fn end(self) -> Result<()> {
        let _ = self.close.send(());
        if let Ok(served) = timeout(GRACE, self.task).await {
            return served?;
        }
        let what = format!("connections were still open after {} s", GRACE.as_secs());
        Err(Error::new(ErrorKind::TimedOut, what))
    }
}
