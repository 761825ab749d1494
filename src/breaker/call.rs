//! The guard of a call that was let through, and the owners that it can have.

use std::fmt::{self, Debug, Formatter};

use super::circuit::{Breaker, Ticket};
use super::refused::{CallError, OpenError};
use crate::clock::Clock;
use crate::sync::Arc;

/// An owner of a [`Breaker`], whose calls [own](Call::begin) it: a reference, an `Arc`, or a
/// family's [`Handle`](crate::family::Handle). No other type can implement it.
pub trait BreakerOwner: Owner {}

impl<O: Owner + ?Sized> BreakerOwner for O {}

/// The part of [`BreakerOwner`] that no user calls.
pub trait Owner {
    /// The breaker's clock.
    type Clock: Clock;

    /// Returns the breaker, the same one at each call.
    fn breaker(&self) -> &Breaker<Self::Clock>;
}

impl<C: Clock> Owner for Breaker<C> {
    type Clock = C;

    #[inline]
    fn breaker(&self) -> &Breaker<C> {
        self
    }
}

impl<O: Owner + ?Sized> Owner for &O {
    type Clock = O::Clock;

    #[inline]
    fn breaker(&self) -> &Breaker<O::Clock> {
        (**self).breaker()
    }
}

impl<O: Owner + ?Sized> Owner for Arc<O> {
    type Clock = O::Clock;

    #[inline]
    fn breaker(&self) -> &Breaker<O::Clock> {
        (**self).breaker()
    }
}

/// A call that a [`Breaker`] has let through: from [`Breaker::try_call`] and [`Call::begin`].
///
/// Tell it what became of the call: [`success`](Self::success) or [`failure`](Self::failure).
/// **A guard that is dropped says nothing** about the called service, which is right for a call
/// that was cancelled, or whose request was wrong: a future whose client goes away drops it. If the
/// call was a trial, another one can begin in its place.
///
/// The call's time is that from `try_call` until the guard is told. Any thread may tell it.
#[doc(alias = "ignore")]
#[must_use = "a call that is dropped at once says nothing: the breaker never opens by it"]
pub struct Call<O: BreakerOwner> {
    owner: O,
    ticket: Ticket,
    /// False once the guard was told.
    is_open: bool,
}

impl<O: BreakerOwner> Call<O> {
    /// Asks the owner's breaker for a call, as [`Breaker::try_call`] does. The guard keeps the
    /// owner.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the breaker lets no call through.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windrow::{Breaker, breaker::{Call, Settings}};
    ///
    /// let payments = Arc::new(Breaker::of(Settings::last_calls(100)));
    /// let call = Call::begin(Arc::clone(&payments)).expect("closed"); // for a future, or a thread
    /// std::thread::spawn(move || call.success()).join().unwrap();
    /// assert_eq!(payments.totals().calls, 1);
    /// ```
    #[inline]
    pub fn begin(owner: O) -> Result<Call<O>, OpenError> {
        let ticket = owner.breaker().admit()?;
        Ok(Call { owner, ticket, is_open: true })
    }

    /// Ends a call that succeeded.
    ///
    /// ```
    /// let breaker = windrow::Breaker::of(windrow::breaker::Settings::last_calls(9));
    /// breaker.try_call().expect("closed").success();
    /// assert_eq!(breaker.totals().calls, 1);
    /// ```
    #[inline]
    pub fn success(self) {
        self.end(false);
    }

    /// Ends a call that failed.
    ///
    /// ```
    /// let breaker = windrow::Breaker::of(windrow::breaker::Settings::last_calls(9));
    /// breaker.try_call().expect("closed").failure();
    /// assert_eq!(breaker.totals().failed, 1);
    /// ```
    #[inline]
    pub fn failure(self) {
        self.end(true);
    }

    #[inline]
    fn end(mut self, failed: bool) {
        self.owner.breaker().ended(self.ticket, failed);
        self.is_open = false;
    }
}

impl<O: BreakerOwner> Drop for Call<O> {
    #[inline]
    fn drop(&mut self) {
        if self.is_open {
            self.owner.breaker().said_nothing(self.ticket);
        }
    }
}

/// Shows whether the call is a trial.
impl<O: BreakerOwner> Debug for Call<O> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("is_trial", &self.ticket.is_trial).finish_non_exhaustive()
    }
}

/// # Calls
impl<C: Clock> Breaker<C> {
    /// Lets a call through, or refuses it. The guard takes the outcome: [`Call`] says how.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the breaker is open, or half open with all its trials under way.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::Settings};
    ///
    /// fn answer() -> Result<u16, u16> { Ok(200) }
    ///
    /// let breaker = Breaker::of(Settings::last_calls(100));
    /// match breaker.try_call() {
    ///     Ok(call) => match answer() {
    ///         Ok(_) => call.success(),
    ///         Err(400..=499) => drop(call), // the request was wrong: that says nothing
    ///         Err(_) => call.failure(),
    ///     },
    ///     Err(open) => println!("{open}"),
    /// }
    /// ```
    #[inline]
    #[doc(alias = "acquire_permission")]
    #[doc(alias = "allow")]
    pub fn try_call(&self) -> Result<Call<&Breaker<C>>, OpenError> {
        Call::begin(self)
    }

    /// Calls a function, if the breaker lets it through: `Ok` is a success, and `Err` is a failure.
    ///
    /// A panic of the function is a failure, and goes on. For a future, or outcomes that say
    /// nothing, use [`try_call`](Self::try_call).
    ///
    /// # Errors
    ///
    /// [`CallError::Open`] if the function was not called, and [`CallError::Failed`] with its
    /// error.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::Settings};
    ///
    /// let breaker = Breaker::of(Settings::last_calls(100));
    /// let number = breaker.call(|| "42".parse::<u64>())?;
    /// assert_eq!(number, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "execute")]
    pub fn call<T, E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        let mut panicked = Panicked(Some(self.try_call().map_err(CallError::Open)?));
        let result = f();
        if let Some(call) = panicked.0.take() {
            if result.is_ok() { call.success() } else { call.failure() }
        }
        result.map_err(CallError::Failed)
    }
}

/// A call that fails if it is dropped: the function that it is for has panicked.
struct Panicked<'b, C: Clock>(Option<Call<&'b Breaker<C>>>);

impl<C: Clock> Drop for Panicked<'_, C> {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call.failure();
        }
    }
}
