//! The guard of a weight in flight, and the owners that it can have.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::ptr;

use super::level::InFlight;
use crate::at_most::AtMost;
use crate::sync::Arc;

/// An owner of an [`InFlight`], which guards can own in turn: an `Arc`, or a family's
/// [`Handle`](crate::family::Handle).
///
/// Implement it for a type that contains an `InFlight`, so that a guard can
/// [own](InFlightGuard::owned_by) the type: for guards in a future, in a connection, or in a permit
/// that is sent to another task.
///
/// ```
/// use std::sync::Arc;
/// use windrow::{InFlight, SlidingWindow, events, in_flight::{InFlightGuard, LevelOwner}};
///
/// events! { enum Pool { Busy: Maximum } }
///
/// struct Endpoint {
///     window: SlidingWindow<Pool>,
///     busy: InFlight,
/// }
///
/// impl LevelOwner for Endpoint {
///     fn in_flight(&self) -> &InFlight {
///         &self.busy
///     }
///
///     fn left(&self, before: u64) {
///         self.window.record(Pool::Busy, before); // as `Peaks` does
///     }
/// }
///
/// struct Request {
///     inside: InFlightGuard<Arc<Endpoint>>, // leaves when the request is dropped
/// }
///
/// let window = SlidingWindow::builder().build()?;
/// let endpoint = Arc::new(Endpoint { window, busy: InFlight::new() });
/// let inside = endpoint.busy.record_peaks(&endpoint.window, Pool::Busy).enter(1);
/// let request = Request { inside: inside.owned_by(Arc::clone(&endpoint)) };
/// assert_eq!(request.inside.owner().busy.level(), 1);
/// drop(request);
/// assert_eq!(endpoint.busy.level(), 0);
/// # Ok::<(), windrow::BuildError>(())
/// ```
pub trait LevelOwner {
    /// Returns the level, the same one at each call. A guard that is dropped subtracts its weight
    /// from the level that this returns.
    fn in_flight(&self) -> &InFlight;

    /// Receives the level from which a weight has left, after it left. Does nothing by default. An
    /// implementation may record the level in a [`Maximum`](crate::Kind::Maximum) event, as a leave
    /// of [`Peaks`](crate::in_flight::Peaks) does.
    #[inline]
    fn left(&self, before: u64) {
        let _ = before;
    }
}

impl LevelOwner for InFlight {
    #[inline]
    fn in_flight(&self) -> &InFlight {
        self
    }
}

impl<O: LevelOwner + ?Sized> LevelOwner for &O {
    #[inline]
    fn in_flight(&self) -> &InFlight {
        (**self).in_flight()
    }

    #[inline]
    fn left(&self, before: u64) {
        (**self).left(before);
    }
}

impl<O: LevelOwner + ?Sized> LevelOwner for Arc<O> {
    #[inline]
    fn in_flight(&self) -> &InFlight {
        (**self).in_flight()
    }

    #[inline]
    fn left(&self, before: u64) {
        (**self).left(before);
    }
}

/// A guard, which subtracts its weight from the level when it is dropped.
///
/// Returned by [`InFlight::enter`] and [`Peaks::enter`](crate::in_flight::Peaks::enter), and by
/// their `try_enter`. Any thread may drop it. There is no other way to leave, so the level is never
/// less than the weight in flight, and no surplus leave can lift a [limit](InFlight::try_enter).
/// The weight of a guard that is never dropped ([`mem::forget`]) stays in flight.
///
/// Bind a guard to a name, such as `_guard`. `let _ = open.enter(1)`, a pattern `Some(_)` in a
/// `let ... else`, and `open.try_enter(..).is_some()` drop it at once: then nothing is limited, and
/// the compiler does not warn.
///
/// The guards of `enter` and `try_enter` borrow the level. [`owned_by`](Self::owned_by) hands the
/// weight to an [owner](LevelOwner), for a guard that is kept in a struct or moved into a task.
///
/// ```
/// use windrow::InFlight;
///
/// static OPEN: InFlight = InFlight::new();
///
/// let connection = OPEN.enter(1);
/// assert_eq!(OPEN.level(), 1);
/// drop(connection);
/// assert_eq!(OPEN.level(), 0);
/// ```
#[must_use = "the weight leaves when the guard is dropped: bind it to a name, such as `_guard`"]
pub struct InFlightGuard<O: LevelOwner> {
    owner: O,
    weight: u64,
}

