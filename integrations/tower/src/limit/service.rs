//! A service whose requests are rate-limited.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use tower_service::Service;
use windrow::{Clock, gate::Admission, labels::Labels};

use crate::key::RequestKey;
use crate::limit::future::LimitFuture;
use crate::limit::layer::LimitLayer;
use crate::refusal::{Reason, Refusal};

/// A service whose requests are rate-limited: from a [`LimitLayer`].
///
/// The service must be `Clone`: a request that waits takes the ready one with it.
#[derive(Clone)]
pub struct LimitService<S, Y> {
    inner: S,
    layer: Y,
}

impl<S, Y> LimitService<S, Y> {
    pub(super) fn new(inner: S, layer: Y) -> LimitService<S, Y> {
        LimitService { inner, layer }
    }
}

impl<S, L, K, W, T, Z, C, A, B> Service<Request<A>> for LimitService<S, LimitLayer<L, K, W, T, C>>
where
    S: Service<Request<A>, Response = Response<B>> + Clone,
    L: Labels,
    K: RequestKey<L>,
    W: Fn(&Parts) -> u64,
    T: Fn(Duration) -> Z,
    Z: Future<Output = ()>,
    C: Clock + Send + Sync + 'static,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = LimitFuture<S, Request<A>, Z>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let admission = self.layer.admit(&parts);
        let fields = self.layer.fields_of(&parts, admission);
        match admission {
            Admission::Refused { retry_after } => {
                let refusal = Refusal::new(Reason::Limit(retry_after), &parts);
                LimitFuture::refused(refusal.with(fields))
            }
            Admission::After(wait) => {
                // The clone may not be ready; this service was polled for readiness.
                let later = self.inner.clone();
                let ready = mem::replace(&mut self.inner, later);
                let request = Request::from_parts(parts, body);
                LimitFuture::waiting(self.layer.sleep(wait), ready, request).with(fields)
            }
            Admission::Now => {
                let response = self.inner.call(Request::from_parts(parts, body));
                LimitFuture::running(response).with(fields)
            }
        }
    }
}

impl<S: Debug, Y: Debug> Debug for LimitService<S, Y> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitService")
            .field("inner", &self.inner)
            .field("layer", &self.layer)
            .finish()
    }
}
