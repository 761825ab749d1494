//! The future of a service with a breaker.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;
use windrow::breaker::BreakerOwner;

use crate::breaker::body::BreakerBody;
use crate::breaker::judged::Judged;
use crate::classify::{Classify, Outcome};
use crate::refusal::Refusal;

pin_project! {
    /// The future of [`BreakerService`](crate::BreakerService).
    pub struct BreakerFuture<F, O: BreakerOwner, K> {
        #[pin]
        state: State<F>,
        // `None` if the request has no breaker, and once there is a response.
        judged: Option<Judged<O, K>>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<F> {
        Refused { refusal: Refusal },
        Running {
            #[pin]
            response: F,
        },
    }
}

impl<F, O: BreakerOwner, K> BreakerFuture<F, O, K> {
    pub(super) fn refused(refusal: Refusal) -> BreakerFuture<F, O, K> {
        BreakerFuture { state: State::Refused { refusal }, judged: None }
    }

    pub(super) fn running(response: F, judged: Option<Judged<O, K>>) -> BreakerFuture<F, O, K> {
        BreakerFuture { state: State::Running { response }, judged }
    }
}

impl<F, O, K, B, E> Future for BreakerFuture<F, O, K>
where
    F: Future<Output = Result<Response<B>, E>>,
    O: BreakerOwner,
    K: Classify,
    B: Body + Default,
{
    type Output = Result<Response<BreakerBody<B, O, K>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = match this.state.project() {
            Projected::Refused { refusal } => Ok(refusal.response()),
            Projected::Running { response } => match this.judged {
                Some(judged) => ready!(judged.run(|| response.poll(context))),
                None => ready!(response.poll(context)),
            },
        };
        let mut judged = this.judged.take();
        match (&result, &mut judged) {
            (Ok(response), Some(judged)) => judged.answered(response),
            (Err(_), Some(judged)) => judged.ended(Outcome::Exception),
            (_, None) => {}
        }
        Poll::Ready(result.map(|response| {
            let (parts, body) = response.into_parts();
            let body = BreakerBody::new(body, &parts.headers, judged);
            Response::from_parts(parts, body)
        }))
    }
}

impl<F, O: BreakerOwner, K> Debug for BreakerFuture<F, O, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerFuture")
            .field("is_judged", &self.judged.is_none())
            .finish_non_exhaustive()
    }
}
