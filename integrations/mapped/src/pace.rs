//! A limit for all processes that have a file mapped.
//!
//! # Why it is exact
//!
//! A pace is one word in the file, the *end*: the time at which all that was admitted would be
//! over, one unit of weight after the other. Each decision is one compare-exchange of this word, by
//! the terms of a `windrow::Pace`, whose source has the theorem and its proof. The proof asks
//! neither in which order the calls read the clock, nor in which process they are. It needs one
//! clock for all of them, and a word that is exchanged whole: all processes have the same memory.
//!
//! A process that is killed has exchanged the word or not. If it had, its call counts as admitted:
//! the others are admitted less than they could be, and never more.

use std::time::Duration;

use windrow::gate::Admission;
use windrow::pace::RefusedError;

use crate::limit::answer::Answer;
use crate::limit::moment::{allowed, now, wait};
use crate::limit::word::Word;
use crate::reservation::{Part, Reservation};

/// A rate limiter for the processes of one machine: a leaky bucket (GCRA) in a mapped file.
///
/// Returned by [`File::pace`](crate::File::pace). It admits at most one call in each period, with a
/// burst if wanted, over all processes. So a server that forks its workers has one limit, without a
/// server beside it. A copy is of the same pace, and valid for as long as the process lives.
///
/// ```
/// use std::time::Duration;
/// use windrow_mapped::File;
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// // In each worker: 50 calls a second of all workers together, and 2 at once after a rest.
/// let file = File::open(path)?;
/// let pace = file.pace("partner", &[], Duration::from_millis(20), 2)?;
/// assert!(pace.try_admit(1) && pace.try_admit(1));
///
/// let turn = pace.reserve(1, Duration::from_secs(1))?;
/// std::thread::sleep(turn.wait()); // at most 20 ms
/// turn.keep();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Promise
///
/// Let `T` be the period and `b` the burst. A call's *moment* is the time at which it was admitted,
/// or the end of its wait. In each span of `d` nanoseconds, the calls of all processes whose
/// moments lie in it weigh at most `b + (d - 1) / T`, rounded down. A refusal takes nothing.
///
/// # Time
///
/// The clock is `CLOCK_MONOTONIC`, which all processes of a machine share, and which stands still
/// while the machine is suspended. A process in a time namespace with another clock is refused when
/// it asks for the pace. (It is not noticed if a process makes such a namespace later, and forks
/// into it.) In a file that outlives a restart of the machine, paces begin anew, with their whole
/// burst.
///
/// # Processes that die
///
/// What a process was admitted stays admitted when it is killed, also the turns that it has
/// reserved and not come to: nothing gives them back. A killed process so costs the others at most
/// the periods of its turns, once, and never admits more.
///
/// A process of the same user can write any end into the file. One that is far away makes calls
/// wait for at most the time that they allow, or refuses them; one in the past admits a burst.
/// No call loops or waits for such a process.
///
/// # Cost
///
/// A call costs the clock's reading, some 30 ns, a load and one compare-exchange of a line that all
/// processes write; a refusal no exchange. It never fails, panics, waits for another thread, or
/// takes a lock. Unlike a `windrow::Pace`, it has no vacant turns, no retirement and no changes of
/// its terms, because these need memory of one process.
///
/// For several limits at once, take [`Paces`](crate::Paces).
#[derive(Clone, Copy)]
#[doc(alias = "rate limiter")]
#[doc(alias = "leaky bucket")]
#[doc(alias = "GCRA")]
pub struct Pace {
    pub(crate) word: Word<'static>,
}

impl Pace {
    /// Admits a call of weight `n` now if that is within the pace; otherwise takes nothing.
    ///
    /// A weight of `n` takes `n` periods. A weight above the burst never fits, and a weight of zero
    /// always does.
    #[inline]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, n: u64) -> bool {
        matches!(self.word.take(now(), n, 0), Answer::Taken(_))
    }

    /// Admits a call of weight `n`, now or after a wait of at most `max_wait`; or refuses, takes
    /// nothing, and says when to come back.
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        self.word.take(now(), n, allowed(max_wait)).admission()
    }

    /// Reserves a turn for a call of weight `n`, after a wait of at most `max_wait`. If the
    /// reservation is dropped before its turn, it is given back.
    ///
    /// # Errors
    ///
    /// [`RefusedError`] if the wait would be longer, or the weight never fits. Nothing is taken
    /// then.
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Result<Reservation, RefusedError> {
        let taken = self.word.take(now(), n, allowed(max_wait)).reserved()?;
        Ok(Reservation::new(&taken, Part::Pace(self.word, taken)))
    }

    /// Returns the largest weight that would be admitted now, without a wait. It is *not* a
    /// reservation: other calls may come first.
    pub fn left(&self) -> u64 {
        self.word.terms.left(self.word.now(), now())
    }

    /// Returns the time after which the whole burst can be admitted at once, if no call comes until
    /// then; zero if it can be now.
    pub fn idle_after(&self) -> Duration {
        wait(self.word.now().saturating_sub(now()))
    }

    /// Returns the period of one unit of weight.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.word.terms.period())
    }

    /// Returns the burst: the weight that can be admitted at once after a rest.
    pub fn burst(&self) -> u64 {
        self.word.terms.burst()
    }
}

shown! {
    /// Shows the terms and what is left.
    Pace(pace) { period: pace.period(), burst: pace.burst(), left: pace.left() }
}
