//! The body of a response, whose end is the end of the request.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::classify::Outcome;
use crate::follower::{Follower, run};
use crate::grpc_web::WebTrailers;

pin_project! {
    /// A response body of [`MetricsLayer`](crate::MetricsLayer), [`RoomLayer`](crate::RoomLayer) or
    /// [`BreakerLayer`](crate::BreakerLayer): the service's own, frame by frame. The request is in
    /// flight, or keeps its place, until the body has ended or is dropped.
    pub struct ResponseBody<B, F> {
        #[pin]
        inner: B,
        // `None` once the body has ended.
        follower: Option<F>,
        web: WebTrailers,
    }
}

impl<B: Body, F: Follower> ResponseBody<B, F> {
    /// Returns a response with its body followed.
    pub(crate) fn within(response: Response<B>, follower: Option<F>) -> Response<Self> {
        let (parts, inner) = response.into_parts();
        let is_open = follower.as_ref().is_some_and(F::is_open);
        let web = if is_open { WebTrailers::of(&parts.headers) } else { WebTrailers::default() };
        let mut body = ResponseBody { inner, follower, web };
        // Servers do not poll an empty body.
        if body.inner.is_end_stream()
            && let Some(mut follower) = body.follower.take()
        {
            follower.ended(None);
        }
        Response::from_parts(parts, body)
    }
}

impl<B: Body, F: Follower> Body for ResponseBody<B, F> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some(follower) = this.follower.as_mut() else {
            return this.inner.poll_frame(context);
        };
        let polled = ready!(run(follower, || this.inner.as_mut().poll_frame(context)));
        if let Some(Ok(frame)) = &polled {
            this.web.look(frame);
        }
        match &polled {
            Some(Ok(frame)) if frame.is_trailers() => follower.ended(frame.trailers_ref()),
            Some(Ok(_)) if !this.inner.is_end_stream() => return Poll::Ready(polled),
            Some(Ok(_)) | None => follower.ended(this.web.end().as_ref()),
            Some(Err(_)) => follower.end(Outcome::Exception),
        }
        *this.follower = None;
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Returns an empty body, for a request that is not followed.
impl<B: Default, F> Default for ResponseBody<B, F> {
    fn default() -> ResponseBody<B, F> {
        ResponseBody { inner: B::default(), follower: None, web: WebTrailers::default() }
    }
}

impl<B, F> Debug for ResponseBody<B, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("has_ended", &self.follower.is_none())
            .finish_non_exhaustive()
    }
}
