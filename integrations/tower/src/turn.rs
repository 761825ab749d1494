//! The turn of a request that waits, and the sleep until then.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use windrow::family::Handle;
use windrow::labels::Labels;

use crate::limit::Limit;
use crate::limiter::Limiter;
use crate::limiter::sealed::Decides;

pub(crate) mod sealed {
    use crate::limiter::Limiter;

    /// A reference to a static, or a handle of a key, which keeps a limiter while a request waits.
    pub trait Holds {
        type Limiter: Limiter;

        fn limiter(&self) -> Option<&Self::Limiter>;
    }
}

use sealed::Holds;

impl<G: Limiter> Holds for &'static G {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        Some(self)
    }
}

impl<L: Labels, C, G: Limiter> Holds for Handle<L, Limit<C, G>> {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        (**self).limiter()
    }
}

/// The turn for which a request waits: it is given up if this is dropped before
/// [`keep`](Self::keep).
pub(crate) struct Turn<H: Holds> {
    of: H,
    grant: Option<<H::Limiter as Decides>::Grant>,
}

impl<H: Holds> Turn<H> {
    /// Returns the turn that a limiter has granted.
    pub(crate) fn new(of: H, grant: Option<<H::Limiter as Decides>::Grant>) -> Turn<H> {
        Turn { of, grant }
    }

    fn keep(mut self) {
        self.grant = None;
    }
}

impl<H: Holds> Drop for Turn<H> {
    fn drop(&mut self) {
        if let (Some(limiter), Some(grant)) = (self.of.limiter(), self.grant.take()) {
            limiter.give_up(grant);
        }
    }
}

pin_project! {
    /// The sleep of a request that waits for its turn, in a [`LimitFuture`](crate::LimitFuture). If
    /// it is dropped before its end, a turn of a pace is given back, or goes to the next request.
    pub struct AtTurn<Z, H: Holds> {
        #[pin]
        sleep: Z,
        // `None` once the turn has come.
        turn: Option<Turn<H>>,
    }
}

impl<Z, H: Holds> AtTurn<Z, H> {
    pub(crate) fn new(sleep: Z, turn: Turn<H>) -> AtTurn<Z, H> {
        AtTurn { sleep, turn: Some(turn) }
    }
}

impl<Z: Future<Output = ()>, H: Holds> Future for AtTurn<Z, H> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        ready!(this.sleep.poll(context));
        if let Some(turn) = this.turn.take() {
            turn.keep();
        }
        Poll::Ready(())
    }
}

impl<Z, H: Holds> Debug for AtTurn<Z, H> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtTurn").field("has_come", &self.turn.is_none()).finish_non_exhaustive()
    }
}
