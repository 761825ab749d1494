//! A service whose requests have a pace.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use tower_service::Service;

use crate::limit::LimitFuture;
use crate::pace::layer::PaceLayer;
use crate::pace::turn::{AtTurn, RequestPace};
use crate::refusal::{Reason, Refusal};

/// A service whose requests have a pace: from a [`PaceLayer`].
///
/// The service must be `Clone`: a request that waits takes the ready one with it.
#[derive(Clone)]
pub struct PaceService<S, Y> {
    inner: S,
    layer: Y,
}

impl<S, Y> PaceService<S, Y> {
    pub(super) fn new(inner: S, layer: Y) -> PaceService<S, Y> {
        PaceService { inner, layer }
    }
}

impl<S, P, F, W, T, Z, A, B> Service<Request<A>> for PaceService<S, PaceLayer<P, F, W, T>>
where
    S: Service<Request<A>, Response = Response<B>> + Clone,
    P: RequestPace,
    F: Fn(&Parts) -> Option<P>,
    W: Fn(&Parts) -> u64,
    T: Fn(Duration) -> Z,
    Z: Future<Output = ()>,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = LimitFuture<S, Request<A>, AtTurn<Z, P::Clock>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let (turn, fields) = self.layer.reserve(&parts);
        let turn = match turn.transpose() {
            Ok(turn) => turn,
            Err(refused) => {
                let refusal = Refusal::new(Reason::Limit(refused.retry_after), &parts);
                return LimitFuture::refused(refusal.with(fields));
            }
        };
        let request = Request::from_parts(parts, body);
        match turn.filter(|turn| !turn.wait().is_zero()) {
            Some(turn) => {
                // The clone may not be ready; this service was polled for readiness.
                let later = self.inner.clone();
                let ready = mem::replace(&mut self.inner, later);
                let sleep = AtTurn::new(self.layer.sleep(turn.wait()), turn);
                LimitFuture::waiting(sleep, ready, request).with(fields)
            }
            // (A turn that has come is not given back by its drop.)
            None => LimitFuture::running(self.inner.call(request)).with(fields),
        }
    }
}

impl<S: Debug, Y: Debug> Debug for PaceService<S, Y> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaceService")
            .field("inner", &self.inner)
            .field("layer", &self.layer)
            .finish()
    }
}
