//! A service within a layer, and the layers that refuse a request at once, or let it through.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::refusal::{Reason, Refused};
use crate::response::{Follower, ResponseBody, ResponseFuture};

/// A service within one of the layers.
#[derive(Clone, Copy, Debug)]
pub struct Layered<S, Y> {
    pub(crate) inner: S,
    pub(crate) layer: Y,
}

/// A layer that refuses a request at once, or lets it through: a [`RoomLayer`](crate::RoomLayer) or
/// a [`BreakerLayer`](crate::BreakerLayer).
#[derive(Clone, Copy)]
#[must_use = "a layer does nothing before a service has it"]
pub struct AdmissionLayer<Y> {
    pub(crate) asked: Y,
    pub(crate) discarded: u64,
}

/// The part of the layer that decides. The trait is sealed.
pub trait Admits {
    /// The follower of a request until its response has ended.
    type Kept: Follower;

    /// Decides about a request. Of one that the layer has no say in, nothing is kept.
    fn admit(&self, parts: &Parts) -> Result<Option<Self::Kept>, Reason>;
}

impl<Y> AdmissionLayer<Y> {
    /// Returns the layer with another bound on the bytes that it reads of a refused request's body,
    /// and discards: see [`LimitLayer::discard`](crate::LimitLayer::discard). By default it is
    /// 65 536 for rooms, and 0 for breakers: around a client a refusal must not wait for a body.
    /// Around a route, set it.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::Settings, labels};
    /// use windrow_tower::{BreakerLayer, RoomLayer, Rooms};
    ///
    /// labels! { pub struct Client { client: u32 } }
    ///
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 5);
    /// static PAYMENTS: Breaker = Breaker::of(Settings::last_calls(100));
    ///
    /// let room = RoomLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let room = room.discard(1_000_000); // for uploads
    /// let breaker = BreakerLayer::new(|_| Some(&PAYMENTS));
    /// let breaker = breaker.discard(65_536); // in front of a handler
    /// # let _ = tower_layer::Layer::layer(&breaker, tower_layer::Layer::layer(&room, ()));
    /// ```
    pub fn discard(self, bytes: u64) -> AdmissionLayer<Y> {
        AdmissionLayer { discarded: bytes, ..self }
    }
}

impl<S, Y: Clone> Layer<S> for AdmissionLayer<Y> {
    type Service = Layered<S, AdmissionLayer<Y>>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered { inner, layer: self.clone() }
    }
}

impl<S, Y, A, B> Service<Request<A>> for Layered<S, AdmissionLayer<Y>>
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
        let AdmissionLayer { asked, discarded } = &self.layer;
        let (parts, body) = request.into_parts();
        let admitted = asked.admit(&parts);
        let request = Request::from_parts(parts, body);
        match admitted {
            Err(reason) => {
                let refused = Refused::new(request, reason, None, *discarded);
                MaybeRefused::Refused { refused }
            }
            // The follower is dropped if the service panics.
            Ok(kept) => {
                let response = ResponseFuture::call(|| self.inner.call(request), kept);
                MaybeRefused::Running { response }
            }
        }
    }
}

pin_project! {
    /// The future of a request that may be refused.
    #[project = Projected]
    pub enum MaybeRefused<F, A> {
        Refused {
            #[pin]
            refused: Refused<A>,
        },
        Running {
            #[pin]
            response: F,
        },
    }
}

impl<F, A, B, E> Future for MaybeRefused<F, A>
where
    F: Future<Output = Result<Response<B>, E>>,
    A: Body,
    B: Default,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            Projected::Refused { refused } => refused.poll(context).map(Ok),
            Projected::Running { response } => response.poll(context),
        }
    }
}
