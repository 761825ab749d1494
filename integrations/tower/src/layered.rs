//! A service within a layer.

use std::task::{Context, Poll};

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::body::ResponseBody;
use crate::follower::Follower;
use crate::future::ResponseFuture;
use crate::refusal::Reason;
use crate::refused::{MaybeRefused, Refused};

/// A service within one of the layers.
#[derive(Clone, Copy, Debug)]
pub struct Layered<S, Y> {
    pub(crate) inner: S,
    pub(crate) layer: Y,
}

/// A layer that refuses a request at once, or lets it through.
pub trait Admits {
    /// The follower of a request until its response has ended.
    type Kept: Follower;

    /// Decides about a request. Of one that the layer has no say in, nothing is kept.
    fn admit(&self, parts: &Parts) -> Result<Option<Self::Kept>, Reason>;

    /// Returns the bound on the bytes that are read of a refused request's body.
    fn discarded(&self) -> u64;
}

impl<S, Y, A, B> Service<Request<A>> for Layered<S, Y>
where
    S: Service<Request<A>, Response = Response<B>>,
    Y: Admits,
    A: Body,
    B: Body + Default,
{
    type Response = Response<ResponseBody<B, Y::Kept>>;
    type Error = S::Error;
    type Future = MaybeRefused<ResponseFuture<S::Future, Y::Kept>, A>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let admitted = self.layer.admit(&parts);
        let request = Request::from_parts(parts, body);
        match admitted {
            Err(reason) => Refused::new(request, reason, None, self.layer.discarded()).into(),
            // The follower is dropped if the service panics.
            Ok(kept) => {
                let response = ResponseFuture::call(|| self.inner.call(request), kept);
                MaybeRefused::Running { response }
            }
        }
    }
}
