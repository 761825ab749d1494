//! The body of an answer: a text, or a stream of frames.

use std::convert::Infallible;
use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::hub::{Latest, Listener, Seat};

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

    pub(crate) fn events(listener: Listener) -> Body {
        let seat = Arc::clone(&listener.seat);
        Body(Inner::Events(Events { next: next(listener), seat, at: Position::Start }))
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

/// Shows whether it is a stream.
impl Debug for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Whole(text) => {
                f.debug_tuple("Whole").field(&text.as_ref().map(Bytes::len)).finish()
            }
            Inner::Events(_) => f.write_str("Events"),
        }
    }
}

/// Frames as they come.
struct Events {
    /// Waits for the next frame.
    next: Pin<Box<dyn Future<Output = Listener> + Send>>,
    seat: Arc<Seat>,
    at: Position,
}

/// The position of a stream.
#[derive(Clone, Copy)]
enum Position {
    /// The stream is new: not even its beginning was sent.
    Start,
    /// The last frame was missed, so the next one must be full.
    Behind,
    /// All frames up to this number were sent.
    At(u64),
}

fn next(mut listener: Listener) -> Pin<Box<dyn Future<Output = Listener> + Send>> {
    Box::pin(async move {
        // The listener has a reference to the sender.
        let _ = listener.latest.changed().await;
        listener
    })
}

impl Events {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.seat.note() {
            return Poll::Ready(None);
        }
        if matches!(self.at, Position::Start) {
            self.at = Position::Behind;
            // So that the client knows at once that it is connected, and when to come back.
            return Poll::Ready(Some(Bytes::from_static(b"retry: 1000\n\n")));
        }
        loop {
            let mut listener = std::task::ready!(self.next.as_mut().poll(cx));
            let latest = listener.latest.borrow_and_update().clone();
            if let Latest::Frame(frame) = &latest {
                self.seat.saw(frame.number);
            }
            let follows = match (&latest, self.at) {
                (Latest::Frame(frame), Position::At(number)) => frame.number == number + 1,
                _ => false,
            };
            let bytes = match &latest {
                Latest::Closed => return Poll::Ready(None),
                Latest::Nothing => None,
                Latest::Frame(frame) if follows => Some((frame.number, frame.more.clone())),
                Latest::Frame(frame) => frame.all.as_ref().map(|all| (frame.number, all.clone())),
            };
            if bytes.is_none() {
                listener.wants_full();
            }
            self.next = next(listener);
            if let Some((number, bytes)) = bytes {
                self.at = Position::At(number);
                return Poll::Ready(Some(bytes));
            }
        }
    }
}
