//! The circuit breaker: [`Breaker`] lets calls through while they go well.
//!
//! # The protocol
//!
//! Two values of several words each are exchanged as one (`src/wide.rs`):
//!
//! - the **condition** (`breaker/condition`): the state, its generation, the time at which it ends,
//!   and the numbers of trials. Each transition raises the **generation**. A call reads the
//!   condition, and only a transition and a trial write it.
//! - the **measured** outcomes (`breaker/measured`) of the calls of one generation, in the window
//!   by number or by time. Each outcome is one exchange.
//!
//! ```text
//!    call      condition: closed         ->  let through, with its generation g
//!              open, before its end      ->  refused
//!              open, at its end          ->  g + 1, half open, one trial      exchange
//!              half open, trials left    ->  a trial more                     exchange
//!    outcome   measured of g, or before  ->  window of g with the outcome     exchange
//!              measured of a later one   ->  counted in the all-time totals alone
//!              the share is reached      ->  condition g, closed: g + 1, open exchange
//!    trial     condition g, half open    ->  counted; closed or open if it decides
//! ```
//!
//! Both rules are functions of words, a time and an outcome: without atomics, and without a clock.
//!
//! # The theorem
//!
//! *The outcomes of one window are in the order of their exchanges, and are those of calls that
//! were let through in one closed time.* An outcome joins a window of its own generation only, by
//! one exchange that finds no other window: a later generation is not joined, and an earlier one
//! begins anew. No window has to be cleared when the breaker closes.
//!
//! *The outcome whose exchange makes the share be reached opens the breaker*, unless another
//! outcome of its generation has done so before: it exchanges the condition after its own, and
//! finds its generation closed, or finds that the generation is over. So when it has returned, that
//! closed time is over. If calls come one after another, no later one is let through.
//!
//! *A half-open time ends.* A trial counts only in the condition of its generation, and each trial
//! ends once: told, or given back. Trials that do neither are overdue at a deadline, which is not
//! moved while trials run; the first call that comes after it opens the breaker. So there are at
//! most `trials` at once, and they hold the breaker half open for no longer than the timeout.
//!
//! *A clock that steps back* does not keep it open: the end is never further from the reading than
//! the longest time that the opening lasts. The clock is read after the words, so a thread that is
//! suspended between its reading and its exchange finds that another has come, if there was one.
//!
//! # Orders
//!
//! The exchanges have them: a thread that sees a condition, or an outcome, sees what
//! led to it. The counts of transitions, refusals and ignored calls are Relaxed, and decide
//! nothing.

mod call;
mod circuit;
mod condition;
mod counts;
mod measured;
mod refused;
mod settings;
mod state;
mod terms;

pub(crate) use call::Owner;
pub use call::{BreakerOwner, Call};
pub use circuit::Breaker;
pub use counts::Counts;
pub use refused::{CallError, OpenError};
pub use settings::Settings;
pub use state::State;
