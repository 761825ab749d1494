//! The body of a response, whose end frees the request's place.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use windrow::labels::Labels;

use crate::room::rooms::InRoom;

pin_project! {
    /// A response body: the service's own, frame by frame. The request keeps its place until the
    /// body has ended or is dropped.
    pub struct RoomBody<B, L: Labels> {
        #[pin]
        inner: B,
        // `None` once the body has ended.
        place: Option<InRoom<L>>,
    }
}

impl<B: Body, L: Labels> RoomBody<B, L> {
    pub(super) fn new(inner: B, place: Option<InRoom<L>>) -> RoomBody<B, L> {
        let place = place.filter(|_| !inner.is_end_stream()); // servers do not poll an empty body
        RoomBody { inner, place }
    }
}

impl<B: Body, L: Labels> Body for RoomBody<B, L> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let polled = ready!(this.inner.as_mut().poll_frame(context));
        let goes_on = matches!(&polled, Some(Ok(frame)) if !frame.is_trailers());
        if !goes_on || this.inner.is_end_stream() {
            *this.place = None;
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Returns an empty body, for a request without a place.
impl<B: Default, L: Labels> Default for RoomBody<B, L> {
    fn default() -> RoomBody<B, L> {
        RoomBody { inner: B::default(), place: None }
    }
}

impl<B, L: Labels> Debug for RoomBody<B, L> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomBody").field("place", &self.place).finish_non_exhaustive()
    }
}
