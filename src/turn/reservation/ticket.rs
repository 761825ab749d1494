//! A reservation apart from its limiter, for callers that keep the limiter in a way of their own:
//! by a handle of a family.
//!
//! A reservation refers to its limiter. So it cannot stand beside the handle that keeps the
//! limiter. A ticket is what else a reservation has: numbers. It gives nothing back when it is
//! dropped.

use std::time::Duration;

use super::Reservation;
use crate::clock::Clock;
use crate::sync::AtomicU64;
use crate::turn::settle::Settle;
use crate::turn::undo::{FEW, Undo, WORDS};
use crate::turn::vacancies::{Turn, Vacancies};
use crate::wide::Wide;

/// A reservation apart from its limiter. For `windrow-tower`.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    wait: Duration,
    turn: Turn,
    undo: Numbers,
}

/// The numbers of an [`Undo`].
#[derive(Clone, Copy, Debug)]
enum Numbers {
    Nothing,
    Word { from: u64, to: u64 },
    Words { from: [u64; WORDS], to: [u64; 3] },
    Few { from: [u64; FEW], to: [u64; 3] },
}

/// The words of a limiter that a reservation refers to.
#[derive(Clone, Copy)]
pub(crate) enum Reference<'a> {
    /// Those of a pace; the second ones from when it was changed or settled on.
    Pace {
        word: &'a AtomicU64,
        few: Option<&'a Wide<FEW>>,
    },
    Paces(&'a Wide<WORDS>),
}

impl<C: Clock> Reservation<'_, C> {
    /// Takes the reservation apart from its limiter. It is kept, unless the ticket is redeemed.
    #[doc(hidden)]
    #[must_use]
    pub fn into_ticket(self) -> Ticket {
        let undo = match self.undo {
            Undo::Nothing => Numbers::Nothing,
            Undo::Word { from, to, .. } => Numbers::Word { from, to },
            Undo::Words { from, to, .. } => Numbers::Words { from, to },
            Undo::Few { from, to, .. } => Numbers::Few { from, to },
        };
        let ticket = Ticket { wait: self.wait, turn: self.turn, undo };
        self.keep();
        ticket
    }
}

impl Ticket {
    /// Returns the reservation again, of the limiter that has given it. (If that has another state
    /// since, the turn can only go to another call.)
    pub(crate) fn redeemed<'a, C: Clock>(
        self,
        reference: Reference<'a>,
        clock: &'a C,
        vacancies: &'a Vacancies,
        limiter: &'a dyn Settle,
    ) -> Reservation<'a, C> {
        let undo = match (self.undo, reference) {
            (Numbers::Word { from, to }, Reference::Pace { word, .. }) => {
                Undo::Word { word, from, to }
            }
            (Numbers::Words { from, to }, Reference::Paces(words)) => {
                Undo::Words { words, from, to }
            }
            (Numbers::Few { from, to }, Reference::Pace { few: Some(words), .. }) => {
                Undo::Few { words, from, to }
            }
            _ => Undo::Nothing,
        };
        let Ticket { wait, turn, .. } = self;
        Reservation { clock, wait, turn, undo, vacancies, limiter, gives_back: false }
    }
}
