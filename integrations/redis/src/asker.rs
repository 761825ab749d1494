//! The thread that asks: for all limits of one engine, on one connection.
//!
//! It sends the asks of all limits that have one, in one write, and reads the answers one after the
//! other. What comes meanwhile goes out with the next write. An ask that is not answered is sent
//! again on a new connection, and given up after four attempts. No caller waits for this thread
//! beyond its patience, whatever system call it is in.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::connection::{Call, Connection, Said};
use crate::error::SharedError;
use crate::hub::Hub;
use crate::limit::Limit;
use crate::schedule::Schedule;

/// The number of attempts at an ask.
const ATTEMPTS: u32 = 4;

/// The number of asks in one write: their answers come well within the time of one.
const AT_ONCE: usize = 256;

/// The pause after a failed attempt; after several in a row up to five of them.
const PAUSE: u64 = 20_000;

/// The pause between attempts to connect while no limit wants asking.
const UNASKED: Duration = Duration::from_secs(1);

/// The thread that asks.
pub(crate) struct Asker {
    hub: Arc<Hub>,
    /// `None` after an error, until the next attempt.
    connection: Option<Connection>,
    /// The limits that are looked at.
    schedule: Schedule,
    /// The time at which the last lease of all ends.
    leases_end: u64,
    /// The failures since the last answer.
    failures: u32,
}

impl Asker {
    pub(crate) fn new(hub: Arc<Hub>, connection: Option<Connection>) -> Asker {
        Asker { hub, connection, schedule: Schedule::default(), leases_end: 0, failures: 0 }
    }

    /// Asks until the engine's last handle is gone.
    pub(crate) fn run(mut self) {
        while !self.hub.is_over() {
            self.hold_listed();
            let now = self.now();
            if now >= self.leases_end {
                self.hub.stop();
            }
            match self.schedule.first() {
                None if self.connection.is_some() => thread::park(),
                None => self.reach(),
                Some(due) if due > now => thread::park_timeout(Duration::from_micros(due - now)),
                Some(_) => {
                    if let Err(fault) = self.ask() {
                        self.fail(fault);
                    }
                }
            }
        }
    }

    /// Connects though nothing is to be asked: for the first time, or so that the return of an
    /// engine is noticed without a request.
    fn reach(&mut self) {
        match Connection::open(&self.hub.target) {
            Ok(connection) => {
                self.connection = Some(connection);
                self.failures = 0;
                self.hub.answered(self.now(), false);
            }
            Err(fault) => {
                self.fail(fault);
                thread::park_timeout(UNASKED);
            }
        }
    }

    fn now(&self) -> u64 {
        self.hub.time().now()
    }

    /// Looks from now on at the limits that want asking.
    fn hold_listed(&mut self) {
        let listed = self.hub.listed();
        if listed.is_empty() {
            return;
        }
        let now = self.now();
        for limit in listed {
            limit.leave_list();
            let until = reason_ends(&limit, now);
            self.schedule.hold(limit, now, until);
        }
    }

    /// Sends the asks that are due, and takes the answers.
    fn ask(&mut self) -> Result<(), SharedError> {
        if self.connection.is_none() {
            self.connection = Some(Connection::open(&self.hub.target)?);
        }
        // (Stamps are taken once there is a connection: time to connect is not taken off rations.)
        let now = self.now();
        let calls = self.calls(now);
        let target = &self.hub.target;
        let Some(connection) = self.connection.as_mut().filter(|_| !calls.is_empty()) else {
            return Ok(());
        };
        self.hub.sent(calls.len(), now);
        connection.send(&calls, target)?;
        for (i, call) in calls.iter().enumerate() {
            let said = connection.receive(target, &call.limit.name)?;
            let now = self.hub.time().now();
            self.hub.answered(now, i + 1 < calls.len());
            self.failures = 0;
            match said {
                Said::Answered(answer) => call.limit.answer(now, &call.attempt, &answer),
                Said::Unusable(fault) => call.limit.be_unusable(now, fault),
            }
            self.leases_end = self.leases_end.max(call.limit.permits.leases_end());
            self.schedule.look_next(&call.limit, next_look(&call.limit, now), now);
        }
        Ok(())
    }

    /// Returns the asks that are due, at most those of one write.
    fn calls(&mut self, now: u64) -> Vec<Call> {
        let (mut calls, mut last) = (Vec::new(), (0, 0));
        // The longest due come first, so that none is passed over again and again.
        while calls.len() < AT_ONCE
            && let Some(look) = self.schedule.due_behind(last, now)
        {
            last = look;
            let Some(held) = self.schedule.get(look) else { continue };
            let attempt = if held.attempts > 0 {
                held.limit.machine().repeat(now)
            } else {
                held.limit.poll(now)
            };
            let limit = held.limit.clone();
            if let Some(attempt) = attempt {
                held.attempts += 1;
                held.until = reason_ends(&limit, now);
                calls.push(Call { limit, attempt });
            } else {
                self.schedule.look_next(&limit, next_look(&limit, now), now);
            }
        }
        calls
    }

