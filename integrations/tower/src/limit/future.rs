//! The future of a service whose requests are rate-limited.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::limit::fields::Fields;
use crate::refusal::Refusal;

pin_project! {
    /// The future of [`LimitService`](crate::LimitService) and [`PaceService`](crate::PaceService).
    pub struct LimitFuture<S: Service<A>, A, Z> {
        #[pin]
        state: State<S, A, Z>,
        // Of the response to an admitted request.
        fields: Option<Box<Fields>>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<S: Service<A>, A, Z> {
        Refused { refusal: Refusal },
        Waiting {
            #[pin]
            sleep: Z,
            // `None` once the wait is over.
            held: Option<(S, A)>,
        },
        Running {
            #[pin]
            response: S::Future,
        },
    }
}

impl<S: Service<A>, A, Z> LimitFuture<S, A, Z> {
    pub(crate) fn refused(refusal: Refusal) -> LimitFuture<S, A, Z> {
        LimitFuture { state: State::Refused { refusal }, fields: None }
    }

    pub(crate) fn waiting(sleep: Z, service: S, request: A) -> LimitFuture<S, A, Z> {
        let held = Some((service, request));
        LimitFuture { state: State::Waiting { sleep, held }, fields: None }
    }

    pub(crate) fn running(response: S::Future) -> LimitFuture<S, A, Z> {
        LimitFuture { state: State::Running { response }, fields: None }
    }

    /// Returns the future with fields for the response to an admitted request.
    pub(crate) fn with(self, fields: Option<Fields>) -> LimitFuture<S, A, Z> {
        LimitFuture { fields: fields.map(Box::new), ..self }
    }
}

impl<S, A, Z, B> Future for LimitFuture<S, A, Z>
where
    S: Service<A, Response = Response<B>>,
    Z: Future<Output = ()>,
    B: Default,
{
    type Output = Result<Response<B>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut state, fields) = (this.state, this.fields);
        loop {
            let response = match state.as_mut().project() {
                Projected::Refused { refusal } => {
                    return Poll::Ready(Ok(refusal.response()));
                }
                Projected::Running { response } => {
                    let mut response = ready!(response.poll(context))?;
                    if let Some(fields) = fields.take() {
                        fields.write(response.headers_mut());
                    }
                    return Poll::Ready(Ok(response));
                }
                Projected::Waiting { sleep, held } => {
                    ready!(sleep.poll(context));
                    let (mut service, request) = held.take().expect("it was not called yet");
                    service.call(request)
                }
            };
            state.set(State::Running { response });
        }
    }
}

impl<S: Service<A>, A, Z> Debug for LimitFuture<S, A, Z> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Refused { .. } => "refused",
            State::Waiting { .. } => "waiting",
            State::Running { .. } => "running",
        };
        f.debug_tuple("LimitFuture").field(&state).finish()
    }
}
