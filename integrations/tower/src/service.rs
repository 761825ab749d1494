//! A service whose requests are counted.

use std::fmt::{self, Debug, Formatter};
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::body::ResponseBody;
use crate::classify::Classify;
use crate::future::ResponseFuture;
use crate::layer::MetricsLayer;

/// A service whose requests are counted: from a [`MetricsLayer`].
#[derive(Clone, Copy)]
pub struct MetricsService<S, R, K> {
    inner: S,
    layer: MetricsLayer<R, K>,
}

impl<S, R, K> MetricsService<S, R, K> {
    pub(crate) fn new(inner: S, layer: MetricsLayer<R, K>) -> MetricsService<S, R, K> {
        MetricsService { inner, layer }
    }
}

impl<S, R, K, A, B> Service<Request<A>> for MetricsService<S, R, K>
where
    S: Service<Request<A>, Response = Response<B>>,
    R: Fn(&Parts) -> Option<&str>,
    K: Classify + Clone,
    B: Body,
{
    type Response = Response<ResponseBody<B, K>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, K>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> ResponseFuture<S::Future, K> {
        let (parts, body) = request.into_parts();
        let mut flight = self.layer.begin(&parts);
        let request = Request::from_parts(parts, body);
        let response = flight.run(|| self.inner.call(request));
        ResponseFuture::new(response, flight, self.layer.classifier())
    }
}

impl<S: Debug, R, K> Debug for MetricsService<S, R, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
