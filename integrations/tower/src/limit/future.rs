//! The future of a service whose requests are rate-limited.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::at_turn::{AtTurn, Told};
use crate::decision::{Decision, Verdict};
use crate::limit::fields::Fields;
use crate::refusal::Reason;
use crate::refused::Refused;
use crate::turn::sealed::Holds;

pin_project! {
    /// The future of [`LimitService`](crate::LimitService) and [`PaceService`](crate::PaceService).
    pub struct LimitFuture<S: Service<Request<A>>, A, Z> {
        #[pin]
        state: State<S, A, Z>,
        // Of the response to an admitted request.
        fields: Option<Box<Fields>>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<S: Service<Request<A>>, A, Z> {
        Refused {
            #[pin]
            refused: Refused<A>,
        },
        Waiting {
            #[pin]
            sleep: Z,
            // `None` once the wait is over.
            held: Option<(S, Request<A>)>,
            discarded: u64,
        },
        Running {
            #[pin]
            response: S::Future,
        },
    }
}

impl<S, A, Z, H> LimitFuture<S, A, AtTurn<Z, H>>
where
    S: Service<Request<A>> + Clone,
    A: Body,
    H: Holds,
{
    /// Returns the future of a request, by the decision about it: calls the service, which was
    /// polled for readiness, or takes it along to the end of the wait. Of the body of a refused
    /// request, `discarded` bytes are read.
    pub(crate) fn by(
        decision: Decision<H>,
        inner: &mut S,
        request: Request<A>,
        sleep: impl FnOnce(Duration) -> Z,
        discarded: u64,
    ) -> Self {
        let Decision { verdict, fields } = decision;
        let state = match verdict {
            Verdict::Refused(retry_after) => {
                let reason = Reason::Limit(retry_after);
                let refused = Refused::new(request, reason, fields, discarded);
                return LimitFuture { state: State::Refused { refused }, fields: None };
            }
            Verdict::Now => State::Running { response: inner.call(request) },
            Verdict::After(wait, turn) => {
                State::waiting(AtTurn::new(sleep(wait), turn), inner, request, discarded)
            }
            Verdict::Asks(asked) => {
                State::waiting(AtTurn::asking(asked), inner, request, discarded)
            }
        };
        LimitFuture { state, fields: fields.map(Box::new) }
    }
}

impl<S: Service<Request<A>> + Clone, A, Z> State<S, A, Z> {
    fn waiting(sleep: Z, inner: &mut S, request: Request<A>, discarded: u64) -> State<S, A, Z> {
        // The clone may not be ready.
        let later = inner.clone();
        let held = Some((mem::replace(inner, later), request));
        State::Waiting { sleep, held, discarded }
    }
}

impl<S, A, Z, B> Future for LimitFuture<S, A, Z>
where
    S: Service<Request<A>, Response = Response<B>>,
    A: Body,
    Z: Future<Output = Told>,
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
                Projected::Waiting { sleep, held, discarded } => {
                    let told = ready!(sleep.poll(context));
                    let (mut service, request) = held.take().expect("it was not called yet");
                    match told.verdict {
                        Ok(()) => {
                            *fields = told.fields.map(Box::new).or(fields.take());
                            State::Running { response: service.call(request) }
                        }
                        Err(retry_after) => {
                            let reason = Reason::Limit(retry_after);
                            let refused = Refused::new(request, reason, told.fields, *discarded);
                            State::Refused { refused }
                        }
                    }
                }
            };
            state.set(next);
        }
    }
}

impl<S: Service<Request<A>>, A, Z> Debug for LimitFuture<S, A, Z> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Refused { .. } => "refused",
            State::Waiting { .. } => "waiting",
            State::Running { .. } => "running",
        };
        f.debug_tuple("LimitFuture").field(&state).finish()
    }
}
