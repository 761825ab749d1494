//! The response to a request that is followed, until it has ended.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::classify::{ByStatus, Classify, Outcome};
use crate::grpc_web::Frames;
use crate::refusal::Blocked;

/// A follower of a request: it is told what becomes of the request, and is dropped at its end. By
/// default, the outcome is of no interest to it. It is sealed.
pub trait Follower {
    /// Returns the classification of responses.
    fn classify(&self) -> &impl Classify {
        &ByStatus
    }

    /// Returns whether the outcome of the request is of interest, and still unknown.
    fn is_open(&self) -> bool {
        false
    }

    /// Takes the outcome. After another one, it can only become an exception.
    fn end(&mut self, _: Outcome) {}

    /// Notes an answer or an error of the service, but no refusal by a limit behind the layer.
    fn served(&mut self) {}

    /// Notes the head of the response; or, without one, an error of the service.
    fn answered<B>(&mut self, response: Option<&Response<B>>) {
        let outcome = match response {
            Some(it) if it.extensions().get::<Blocked>().is_some() => Some(Outcome::Refused),
            Some(response) => {
                self.served();
                self.classify().by_head(response.status(), response.headers())
            }
            None => {
                self.served();
                Some(Outcome::Exception)
            }
        };
        if let Some(outcome) = outcome {
            self.end(outcome);
        }
    }

    /// Notes the end of the body, with its trailers if there are any.
    fn ended(&mut self, trailers: Option<&HeaderMap>) {
        if self.is_open() {
            let outcome = self.classify().by_end(trailers);
            self.end(outcome);
        }
    }
}

/// Runs code of the service. A panic of it is an exception.
pub(crate) fn run<F: Follower, T>(follower: &mut F, service: impl FnOnce() -> T) -> T {
    struct Inside<'f, F: Follower>(&'f mut F);

    impl<F: Follower> Drop for Inside<'_, F> {
        fn drop(&mut self) {
            self.0.end(Outcome::Exception);
        }
    }

    let inside = Inside(follower);
    let result = service();
    mem::forget(inside); // it did not panic
    result
}

pin_project! {
    /// The future of a response with a [`ResponseBody`].
    pub struct ResponseFuture<S, F> {
        #[pin]
        inner: S,
        // `None` if the request is not followed, and once the future is ready.
        follower: Option<F>,
    }
}

impl<S, F: Follower> ResponseFuture<S, F> {
    /// Calls the service.
    pub(crate) fn call(service: impl FnOnce() -> S, mut follower: Option<F>) -> Self {
        let inner = match &mut follower {
            Some(follower) => run(follower, service),
            None => service(),
        };
        ResponseFuture { inner, follower }
    }
}

impl<S, B, E, F> Future for ResponseFuture<S, F>
where
    S: Future<Output = Result<Response<B>, E>>,
    B: Body,
    F: Follower,
{
    type Output = Result<Response<ResponseBody<B, F>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(match this.follower {
            Some(follower) => run(follower, || this.inner.poll(context)),
            None => this.inner.poll(context),
        });
        let mut follower = this.follower.take();
        if let Some(follower) = &mut follower {
            follower.answered(result.as_ref().ok());
        }
        Poll::Ready(result.map(|response| ResponseBody::within(response, follower)))
    }
}

pin_project! {
    /// A response body of [`MetricsLayer`](crate::MetricsLayer), [`RoomLayer`](crate::RoomLayer) or
    /// [`BreakerLayer`](crate::BreakerLayer): the service's own, frame by frame. The request is in
    /// flight, or keeps its place, until the body has ended or is dropped.
    pub struct ResponseBody<B, F> {
        #[pin]
        inner: B,
        // `None` once the body has ended.
        follower: Option<F>,
        // Of gRPC-Web, while the outcome is unknown.
        web: Option<Box<Frames>>,
    }
}

impl<B: Body, F: Follower> ResponseBody<B, F> {
    /// Returns a response with its body followed.
    pub(crate) fn within(response: Response<B>, follower: Option<F>) -> Response<Self> {
        let (parts, inner) = response.into_parts();
        let is_open = follower.as_ref().is_some_and(F::is_open);
        let web = if is_open { Frames::of(&parts.headers) } else { None };
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
        if let (Some(web), Some(Ok(frame))) = (this.web.as_mut(), &polled)
            && let Some(data) = frame.data_ref()
        {
            web.look(data);
        }
        match &polled {
            Some(Ok(frame)) if frame.is_trailers() => follower.ended(frame.trailers_ref()),
            Some(Ok(_)) if !this.inner.is_end_stream() => return Poll::Ready(polled),
            Some(Ok(_)) | None => {
                follower.ended(this.web.as_ref().and_then(|web| web.end()).as_ref());
            }
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
        ResponseBody { inner: B::default(), follower: None, web: None }
    }
}

impl<B, F> Debug for ResponseBody<B, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("has_ended", &self.follower.is_none())
            .finish_non_exhaustive()
    }
}