/// # Entering
impl InFlight {
    /// Adds `weight` to the level; the returned guard subtracts it when dropped.
    ///
    /// A weight of zero leaves the level as it is. Costs an atomic addition.
    ///
    /// ```
    /// let open = windrow::InFlight::new();
    /// let (one, other) = (open.enter(1), open.enter(1));
    /// assert_eq!(open.level(), 2);
    /// # drop((one, other));
    /// ```
    #[inline]
    #[doc(alias = "acquire")]
    pub fn enter(&self, weight: u64) -> InFlightGuard<&InFlight> {
        self.rise(weight);
        InFlightGuard::new(self, weight)
    }

    /// Adds `weight`, if the level is then at most `limit`; otherwise returns `None` and writes
    /// nothing.
    ///
    /// The level never exceeds the limit, because a compare-exchange checks and adds in one step.
    /// The call is refused only if at one moment during it the level plus `weight` exceeded the
    /// limit. The limit is that of this call alone: calls may have different limits (lower ones for
    /// less urgent work), and [`enter`](Self::enter) has none.
    ///
    /// The weight stays only as long as the [guard](InFlightGuard): bind it, as in
    /// `let Some(_guard) = ... else`. A `Some(_)` there drops it at once.
    ///
    /// Costs a load and a compare-exchange, and another compare-exchange each time that another
    /// thread came first. A refusal costs a load.
    ///
    /// ```
    /// use windrow::AtMost;
    ///
    /// let workers = windrow::InFlight::new();
    /// let one = workers.try_enter(1, AtMost(2));
    /// let urgent = workers.try_enter(1, AtMost(2));
    /// assert!(one.is_some() && urgent.is_some());
    /// assert!(workers.try_enter(1, AtMost(2)).is_none());
    /// drop(one);
    /// assert!(workers.try_enter(1, AtMost(2)).is_some());
    /// ```
    #[inline]
    #[must_use = "the weight leaves when the guard is dropped: bind it to a name, such as `_guard`"]
    #[doc(alias = "try_acquire")]
    #[doc(alias = "percpu_counter_limited_add")]
    pub fn try_enter(&self, weight: u64, limit: AtMost) -> Option<InFlightGuard<&InFlight>> {
        self.try_rise(weight, limit).map(|_| InFlightGuard::new(self, weight))
    }
}

impl<O: LevelOwner> InFlightGuard<O> {
    pub(super) fn new(owner: O, weight: u64) -> InFlightGuard<O> {
        InFlightGuard { owner, weight }
    }

    /// Returns the owner of the level, which the guard borrows or owns.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windrow::InFlight;
    ///
    /// let open = Arc::new(InFlight::new());
    /// let connection = open.enter(1).owned_by(Arc::clone(&open));
    /// assert_eq!(connection.owner().level(), 1);
    /// ```
    #[inline]
    pub fn owner(&self) -> &O {
        &self.owner
    }
}

impl<O: LevelOwner + Copy> InFlightGuard<O> {
    /// Moves the weight into a guard that owns the level and borrows nothing. The level does not
    /// change, so a limit that admitted the weight still holds.
    ///
    /// # Panics
    ///
    /// Panics if the owner's level is another one. Then the weight leaves, as with a guard that is
    /// dropped.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windrow::{InFlight, AtMost, in_flight::InFlightGuard};
    ///
    /// struct Connection {
    ///     open: InFlightGuard<Arc<InFlight>>,
    /// }
    ///
    /// fn connect(open: &Arc<InFlight>) -> Option<Connection> {
    ///     let place = open.try_enter(1, AtMost(100))?;
    ///     Some(Connection { open: place.owned_by(Arc::clone(open)) })
    /// }
    ///
    /// let open = Arc::new(InFlight::new());
    /// let connection = connect(&open);
    /// assert_eq!(open.level(), 1);
    /// std::thread::spawn(move || drop(connection)).join().unwrap();
    /// assert_eq!(open.level(), 0);
    /// ```
    #[doc(alias = "enter_owned")]
    #[doc(alias = "try_enter_owned")]
    #[inline]
    pub fn owned_by<P: LevelOwner>(self, owner: P) -> InFlightGuard<P> {
        let is_same = ptr::eq(self.owner.in_flight(), owner.in_flight());
        assert!(is_same, "a guard's new owner must have the same level as the guard");
        let weight = self.weight;
        mem::forget(self); // a borrowed owner needs no drop
        InFlightGuard::new(owner, weight)
    }
}

impl<O: LevelOwner> Drop for InFlightGuard<O> {
    #[inline]
    fn drop(&mut self) {
        let before = self.owner.in_flight().fall(self.weight);
        self.owner.left(before);
    }
}

/// Shows the weight.
impl<O: LevelOwner> Debug for InFlightGuard<O> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlightGuard").field(&self.weight).finish()
    }
}
