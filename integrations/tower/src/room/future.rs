//! The future of a service with a concurrency limit.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;
use windrow::labels::Labels;

use crate::refused::Refused;
use crate::room::body::RoomBody;
use crate::room::rooms::InRoom;

pin_project! {
    /// The future of [`RoomService`](crate::RoomService).
    pub struct RoomFuture<F, L: Labels, A> {
        #[pin]
        state: State<F, A>,
        // `None` if the request needs no place, and once there is a response: then the body has the
        // place.
        place: Option<InRoom<L>>,
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

impl<F, L: Labels, A> RoomFuture<F, L, A> {
    pub(super) fn refused(refused: Refused<A>) -> RoomFuture<F, L, A> {
        RoomFuture { state: State::Refused { refused }, place: None }
    }

    pub(super) fn running(response: F, place: Option<InRoom<L>>) -> RoomFuture<F, L, A> {
        RoomFuture { state: State::Running { response }, place }
    }
}

impl<F, L, A, B, E> Future for RoomFuture<F, L, A>
where
    F: Future<Output = Result<Response<B>, E>>,
    L: Labels,
    A: Body,
    B: Body + Default,
{
    type Output = Result<Response<RoomBody<B, L>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = match this.state.project() {
            Projected::Refused { refused } => Ok(ready!(refused.poll(context))),
            Projected::Running { response } => ready!(response.poll(context)),
        };
        let place = this.place.take(); // dropped here, if there is no response
        Poll::Ready(result.map(|response| response.map(|body| RoomBody::new(body, place))))
    }
}

impl<F, L: Labels, A> Debug for RoomFuture<F, L, A> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomFuture").field("place", &self.place).finish_non_exhaustive()
    }
}
