//! A client of a schedule: the machine with its permits, its clock, and its twin's mistakes.
//!
//! A twin's mistakes are made here, between the machine and the network, so the machine itself has
//! none of them.

use super::network::Event;
use super::twin::Twin;
use crate::machine::{Answer, Ask, Attempt, Machine, Terms};
use crate::permits::Permits;

/// The time after which an ask is repeated.
const REPEATED: u64 = 40_000;

pub(super) struct Client {
    machine: Machine,
    pub(super) permits: Permits,
    twin: Twin,
    /// The drift of its clock against the engine's, in millionths.
    drift: i64,
    pub(super) is_alive: bool,
    /// The time until which its machine is suspended.
    pub(super) suspended: u64,
    /// The events that arrive meanwhile.
    pub(super) inbox: Vec<Event>,
    /// The time between two requests.
    pub(super) load: f64,
    /// The number of attempts after which it gives up an ask.
    attempts: usize,
    /// The largest weight that found no permit since the last look.
    missed: u64,
    /// The last ask, for its permits that were given back.
    returned: Option<Ask>,
    pub(super) asks: u64,
}

impl Client {
    pub(super) fn new(terms: Terms, twin: Twin, drift: i64, load: f64, attempts: usize) -> Client {
        let drift_allowed = if twin == Twin::NoDrift { 0 } else { terms.drift };
        Client {
            machine: Machine::new(Terms { drift: drift_allowed, ..terms }),
            permits: Permits::new(),
            twin,
            drift,
            is_alive: true,
            suspended: 0,
            inbox: Vec::new(),
            load,
            attempts,
            missed: 0,
            returned: None,
            asks: 0,
        }
    }

    /// The client's clock.
    pub(super) fn now(&self, at: u64) -> u64 {
        let drifted = at.cast_signed() + at.cast_signed() * self.drift / 1_000_000;
        drifted.cast_unsigned()
    }

    /// Takes permits. Returns the end by which they can be put back.
    pub(super) fn take(&mut self, at: u64, weight: u64) -> Option<u64> {
        let end = self.permits.take_for(self.now(at), weight);
        if end.is_none() {
            self.permits.miss(weight);
            self.missed = self.missed.max(weight);
        }
        end
    }

    /// Returns what is to be sent now.
    pub(super) fn look(&mut self, at: u64) -> Option<Attempt> {
        let now = self.now(at);
        let attempt = match self.machine.pending() {
            Some(pending) if now <= pending.sent + REPEATED => None,
            Some(pending) if pending.attempt + 1 >= self.attempts => {
                self.machine.abandon(now);
                None
            }
            Some(_) => self.machine.repeat(now),
            None => {
                let need = std::mem::take(&mut self.missed);
                self.machine.poll(&self.permits, now, need).map(|attempt| self.again(attempt))
            }
        };
        self.asks += u64::from(attempt.is_some());
        attempt.map(|attempt| self.numbered(attempt))
    }

    /// Twin: what was given back rides in the next ask as well.
    fn again(&mut self, mut attempt: Attempt) -> Attempt {
        if self.twin == Twin::ReturnTwice {
            let before = self.returned.replace(attempt.ask);
            if let (0, Some(before)) = (attempt.ask.back.count, before) {
                attempt.ask.back = before.back;
            }
        }
        attempt
    }

    /// Numbers on the wire leave room for a twin's: a repetition by a new number.
    fn numbered(&self, mut attempt: Attempt) -> Attempt {
        let own = if self.twin == Twin::NewNumber { attempt.attempt as u64 } else { 0 };
        attempt.ask.number = attempt.ask.number * 16 + own;
        attempt
    }

    pub(super) fn answer(
        &mut self,
        at: u64,
        number: u64,
        attempt: usize,
        sent: u64,
        mut answer: Answer,
    ) {
        let now = self.now(at);
        let number = number / 16;
        let mut attempt = attempt;
        if self.twin == Twin::OneStamp
            && let Some(pending) = self.machine.pending()
        {
            attempt = pending.attempt;
        }
        if self.twin == Twin::FromAnswer {
            answer.age = answer.age.saturating_sub(now.saturating_sub(sent));
        }
        self.machine.answer(&self.permits, now, number, attempt, &answer);
    }

    pub(super) fn set_limit(&mut self, limit: u64) {
        self.machine.set_limit(limit);
    }
}
