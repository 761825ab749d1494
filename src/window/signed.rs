//! Numbers that go up and down.
//!
//! Cells wrap, so to take away is to add the two's complement, and a sum is right as an `i64`.

use super::SlidingWindow;
use crate::clock::Clock;
use crate::error::OutOfRange;
use crate::event::Event;
use crate::timestamp::Timestamp;

/// # Numbers that go up and down
impl<E: Event, C: Clock> SlidingWindow<E, C> {
    /// Adds `n`, which may be less than zero, to a `Signed` event in the bucket of the clock's now.
    ///
    /// As [`add`](Self::add), wrapping. Read it by [`signed_sum`](Self::signed_sum), or
    /// [`Stats::signed_sum`](crate::Stats::signed_sum). What a window keeps of it is by how much it has gone up or down in
    /// each bucket, and so in the interval: not how high it stands, which is a [`Gauge`](crate::Gauge)'s to say, or the
    /// [`lifetime`](Self::lifetime)'s.
    ///
    /// For an event of another kind, this is `add` of `n` as two's complement: a `Count` event it takes
    /// away from, and of an event that has values it records one of nearly 2^64.
    ///
    /// ```
    /// # windrow::events! { enum Pool { Open: Signed } }
    /// let window = windrow::SlidingWindow::<Pool>::builder().build()?;
    /// window.add_signed(Pool::Open, 1);
    /// window.add_signed(Pool::Open, -1);
    /// window.add_signed(Pool::Open, -1);
    /// assert_eq!(window.signed_sum(Pool::Open), -1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `add`
    pub fn add_signed(&self, event: E, n: i64) {
        self.add(event, n.cast_unsigned());
    }

    /// Adds `n`, which may be less than zero, to a `Signed` event in the bucket of `at`.
    ///
    /// # Errors
    ///
    /// As [`add_at`](Self::add_at).
    ///
    /// ```
    /// # windrow::events! { enum Pool { Open: Signed } }
    /// use windrow::{SlidingWindow, Timestamp, clock::Manual};
    ///
    /// let window = SlidingWindow::<Pool>::builder().clock(Manual::default()).build()?;
    /// window.add_signed_at(Timestamp::from_millis(100), Pool::Open, -2)?;
    /// assert_eq!(window.signed_sum(Pool::Open), -2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_signed_at(&self, at: Timestamp, event: E, n: i64) -> Result<(), OutOfRange> {
        self.add_at(at, event, n.cast_unsigned())
    }

    /// The [`sum`](Self::sum) of a `Signed` event, with its sign: what it has gone up or down by in the interval,
    /// wrapping at 2^63.
    ///
    /// Each add is in it or not, by the same rules. So while adds run at the same time, it need not be a number that was
    /// ever true: of a step up and a step down that come meanwhile, it may have the second alone.
    ///
    /// ```
    /// # windrow::events! { enum Pool { Open: Signed } }
    /// let window = windrow::SlidingWindow::<Pool>::builder().build()?;
    /// window.add_signed(Pool::Open, -4);
    /// assert_eq!(window.signed_sum(Pool::Open), -4);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn signed_sum(&self, event: E) -> i64 {
        self.sum(event).cast_signed()
    }
}
