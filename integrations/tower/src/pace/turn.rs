//! The pace of a request, and the request's turn.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use windrow::pace::{RefusedError, Reservation};
use windrow::{Clock, Pace, Paces, Timestamp};

use crate::limit::Quota;

/// A pace in a static, which a [`PaceLayer`](crate::PaceLayer) asks: `&'static Pace` or `&'static
/// Paces`, on any clock.
///
/// It is sealed.
///
/// ```
/// use std::sync::LazyLock;
/// use std::time::Duration;
/// use windrow::{AtMost, Pace, Paces};
///
/// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(10));
/// static BOTH: LazyLock<Paces> = LazyLock::new(|| {
///     let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
///     Paces::builder().limit(10, second).limit(200, minute).build().expect("two limits")
/// });
///
/// fn is_a_pace(_: impl windrow_tower::RequestPace) {}
/// is_a_pace(&EVEN);
/// is_a_pace(&*BOTH);
/// ```
pub trait RequestPace: sealed::Turns {}

impl<P: sealed::Turns> RequestPace for P {}

/// The turn of a request, or why it has none.
pub(crate) type Turn<C> = Result<Reservation<'static, C>, RefusedError>;

pub(crate) mod sealed {
    use std::time::Duration;

    use windrow::{Clock, Timestamp};

    use super::Turn;
    use crate::limit::Quota;

    pub trait Turns: Copy {
        type Clock: Clock + 'static;

        /// Reserves a turn for a weight.
        fn turn(self, weight: u64, max_wait: Duration) -> Turn<Self::Clock>;

        /// Returns the state of each limit.
        fn quotas(self) -> Vec<Quota>;

        /// Returns the time on the pace's clock.
        fn now(self) -> Timestamp;

        /// Returns the address of the pace, which is its identity.
        fn address(self) -> usize;
    }
}

use sealed::Turns;

impl<C: Clock> Turns for &'static Pace<C> {
    type Clock = C;

    fn turn(self, weight: u64, max_wait: Duration) -> Turn<C> {
        self.reserve(weight, max_wait)
    }

    fn quotas(self) -> Vec<Quota> {
        let (limit, left) = (self.burst(), self.left());
        let nanos = self.period().as_nanos() as u64 * limit; // at most 2^62
        let interval = Duration::from_nanos(nanos);
        vec![Quota { limit, interval, left, retry_after: None }]
    }

    fn now(self) -> Timestamp {
        self.clock().now()
    }

    fn address(self) -> usize {
        ptr::from_ref(self).addr()
    }
}

impl<C: Clock> Turns for &'static Paces<C> {
    type Clock = C;

    fn turn(self, weight: u64, max_wait: Duration) -> Turn<C> {
        self.reserve(weight, max_wait)
    }

    fn quotas(self) -> Vec<Quota> {
        let quota = |quota: windrow::pace::Quota| Quota {
            limit: quota.burst,
            interval: quota.refill,
            left: quota.left,
            retry_after: None,
        };
        Paces::quotas(self).map(quota).collect()
    }

    fn now(self) -> Timestamp {
        self.clock().now()
    }

    fn address(self) -> usize {
        ptr::from_ref(self).addr()
    }
}

pin_project! {
    /// The sleep of a request that waits for its turn, in the [future](crate::LimitFuture) of a
    /// [`PaceService`](crate::PaceService): if it is dropped before its end, the turn is given
    /// back, or goes to the next request.
    pub struct AtTurn<Z, C = windrow::clock::Coarse>
    where
        C: Clock,
        C: 'static,
    {
        #[pin]
        sleep: Z,
        // `None` once the turn has come.
        turn: Option<Reservation<'static, C>>,
    }
}

impl<Z, C: Clock> AtTurn<Z, C> {
    pub(super) fn new(sleep: Z, turn: Reservation<'static, C>) -> AtTurn<Z, C> {
        AtTurn { sleep, turn: Some(turn) }
    }
}

impl<Z: Future<Output = ()>, C: Clock> Future for AtTurn<Z, C> {
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

impl<Z, C: Clock> Debug for AtTurn<Z, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtTurn").field("turn", &self.turn).finish_non_exhaustive()
    }
}
