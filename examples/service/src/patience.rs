//! A connection that does not wait for its client for ever.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A connection whose writes fail when its client has taken nothing for a time: a client that asks,
/// and does not read the answer, would hold a place for ever.
pub(crate) struct Patience {
    stream: TcpStream,
    limit: Duration,
    /// The end of the patience, while a write waits.
    end: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Patience {
        Patience { stream, limit, end: None }
    }

    /// Returns the outcome of a write, or an error if it has waited for too long.
    fn in_time(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<Result<usize>>,
    ) -> Poll<Result<usize>> {
        if outcome.is_ready() {
            self.end = None;
            return outcome;
        }
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        ready!(end.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client does not take its answer")))
    }
}

impl AsyncRead for Patience {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patience {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.in_time(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // Neither of these waits on a socket.

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
