//! The rate-limiting layer, by a limiter for each key or by a pace in a static; and its service.

mod asked;

use std::future::{self, Ready};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::cap::Cap;
use crate::decision::{Asked, Decision, Holds, Terms, Told, Turn};
use crate::layered::Layered;
use crate::limit::{Fields, LimitFields};
use crate::refusal::{DISCARDED, Reason, Refused};

pub use asked::{LimitLayer, PaceLayer};

/// A rate-limiting layer: a [`LimitLayer`], with a limit for each key, or a [`PaceLayer`].
///
/// The service within it must be `Clone`: a request that waits takes the ready one with it.
#[derive(Clone)]
#[must_use = "a layer does nothing before a service has it"]
pub struct RateLayer<Q, W = fn(&Parts) -> u64, T = fn(Duration) -> Ready<()>> {
    asked: Q,
    weight: W,
    sleep: T,
    terms: Terms,
    discarded: u64,
}

/// The limiters that a rate-limiting layer asks. The trait is sealed.
pub trait Asks {
    type Held: Holds;

    /// Decides about a request.
    fn decide(
        &self,
        parts: &Parts,
        weight: impl FnOnce(&Parts) -> u64,
        terms: Terms,
    ) -> Decision<Self::Held>;
}

impl<Q> RateLayer<Q> {
    fn of(asked: Q) -> RateLayer<Q> {
        let (terms, discarded) = (Terms::default(), DISCARDED);
        RateLayer { asked, weight: |_| 1, sleep: |_| future::ready(()), terms, discarded }
    }
}

impl<Q, W, T> RateLayer<Q, W, T> {
    /// Returns the layer with weights: the units of the limit, or the periods of a pace, that each
    /// request takes; 1 by default.
    ///
    /// A weight of zero is always granted, and a weight beyond the limit or the burst never. For
    /// weights as settings, see [`Limits::weight`](crate::Limits::weight).
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.weight(|parts| if parts.uri.path() == "/report" { 20 } else { 1 });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn weight<W2: Fn(&Parts) -> u64>(self, weight: W2) -> RateLayer<Q, W2, T> {
        let RateLayer { asked, sleep, terms, discarded, .. } = self;
        RateLayer { asked, weight, sleep, terms, discarded }
    }

    /// Returns the layer with waiting: a request may wait for its turn, up to `max_wait`. `sleep`
    /// is the sleep function of your runtime.
    ///
    /// No wait is longer than the gate's interval, nor than the key's [rate](crate::Rate::max_wait)
    /// allows, if there are rules. Later requests wait behind earlier ones. A request that waits
    /// holds the service that was ready for it, with its reservations: a permit of a limit behind
    /// it, for example.
    ///
    /// With gates, a request whose client goes away while it waits still counts. So `max_wait`
    /// should be below the patience of the clients: otherwise, under overload, the gate grants most
    /// of its limit to requests that are gone. [Paces](crate::PaceLimits) pass their turns on, and
    /// know no longest wait of their own; several limits have
    /// [one](windrow::pace::PacesBuilder::max_wait).
    ///
    /// ```
    /// use std::time::Duration;
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.wait(Duration::from_millis(300), tokio::time::sleep);
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn wait<T2: Fn(Duration) -> Z, Z: Future<Output = ()>>(
        self,
        max_wait: Duration,
        sleep: T2,
    ) -> RateLayer<Q, W, T2> {
        let RateLayer { asked, weight, terms, discarded, .. } = self;
        RateLayer { asked, weight, sleep, terms: Terms { max_wait, ..terms }, discarded }
    }

    /// Returns the layer with the header fields `RateLimit-Policy` and `RateLimit`: see
    /// [`LimitFields`]. By default, no fields but `Retry-After` are written.
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitFields, LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.fields(LimitFields::new("client"));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn fields(mut self, fields: LimitFields) -> RateLayer<Q, W, T> {
        self.terms.fields = Some(fields);
        self
    }

    /// Returns the layer with another bound on the bytes that it reads of a refused request's body,
    /// and discards; 65 536 by default, and none with 0.
    ///
    /// A client of HTTP/1.1 that is still sending would otherwise find its connection broken, and
    /// not see the answer. Reading lasts as long as the client takes to send, so give the server a
    /// timeout of requests. Of a longer body no more is read, and nothing of one in HTTP/2, nor of
    /// one whose client waits for `100 Continue`. Around a client that sends streams, give it 0.
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.discard(1_000_000); // for uploads
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn discard(self, bytes: u64) -> RateLayer<Q, W, T> {
        RateLayer { discarded: bytes, ..self }
    }

