//! The body of a response, whose end may be the outcome of the request.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use windrow::breaker::BreakerOwner;

use crate::breaker::judged::Judged;
use crate::classify::{Classify, Outcome};
use crate::grpc_web::WebTrailers;

pin_project! {
    /// A response body: the service's own, frame by frame. If the head of the response does not
    /// decide about the request, as in gRPC, the trailers do.
    pub struct BreakerBody<B, O: BreakerOwner, K> {
        #[pin]
        inner: B,
        // `None` once the outcome is known.
        judged: Option<Judged<O, K>>,
        web: WebTrailers,
    }
}

impl<B: Body, O: BreakerOwner, K: Classify> BreakerBody<B, O, K> {
    pub(super) fn new(
        inner: B,
        headers: &HeaderMap,
        judged: Option<Judged<O, K>>,
    ) -> BreakerBody<B, O, K> {
        let mut judged = judged;
        if let Some(judged) = &mut judged
            && inner.is_end_stream()
        {
            judged.body_ended(None); // servers do not poll an empty body
        }
        let judged = judged.filter(Judged::is_open);
        let web = judged.as_ref().map_or_else(WebTrailers::default, |_| WebTrailers::of(headers));
        BreakerBody { inner, judged, web }
    }
}

impl<B: Body, O: BreakerOwner, K: Classify> Body for BreakerBody<B, O, K> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some(judged) = this.judged.as_mut() else {
            return this.inner.poll_frame(context);
        };
        let polled = ready!(judged.run(|| this.inner.as_mut().poll_frame(context)));
        if let Some(Ok(frame)) = &polled {
            this.web.look(frame);
        }
        match &polled {
            Some(Ok(frame)) if frame.is_trailers() => judged.body_ended(frame.trailers_ref()),
            Some(Ok(_)) if !this.inner.is_end_stream() => {}
            Some(Err(_)) => judged.ended(Outcome::Exception),
            Some(Ok(_)) | None => judged.body_ended(this.web.end().as_ref()),
        }
        if !judged.is_open() {
            *this.judged = None;
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

/// Returns an empty body, for a request that is judged by nothing.
impl<B: Default, O: BreakerOwner, K> Default for BreakerBody<B, O, K> {
    fn default() -> BreakerBody<B, O, K> {
        BreakerBody { inner: B::default(), judged: None, web: WebTrailers::default() }
    }
}

impl<B, O: BreakerOwner, K> Debug for BreakerBody<B, O, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerBody")
            .field("is_judged", &self.judged.is_none())
            .finish_non_exhaustive()
    }
}
