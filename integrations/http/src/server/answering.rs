//! The state of a connection: it waits for a request, or answers one.
//!
//! An answer is under way from the end of a request's head until the last byte of the answer has
//! been handed to the system. One thread runs all connections of a server, so Relaxed is enough.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// The state of a connection.
#[derive(Default)]
pub(super) struct State {
    /// An answer has begun whose last byte is not with the system yet.
    is_answering: AtomicBool,
    /// There is more of the answer than hyper has taken.
    has_body: AtomicBool,
}

impl State {
    /// Returns whether the connection waits for the head of a request.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_answering.load(Relaxed)
    }

    /// A request's head is here.
    pub(super) fn begin(&self) {
        self.is_answering.store(true, Relaxed);
        self.has_body.store(true, Relaxed);
    }

    /// The system has all that hyper had.
    pub(super) fn flushed(&self) {
        if !self.has_body.load(Relaxed) {
            self.is_answering.store(false, Relaxed);
        }
    }
}

/// The body of an answer, which tells when hyper has taken all of it: hyper drops it then.
pub(super) struct Answer<B> {
    pub(super) body: Pin<Box<B>>,
    pub(super) state: Arc<State>,
}

impl<B> Drop for Answer<B> {
    fn drop(&mut self) {
        self.state.has_body.store(false, Relaxed);
    }
}

impl<B: Body<Data = Bytes>> Body for Answer<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Answer<B>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.body.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
