//! The future of a counted request.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;

use crate::body::ResponseBody;
use crate::classify::{Classify, Outcome};
use crate::flight::Flight;
use crate::refusal::Blocked;

pin_project! {
    /// The future of [`MetricsService`](crate::MetricsService).
    pub struct ResponseFuture<F, K> {
        #[pin]
        inner: F,
        // `None` once the future is ready.
        flight: Option<(Flight, K)>,
    }
}

impl<F, K> ResponseFuture<F, K> {
    pub(crate) fn new(inner: F, flight: Flight, classify: K) -> ResponseFuture<F, K> {
        ResponseFuture { inner, flight: Some((flight, classify)) }
    }
}

impl<F, B, E, K> Future for ResponseFuture<F, K>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    K: Classify,
{
    type Output = Result<Response<ResponseBody<B, K>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (flight, _) = this.flight.as_mut().expect("a future is not polled once it is ready");
        let result = ready!(flight.run(|| this.inner.poll(context)));
        let (mut flight, classify) = this.flight.take().expect("it is taken only here");
        Poll::Ready(match result {
            Ok(response) if response.extensions().get::<Blocked>().is_some() => {
                flight.blocked();
                Ok(with_flight(response, flight, classify))
            }
            Ok(response) => {
                flight.answered();
                if let Some(outcome) = classify.by_head(response.status(), response.headers()) {
                    flight.ended(outcome);
                }
                Ok(with_flight(response, flight, classify))
            }
            Err(error) => {
                flight.answered();
                flight.ended(Outcome::Exception);
                Err(error)
            }
        })
    }
}

/// Returns the response with a body whose end is that of the flight.
fn with_flight<B: Body, K: Classify>(
    response: Response<B>,
    flight: Flight,
    classify: K,
) -> Response<ResponseBody<B, K>> {
    let (parts, body) = response.into_parts();
    let body = ResponseBody::new(body, &parts.headers, flight, classify);
    Response::from_parts(parts, body)
}

impl<F, K> Debug for ResponseFuture<F, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture")
            .field("is_ready", &self.flight.is_none())
            .finish_non_exhaustive()
    }
}
