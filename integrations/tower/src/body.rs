//! The body of a response, whose end is the end of the request's flight.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::classify::{Classify, Outcome};
use crate::flight::Flight;
use crate::grpc_web::WebTrailers;

pin_project! {
    /// A response body: the service's own, frame by frame. The request is in flight until the body
    /// has ended or is dropped.
    pub struct ResponseBody<B, K> {
        #[pin]
        inner: B,
        // `None` once the body has ended.
        flight: Option<(Flight, K)>,
        web: WebTrailers,
    }
}

impl<B: Body, K: Classify> ResponseBody<B, K> {
    pub(crate) fn new(
        inner: B,
        headers: &HeaderMap,
        flight: Flight,
        classify: K,
    ) -> ResponseBody<B, K> {
        let has_ended = inner.is_end_stream(); // servers do not poll an empty body
        let web = if flight.is_open() { WebTrailers::of(headers) } else { WebTrailers::default() };
        let mut body = ResponseBody { inner, flight: Some((flight, classify)), web };
        if has_ended {
            end(&mut body.flight, None);
        }
        body
    }
}

/// Ends the flight, since the body has ended.
fn end<K: Classify>(flight: &mut Option<(Flight, K)>, trailers: Option<&HeaderMap>) {
    if let Some((mut flight, classify)) = flight.take()
        && flight.is_open()
    {
        flight.ended(classify.by_end(trailers));
    }
}

impl<B: Body, K: Classify> Body for ResponseBody<B, K> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some((flight, _)) = this.flight.as_mut() else {
            return this.inner.poll_frame(context);
        };
        let polled = ready!(flight.run(|| this.inner.as_mut().poll_frame(context)));
        if let Some(Ok(frame)) = &polled {
            this.web.look(frame);
        }
        match &polled {
            Some(Ok(frame)) if frame.is_trailers() => end(this.flight, frame.trailers_ref()),
            Some(Ok(_)) if !this.inner.is_end_stream() => {}
            Some(Err(_)) => {
                flight.ended(Outcome::Exception);
                end(this.flight, None);
            }
            Some(Ok(_)) | None => end(this.flight, this.web.end().as_ref()),
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

/// Returns an empty body, for a request that is not counted.
impl<B: Default, K> Default for ResponseBody<B, K> {
    fn default() -> ResponseBody<B, K> {
        ResponseBody { inner: B::default(), flight: None, web: WebTrailers::default() }
    }
}

impl<B, K> Debug for ResponseBody<B, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("has_ended", &self.flight.is_none())
            .finish_non_exhaustive()
    }
}
