//! The future of a service whose requests are rate-limited.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::decision::{Asked, Decision, Holds, Told, Turn};
use crate::limit::Fields;
use crate::refusal::Reason;
use crate::refused::Refused;

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
            asked: Box<Asked<H>>,
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

impl<S: Service<Request<A>> + Clone, A: Body, Z, H: Holds> LimitFuture<S, A, Z, H> {
    /// Returns the future of a request, by the decision about it: calls the service, which was
    /// polled for readiness, or takes it along to the end of the wait. Of the body of a refused
    /// request, `discarded` bytes are read.
    pub(super) fn by(
        decision: Decision<H>,
        inner: &mut S,
        request: Request<A>,
        sleep: impl FnOnce(Duration) -> Z,
        discarded: u64,
    ) -> Self {
        let (state, fields) = match decision {
            Decision::Refused(told) => (State::refused(request, told, discarded), None),
            Decision::Now(told) => (State::Running { response: inner.call(request) }, told.fields),
            Decision::After(wait, turn, told) => {
                let held = Some((take(inner), request));
                (State::Waiting { sleep: sleep(wait), turn, held }, told.fields)
            }
            Decision::Asks(asked) => {
                let held = Some((take(inner), request));
                (State::Asking { asked, held, discarded }, None)
            }
        };
        LimitFuture { state, fields: fields.map(Box::new) }
    }
}

/// Takes the service that is ready. The clone in its place may not be.
fn take<S: Clone>(inner: &mut S) -> S {
    let later = inner.clone();
    mem::replace(inner, later)
}

impl<S: Service<Request<A>>, A: Body, Z, H: Holds> State<S, A, Z, H> {
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
                    turn.keep();
                    let (mut service, request) = held.take().expect("it was not called yet");
                    State::Running { response: service.call(request) }
                }
                Projected::Asking { asked, held, discarded } => {
                    let answer = ready!(asked.poll(context));
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
