//! The wait of a request: for its turn, or for an answer from elsewhere.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use windrow::gate::Admission;

use crate::cap::Cap;
use crate::limit::{Fields, LimitFields};
use crate::limiter::sealed::Decides;
use crate::told::told;
use crate::turn::Turn;
use crate::turn::sealed::Holds;

pin_project! {
    /// The wait of a request for its turn, in a [`LimitFuture`](crate::LimitFuture). If it is
    /// dropped before its end, a turn of a pace is given back, or goes to the next request.
    pub struct AtTurn<Z, H: Holds> {
        #[pin]
        wait: Wait<Z, H>,
    }
}

pin_project! {
    #[project = Projected]
    enum Wait<Z, H: Holds> {
        Turn {
            #[pin]
            sleep: Z,
            // `None` once the turn has come.
            turn: Option<Turn<H>>,
        },
        Answer {
            asked: Box<Asked<H>>,
        },
    }
}

/// A request whose limiter asks elsewhere.
pub(crate) struct Asked<H: Holds> {
    of: H,
    ask: <H::Limiter as Decides>::Ask,
    weight: u64,
    fields: Option<LimitFields>,
    cap: Cap,
}

/// The end of a wait.
pub struct Told {
    /// The time at which the client of a refused request is to come back, as an error.
    pub(crate) verdict: Result<(), Option<Duration>>,
    /// The fields of the response, if they are known only now.
    pub(crate) fields: Option<Fields>,
}

impl Told {
    const GRANTED: Told = Told { verdict: Ok(()), fields: None };
}

impl<Z, H: Holds> AtTurn<Z, H> {
    pub(crate) fn new(sleep: Z, turn: Turn<H>) -> AtTurn<Z, H> {
        AtTurn { wait: Wait::Turn { sleep, turn: Some(turn) } }
    }

    pub(crate) fn asking(asked: Asked<H>) -> AtTurn<Z, H> {
        AtTurn { wait: Wait::Answer { asked: Box::new(asked) } }
    }
}

impl<H: Holds> Asked<H> {
    pub(crate) fn new(
        of: H,
        ask: <H::Limiter as Decides>::Ask,
        weight: u64,
        fields: Option<LimitFields>,
        cap: Cap,
    ) -> Asked<H> {
        Asked { of, ask, weight, fields, cap }
    }

    /// Returns what the client is told, and counts it.
    fn told(&self, admission: Admission) -> Told {
        self.of.count(admission.is_granted());
        let Some(limiter) = self.of.limiter() else { return Told::GRANTED };
        let join = |now, wait, takes| self.cap.hold(self.of.join(now, wait, takes));
        let (retry_after, fields) = told(limiter, self.weight, admission, self.fields, join);
        let verdict = if admission.is_granted() { Ok(()) } else { Err(retry_after) };
        Told { verdict, fields }
    }
}

impl<Z: Future<Output = ()>, H: Holds> Future for AtTurn<Z, H> {
    type Output = Told;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Told> {
        match self.project().wait.project() {
            Projected::Turn { sleep, turn } => {
                ready!(sleep.poll(context));
                if let Some(turn) = turn.take() {
                    turn.keep();
                }
                Poll::Ready(Told::GRANTED)
            }
            Projected::Answer { asked } => {
                let admission = ready!(Pin::new(&mut asked.ask).poll(context));
                Poll::Ready(asked.told(admission))
            }
        }
    }
}

impl<Z, H: Holds> Debug for AtTurn<Z, H> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let has_come = matches!(self.wait, Wait::Turn { turn: None, .. });
        f.debug_struct("AtTurn").field("has_come", &has_come).finish_non_exhaustive()
    }
}
