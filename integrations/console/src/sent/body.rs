//! The body of an answer: a text, or a stream of frames.

use std::convert::Infallible;
use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::watch::Receiver;

use super::hub::{Latest, Listener};

/// The body of a console's response. It never fails.
///
/// The body of `/events` goes on until the client leaves, or the [console is
/// closed](crate::ConsoleService::close). It starts no task: it is polled by the server of the
/// connection, and dropped with it.
pub struct Body(Inner);

enum Inner {
    /// A text, until it has been returned.
    Whole(Option<Bytes>),
    Events(Events),
}

impl Body {
    pub(crate) fn whole(text: impl Into<Bytes>) -> Body {
        Body(Inner::Whole(Some(text.into()).filter(|text| !text.is_empty())))
    }

    pub(crate) fn events(listener: Listener, latest: Receiver<Latest>) -> Body {
        // So that the client knows at once that it is connected, and when to come back.
        let beginning = Some(Bytes::from_static(b"retry: 1000\n\n"));
        Body(Inner::Events(Events { listener, next: next(latest), beginning, at: None }))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Body>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.get_mut().0 {
            Inner::Whole(text) => Poll::Ready(text.take()),
            Inner::Events(events) => events.poll(cx),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Inner::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(text) => SizeHint::with_exact(text.as_ref().map_or(0, Bytes::len) as u64),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

/// Shows nothing of the contents.
impl Debug for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

/// Frames as they come.
struct Events {
    listener: Listener,
    /// Waits for the next frame.
    next: Pin<Box<dyn Future<Output = Receiver<Latest>> + Send>>,
    /// The beginning of the stream, until it is sent.
    beginning: Option<Bytes>,
    /// The number of the last frame, up to which all were sent; `None` if the next one must be
    /// full.
    at: Option<u64>,
}

fn next(mut latest: Receiver<Latest>) -> Pin<Box<dyn Future<Output = Receiver<Latest>> + Send>> {
    Box::pin(async move {
        // The listener has a reference to the sender.
        let _ = latest.changed().await;
        latest
    })
}

impl Events {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.listener.is_polled() {
            return Poll::Ready(None);
        }
        if let Some(beginning) = self.beginning.take() {
            return Poll::Ready(Some(beginning));
        }
        loop {
            let mut receiver = ready!(self.next.as_mut().poll(cx));
            let latest = receiver.borrow_and_update().clone();
            self.next = next(receiver);
            let bytes = match latest {
                Latest::Closed => return Poll::Ready(None),
                Latest::Nothing => None,
                Latest::Frame(frame) => {
                    self.listener.saw(frame.number);
                    let follows = self.at.is_some_and(|at| frame.number == at + 1);
                    let bytes = if follows { Some(&frame.more) } else { frame.all.as_ref() };
                    bytes.map(|bytes| (frame.number, bytes.clone()))
                }
            };
            let Some((number, bytes)) = bytes else {
                self.listener.wants_full();
                continue;
            };
            self.at = Some(number);
            return Poll::Ready(Some(bytes));
        }
    }
}