    /// Drops the connection, gives up the asks that had all their attempts, and pauses.
    fn fail(&mut self, fault: SharedError) {
        let was_connected = self.connection.take().is_some();
        let now = self.now();
        // A connection that was closed, as engines do with idle ones, and a script that was flushed
        // are no absence yet.
        let is_mended = match &fault {
            SharedError::Unreachable { .. } => true,
            SharedError::Refused { code } => code == "NOSCRIPT",
            _ => false,
        };
        if was_connected && self.failures == 0 && is_mended {
            self.failures = 1;
            return;
        }
        self.hub.failed(now, fault);
        self.failures += 1;
        for look in self.schedule.due(now) {
            let Some(held) = self.schedule.get(look) else { continue };
            let limit = held.limit.clone();
            if held.attempts >= ATTEMPTS || self.failures > ATTEMPTS {
                limit.give_up(now);
                self.schedule.look_next(&limit, next_look(&limit, now), now);
            } else {
                // They wait for an engine that is away: that is for their policy.
                limit.waiters.wake();
            }
        }
        let until = now + PAUSE * u64::from(self.failures.min(5));
        while !self.hub.is_over() && self.now() < until {
            thread::park_timeout(Duration::from_micros(until.saturating_sub(self.now())));
        }
    }
}

/// A thread that has ended by a panic (of a waker) leaves the engine away.
impl Drop for Asker {
    fn drop(&mut self) {
        self.hub.failed(0, SharedError::NoThread { reason: "it has ended".into() });
        self.schedule.each().for_each(|held| held.limit.waiters.wake());
    }
}

/// Returns the time until which there is reason to look at a limit, without another request: what
/// it may be granted now has ended by then, and was returned.
fn reason_ends(limit: &Limit, now: u64) -> u64 {
    now + 3 * limit.bucket
}

/// Returns the time of the next look at a limit.
fn next_look(limit: &Limit, now: u64) -> u64 {
    let part = limit.bucket / if limit.permits.left(now) > 0 { 64 } else { 4 };
    let soon = now + part.max(500);
    // Those that wait were refused until then.
    if limit.waiters.is_empty() { soon } else { soon.min(limit.refusal().until).max(now + 500) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::absence::Absence;
    use crate::machine::{Answer, DRIFT, State, Terms};
    use crate::names::Keys;
    use crate::target::Target;

    const LENGTH: u64 = 100_000;

    fn limit() -> Arc<Limit> {
        let terms = Terms { limit: 1_000, version: 1, length: LENGTH, buckets: 10, drift: DRIFT };
        let keys = Keys { ledger: [].into(), epoch: [].into() };
        Arc::new(Limit::new("many".into(), terms, [0; 8], keys, Absence::Refuse))
    }

    /// Returns an asker that looks at a number of limits, and no engine.
    fn asker(limits: usize) -> Asker {
        let target = Target::of("redis://127.0.0.1", Duration::from_secs(1)).unwrap();
        let hub = Arc::new(Hub::new(target));
        let mut asker = Asker::new(hub, None);
        (0..limits).for_each(|_| asker.schedule.hold(limit(), 0, u64::MAX));
        asker
    }

    /// More limits are always due than one write takes. After three writes each had its turn.
    #[test]
    fn a_limit_that_is_due_longest_is_asked_for_first() {
        let limits = 2 * AT_ONCE + AT_ONCE / 2;
        let mut asker = asker(limits);
        let refused = Answer {
            state: State::Answered,
            granted: 0,
            bucket: 0,
            age: 0,
            left: 0,
            limit: 1_000,
            version: 1,
            clients: 1,
            wait: Some(1),
            born: 0,
        };
        let mut served = HashSet::new();
        for turn in 1..=3 {
            let now = turn * LENGTH;
            asker.schedule.each().for_each(|held| _ = held.limit.miss(1, 1));
            let calls = asker.calls(now);
            assert_eq!(calls.len(), AT_ONCE);
            for call in &calls {
                served.insert(Arc::as_ptr(&call.limit));
                call.limit.answer(now, &call.attempt, &refused);
                asker.schedule.look_next(&call.limit, next_look(&call.limit, now), now);
            }
            assert_eq!(asker.schedule.due(now + LENGTH).len(), limits);
        }
        assert_eq!(served.len(), limits, "of {limits} limits the others wait for ever");
    }
}
