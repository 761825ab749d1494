//! The turn of a request that waits.

use std::time::Duration;

use windrow::Timestamp;
use windrow::family::Handle;
use windrow::labels::Labels;

use crate::limit::Limit;
use crate::limiter::Limiter;
use crate::limiter::sealed::Decides;

pub(crate) mod sealed {
    use std::time::Duration;

    use windrow::Timestamp;

    use crate::limiter::Limiter;

    /// A reference to a static, or a handle of a key, which keeps a limiter while a request waits.
    pub trait Holds {
        type Limiter: Limiter;

        fn limiter(&self) -> Option<&Self::Limiter>;

        /// Counts a decision that was asked for elsewhere.
        fn count(&self, is_granted: bool);

        /// Takes a place in line: see [`Line::join`](crate::line::Line::join).
        fn join(&self, now: Timestamp, wait: Duration, takes: Duration) -> Duration;
    }
}

use sealed::Holds;

impl<G: Limiter> Holds for &'static G {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        Some(self)
    }

    /// No limiter in a static asks elsewhere.
    fn count(&self, _: bool) {}

    fn join(&self, _: Timestamp, wait: Duration, _: Duration) -> Duration {
        wait
    }
}

impl<L: Labels, G: Limiter> Holds for Handle<L, Limit<G>> {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        (**self).limiter()
    }

    fn count(&self, is_granted: bool) {
        (**self).count(is_granted);
    }

    fn join(&self, now: Timestamp, wait: Duration, takes: Duration) -> Duration {
        self.line.join(now, wait, takes)
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

    pub(crate) fn keep(mut self) {
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
