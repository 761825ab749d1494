//! The future of a request that is followed.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;

use crate::body::ResponseBody;
use crate::follower::{Follower, run};

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
