//! Turns: the moments for which calls of gates and paces wait, and what becomes of those whose
//! callers give up.

mod refused;
mod reservation;
mod settle;
pub(crate) mod told;
mod undo;
pub(crate) mod vacancies;

pub use refused::RefusedError;
pub(crate) use reservation::Reference;
pub use reservation::{Reservation, Ticket};
pub(crate) use settle::Settle;
pub(crate) use undo::Undo;
