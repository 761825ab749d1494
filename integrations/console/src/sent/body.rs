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
pub struct Body {
    /// A text, or the beginning of a stream, until it has been returned.
    text: Option<Bytes>,
    events: Option<Events>,
}

impl Body {
    pub(crate) fn whole(text: impl Into<Bytes>) -> Body {
        Body { text: Some(text.into()).filter(|text| !text.is_empty()), events: None }
    }

    pub(crate) fn events(listener: Listener, latest: Receiver<Latest>) -> Body {
        // So that the client knows at once that it is connected, and when to come back.
        let text = Some(Bytes::from_static(b"retry: 1000\n\n"));
        Body { text, events: Some(Events { listener, next: next(latest), at: None }) }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Body>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Body { text, events } = self.get_mut();
        let bytes = match events {
            Some(events) => ready!(events.poll(text, cx)),
            None => text.take(),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none() && self.events.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.text.as_ref().map_or(0, Bytes::len) as u64;
        if self.events.is_some() { SizeHint::default() } else { SizeHint::with_exact(length) }
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
    fn poll(&mut self, beginning: &mut Option<Bytes>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if !self.listener.is_polled() {
                return Poll::Ready(None);
            }
            if beginning.is_some() {
                return Poll::Ready(beginning.take());
            }
            let mut receiver = ready!(self.next.as_mut().poll(cx));
            let latest = receiver.borrow_and_update().clone();
            self.next = next(receiver);
            let sent = latest.and_then(|frame| {
                self.listener.saw(frame.number);
                let follows = self.at.is_some_and(|at| frame.number == at + 1);
                let bytes = if follows { Some(&frame.more) } else { frame.all.as_ref() };
                Some((frame.number, bytes?.clone()))
            });
            if let Some((number, bytes)) = sent {
                self.at = Some(number);
                return Poll::Ready(Some(bytes));
            }
            self.listener.wants_full();
        }
    }
}
