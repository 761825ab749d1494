//! Forgetting idle keys: all of them at once, or a few as new ones come.
//!
//! A key is idle once its limiter can be retired: none of its grants counts or is waited for. So
//! the next limiter of the key begins where this one has ended.

use std::time::Duration;

use windrow::Clock;
use windrow::labels::Labels;

use crate::limit::counts::Standing;
use crate::limit::limits::Limits;
use crate::limit::series::Limit;
use crate::limiter::Limiter;

impl<L: Labels, G: Limiter> Limits<L, G> {
    /// Forgets the idle keys: those without grants that count or are waited for, and which no
    /// longer [share](Self#when-there-are-too-many-keys). Returns their number. (A key that was
    /// looked up in the [family](Self::family), and never asked, is forgotten by the second of two
    /// calls that are a tenth of a second apart.)
    ///
    /// No client gets more by it, even if it asks at the same time, on a clock that does not step
    /// back. A forgotten key's gate is [retired](windrow::Gate::retire), and the next one begins
    /// where that one has ended: without grants. But it has the limit of the function or of the
    /// rules, not one that was [set](windrow::Gate::set_limit). The key's counts stay in the
    /// family's total.
    ///
    /// Opens a bucket of each gate that it ends, and reads the others. If all labels of the key are
    /// enums, it does nothing: then the number of keys is bounded anyway.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::clock::Manual;
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// thread_local! { static CLOCK: Manual = Manual::default(); }
    /// let clients = Limits::<Client, Gate<Manual>>::new(10, |_| {
    ///     Gate::builder(1).clock(CLOCK.with(Manual::clone)).build().expect("one a second")
    /// });
    /// assert!(clients.admit(Client { client: "alice" }, 1, Duration::ZERO).is_granted());
    /// assert_eq!(clients.forget_idle(), 0);
    /// CLOCK.with(|clock| clock.advance(Duration::from_secs(1)));
    /// assert_eq!((clients.forget_idle(), clients.family().len()), (1, 0));
    /// ```
    pub fn forget_idle(&self) -> usize {
        if L::COMBINATIONS.is_some() {
            return 0;
        }
        self.family().retain(|limit, idle| {
            // A key without a gate is just being made, or was never asked.
            (limit.own().is_none() && idle.is_zero()) || self.is_in_use(limit)
        })
    }

    /// Returns whether a key stays when others need room. Otherwise it is ended, and may be
    /// removed. (A key that is just being made has a handle, and is not asked.)
    pub(super) fn is_in_use(&self, limit: &Limit<G>) -> bool {
        match limit.own() {
            Some(own) => self.is_kept(own),
            None => !limit.end_without_limiter(),
        }
    }

    /// Returns whether a key with this gate is kept. Otherwise the gate is retired, and the key may
    /// be removed.
    fn is_kept(&self, (limiter, standing): (&G, Standing)) -> bool {
        let is_kept = self.shared(standing).is_some() || !limiter.retire();
        if !is_kept {
            self.departures.note();
        }
        is_kept
    }

    /// Returns whether a key is over, and may be removed.
    pub(super) fn leaves(&self, limit: &Limit<G>) -> bool {
        let leaves = limit.is_over();
        if leaves {
            self.departures.note();
        }
        leaves
    }

    /// Returns the overflow limiter that a key still asks beside its own, and the time for which it
    /// does; `None` if it does not.
    pub(super) fn shared(&self, standing: Standing) -> Option<(&G, Duration)> {
        let Standing::Sharing(until) = standing else { return None };
        let overflow = self.overflow_limiter()?;
        let left = until.as_nanos().saturating_sub(overflow.clock().now().as_nanos());
        (left > 0).then(|| (overflow, Duration::from_nanos(left)))
    }
}
