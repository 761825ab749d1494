//! The future of a service with a concurrency limit.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;
use windrow::labels::Labels;

use crate::refusal::Refusal;
use crate::room::body::RoomBody;
use crate::room::rooms::InRoom;

pin_project! {
    /// The future of [`RoomService`](crate::RoomService).
    pub struct RoomFuture<F, L: Labels> {
        #[pin]
        state: State<F>,
        // `None` if the request needs no place, and once there is a response: then the body has the
        // place.
        place: Option<InRoom<L>>,
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

impl<F, L: Labels> RoomFuture<F, L> {
    pub(super) fn refused(refusal: Refusal) -> RoomFuture<F, L> {
        RoomFuture { state: State::Refused { refusal }, place: None }
    }

    pub(super) fn running(response: F, place: Option<InRoom<L>>) -> RoomFuture<F, L> {
        RoomFuture { state: State::Running { response }, place }
    }
}

impl<F, L, B, E> Future for RoomFuture<F, L>
where
    F: Future<Output = Result<Response<B>, E>>,
    L: Labels,
    B: Body + Default,
{
    type Output = Result<Response<RoomBody<B, L>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = match this.state.project() {
            Projected::Refused { refusal } => Ok(refusal.response()),
            Projected::Running { response } => ready!(response.poll(context)),
        };
        let place = this.place.take(); // dropped here, if there is no response
        Poll::Ready(result.map(|response| response.map(|body| RoomBody::new(body, place))))
    }
}

impl<F, L: Labels> Debug for RoomFuture<F, L> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomFuture").field("place", &self.place).finish_non_exhaustive()
    }
}
