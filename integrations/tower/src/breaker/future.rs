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
use crate::refused::Refused;

pin_project! {
    /// The future of [`BreakerService`](crate::BreakerService).
    pub struct BreakerFuture<F, O: BreakerOwner, K, A> {
        #[pin]
        state: State<F, A>,
        // `None` if the request has no breaker, and once there is a response.
        judged: Option<Judged<O, K>>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<F, A> {
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

impl<F, O: BreakerOwner, K, A> BreakerFuture<F, O, K, A> {
    pub(super) fn refused(refused: Refused<A>) -> BreakerFuture<F, O, K, A> {
        BreakerFuture { state: State::Refused { refused }, judged: None }
    }

    pub(super) fn running(response: F, judged: Option<Judged<O, K>>) -> BreakerFuture<F, O, K, A> {
        BreakerFuture { state: State::Running { response }, judged }
    }
}

impl<F, O, K, A, B, E> Future for BreakerFuture<F, O, K, A>
where
    F: Future<Output = Result<Response<B>, E>>,
    O: BreakerOwner,
    K: Classify,
    A: Body,
    B: Body + Default,
{
    type Output = Result<Response<BreakerBody<B, O, K>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = match this.state.project() {
            Projected::Refused { refused } => Ok(ready!(refused.poll(context))),
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

impl<F, O: BreakerOwner, K, A> Debug for BreakerFuture<F, O, K, A> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerFuture")
            .field("is_judged", &self.judged.is_none())
            .finish_non_exhaustive()
    }
}
