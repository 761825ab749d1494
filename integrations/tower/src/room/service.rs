//! A service with a concurrency limit.

use std::fmt::{self, Debug, Formatter};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;
use windrow::labels::Labels;

use crate::key::RequestKey;
use crate::refusal::{Reason, Refusal};
use crate::room::body::RoomBody;
use crate::room::future::RoomFuture;
use crate::room::layer::RoomLayer;

/// A service with a concurrency limit: from a [`RoomLayer`].
#[derive(Clone)]
pub struct RoomService<S, Y> {
    inner: S,
    layer: Y,
}

impl<S, Y> RoomService<S, Y> {
    pub(super) fn new(inner: S, layer: Y) -> RoomService<S, Y> {
        RoomService { inner, layer }
    }
}

impl<S, L, K, A, B> Service<Request<A>> for RoomService<S, RoomLayer<L, K>>
where
    S: Service<Request<A>, Response = Response<B>>,
    L: Labels,
    K: RequestKey<L>,
    B: Body + Default,
{
    type Response = Response<RoomBody<B, L>>;
    type Error = S::Error;
    type Future = RoomFuture<S::Future, L>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        match self.layer.enter(&parts) {
            Err(_) => RoomFuture::refused(Refusal::new(Reason::Full, &parts)),
            // The place is dropped if the service panics.
            Ok(place) => {
                RoomFuture::running(self.inner.call(Request::from_parts(parts, body)), place)
            }
        }
    }
}

impl<S: Debug, Y: Debug> Debug for RoomService<S, Y> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomService")
            .field("inner", &self.inner)
            .field("layer", &self.layer)
            .finish()
    }
}