    /// Returns the layer with a cap: refused clients are told to come back within `longest`,
    /// rounded up to whole seconds for HTTP. By default there is no cap.
    ///
    /// Some clients give up when they are told a long time, or come back before it. A time beyond
    /// the cap is moved into its upper half, so that clients that would have come back apart still
    /// do. They are too early: as a rule each is refused again, once in every half to whole cap,
    /// and stands behind those that were refused meanwhile. Then it is chance, and not the line,
    /// which of them is admitted. So the cap should be above the waits that a limit has in ordinary
    /// times; where the order counts, let requests [wait](Self::wait) here.
    ///
    /// # Panics
    ///
    /// If `longest` is zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.max_retry_after(Duration::from_secs(60));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn max_retry_after(mut self, longest: Duration) -> RateLayer<Q, W, T> {
        self.terms.cap = Cap::of(longest);
        self
    }
}

impl<S, Q: Clone, W: Clone, T: Clone> Layer<S> for RateLayer<Q, W, T> {
    type Service = Layered<S, RateLayer<Q, W, T>>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered { inner, layer: self.clone() }
    }
}

impl<S, Q, W, T, Z, A, B> Service<Request<A>> for Layered<S, RateLayer<Q, W, T>>
where
    S: Service<Request<A>, Response = Response<B>> + Clone,
    Q: Asks,
    W: Fn(&Parts) -> u64,
    T: Fn(Duration) -> Z,
    Z: Future<Output = ()>,
    A: Body,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = LimitFuture<S, A, Z, Q::Held>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let RateLayer { asked, weight, sleep, terms, discarded } = &self.layer;
        let (parts, body) = request.into_parts();
        let decision = asked.decide(&parts, weight, *terms);
        let request = Request::from_parts(parts, body);
        let inner = &mut self.inner;
        let (state, fields) = match decision {
            Decision::Refused(told) => (State::refused(request, told, *discarded), None),
            Decision::Now(told) => (State::Running { response: inner.call(request) }, told.fields),
            // The service, which was polled for readiness, is taken along to the end of the wait.
            Decision::After(wait, turn, told) => {
                let held = Some((take(inner), request));
                (State::Waiting { sleep: sleep(wait), turn, held }, told.fields)
            }
            Decision::Asks(asked) => {
                let held = Some((take(inner), request));
                (State::Asking { asked, held, discarded: *discarded }, None)
            }
        };
        LimitFuture { state, fields: fields.map(Box::new) }
    }
}

pin_project! {
    /// The future of the service in a [`RateLayer`](crate::RateLayer). If it is dropped while it
    /// waits, a turn of a pace is given back, or goes to the next request.
    pub struct LimitFuture<S: Service<Request<A>>, A, Z, H: Holds> {
        #[pin]
        state: State<S, A, Z, H>,
        // Of the response to an admitted request.
        fields: Option<Box<Fields>>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<S: Service<Request<A>>, A, Z, H: Holds> {
        Refused {
            #[pin]
            refused: Refused<A>,
        },
        Waiting {
            #[pin]
            sleep: Z,
            turn: Turn<H>,
            // `None` once the wait is over.
            held: Option<(S, Request<A>)>,
        },
        Asking {
            asked: Asked,
            // `None` once it is answered.
            held: Option<(S, Request<A>)>,
            discarded: u64,
        },
        Running {
            #[pin]
            response: S::Future,
        },
    }
}

/// Takes the service that is ready. The clone in its place may not be.
fn take<S: Clone>(inner: &mut S) -> S {
    let later = inner.clone();
    mem::replace(inner, later)
}

impl<S: Service<Request<A>>, A: Body, Z, H: Holds> State<S, A, Z, H> {
    /// Begins to read up to `discarded` bytes of a refused request's body.
    fn refused(request: Request<A>, told: Told, discarded: u64) -> State<S, A, Z, H> {
        let reason = Reason::Limit(told.retry_after);
        State::Refused { refused: Refused::new(request, reason, told.fields, discarded) }
    }
}

impl<S, A, Z, H, B> Future for LimitFuture<S, A, Z, H>
where
    S: Service<Request<A>, Response = Response<B>>,
    A: Body,
    Z: Future<Output = ()>,
    H: Holds,
    B: Default,
{
    type Output = Result<Response<B>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut state, fields) = (this.state, this.fields);
        loop {
            let next = match state.as_mut().project() {
                Projected::Refused { refused } => return refused.poll(context).map(Ok),
                Projected::Running { response } => {
                    let mut response = ready!(response.poll(context))?;
                    if let Some(fields) = fields.take() {
                        fields.write(response.headers_mut());
                    }
                    return Poll::Ready(Ok(response));
                }
                Projected::Waiting { sleep, turn, held } => {
                    ready!(sleep.poll(context));
                    turn.grant = None; // it is kept
                    let (mut service, request) = held.take().expect("it was not called yet");
                    State::Running { response: service.call(request) }
                }
                Projected::Asking { asked, held, discarded } => {
                    let answer = ready!(asked.as_mut().poll(context));
                    let (mut service, request) = held.take().expect("it was not called yet");
                    match answer {
                        Ok(told) => {
                            *fields = told.fields.map(Box::new);
                            State::Running { response: service.call(request) }
                        }
                        Err(told) => State::refused(request, told, *discarded),
                    }
                }
            };
            state.set(next);
        }
    }
}
