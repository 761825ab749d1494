//! The connections of a server.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use super::answering::{Answer, State};
use super::patient::Patient;
use super::site::{Limits, Site};

/// The time that answers under way have when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// The time to wait when the system gives no connection: too many open files, say.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until the other end of `stopped` is dropped.
pub(super) async fn run(
    listener: &TcpListener,
    site: impl Site,
    limits: Limits,
    stopped: watch::Receiver<()>,
) {
    let mut connections = Connections { tasks: JoinSet::new(), open: Vec::new() };
    {
        let mut stop = stopped.clone();
        let mut stop = pin!(stop.changed());
        loop {
            let next = |cx: &mut Context<'_>| connections.next(cx, listener, stop.as_mut());
            match poll_fn(next).await {
                Some(Ok(stream)) => {
                    connections.take(stream, &site, limits, &stopped);
                    // A request that is here already begins before a later client makes it leave.
                    yield_now().await;
                }
                Some(Err(_)) => sleep(PAUSE).await,
                None => break,
            }
        }
    }
    site.close();
    let _ = timeout(GRACE, async { while connections.tasks.join_next().await.is_some() {} }).await;
}

/// The connections that are open.
struct Connections {
    tasks: JoinSet<()>,
    /// In the order in which they came. Some of them may have ended.
    open: Vec<(Arc<State>, AbortHandle)>,
}

impl Connections {
    /// Waits for the next connection; `None` comes when the server is stopped.
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        listener: &TcpListener,
        stop: Pin<&mut impl Future>,
    ) -> Poll<Option<io::Result<TcpStream>>> {
        if stop.poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        while let Poll::Ready(Some(_)) = self.tasks.poll_join_next(cx) {} // those that have ended
        listener.poll_accept(cx).map(|came| Some(came.map(|(stream, _)| stream)))
    }

    /// Serves a client, if there is a place: a free one, or that of the connection that came first
    /// among the idle ones. Otherwise the new client's connection is closed.
    fn take(
        &mut self,
        stream: TcpStream,
        site: &impl Site,
        limits: Limits,
        stopped: &watch::Receiver<()>,
    ) {
        self.open.retain(|(_, task)| !task.is_finished());
        if self.open.len() >= limits.connections {
            let Some(idle) = self.open.iter().position(|(state, _)| state.is_idle()) else {
                return;
            };
            self.open.remove(idle).1.abort();
        }
        let state = Arc::new(State::default());
        let served = serve(stream, site.clone(), limits, stopped.clone(), Arc::clone(&state));
        self.open.push((state, self.tasks.spawn(served)));
    }
}

/// Serves one client until it leaves, or must leave.
async fn serve(
    stream: TcpStream,
    site: impl Site,
    limits: Limits,
    mut stopped: watch::Receiver<()>,
    state: Arc<State>,
) {
    let _ = stream.set_nodelay(true); // small frames, each at once
    let service = service_fn(|request| {
        state.begin();
        let (response, state) = (site.respond(&request), Arc::clone(&state));
        async move {
            Ok::<_, Infallible>(response.await.map(|body| Answer { body: Box::pin(body), state }))
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(limits.buffer);
    builder.keep_alive(limits.whole.is_none());
    let stream = TokioIo::new(Patient { stream, state: Arc::clone(&state), waits: None });
    let mut connection = pin!(builder.serve_connection(stream, service));
    let mut stop = pin!(stopped.changed());
    let mut is_stopping = false;
    let served = poll_fn(|cx| {
        if !is_stopping && stop.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    // Errors of a client are not reported.
    match limits.whole {
        Some(time) => _ = timeout(time, served).await,
        None => _ = served.await,
    }
}
