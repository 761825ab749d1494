//! The exporter's thread: when it exports, and what it sends again.

use std::collections::VecDeque;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout_at};
use windrow::Counter;

use crate::acknowledged::Acknowledged;
use crate::batch::Batch;
use crate::collect::Collector;
use crate::error::ExportError;
use crate::random::fraction;
use crate::temporality::Temporality;
use crate::wire::{Failure, Wire};

/// The longest time before the first retry, and before any.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// The longest time for which a collector may put off the next request.
const LONGEST_DELAY: Duration = Duration::from_secs(600);

/// A request to the exporter's thread.
pub(crate) enum Command {
    /// An export now, and its outcome.
    Flush(Asker),
    /// A last export, and its outcome.
    End(Asker),
}

/// The way back to the caller, which waits for an outcome.
pub(crate) type Asker = mpsc::SyncSender<Result<(), ExportError>>;

/// The program's function for errors.
pub(crate) type OnError = Box<dyn Fn(&ExportError) + Send>;

/// The work of the thread: collecting, sending, and waiting.
pub(crate) struct Worker {
    collector: Collector,
    acknowledged: Acknowledged,
    wire: Wire,
    on_error: OnError,
    /// The number of data points of which it is unknown whether the collector took them.
    unknown: Arc<Counter>,
    /// The requests of the last collection that are still to be accepted: of deltas, which must be
    /// repeated as they are. Totals are read anew.
    waiting: VecDeque<Batch>,
    /// The error after which the last export stopped. Errors that are not retried stop none.
    stopped: Option<ExportError>,
    /// The number of exports in succession that stopped.
    failures: u32,
}

impl Worker {
    pub(crate) fn new(
        collector: Collector,
        wire: Wire,
        on_error: OnError,
        unknown: Arc<Counter>,
    ) -> Worker {
        let acknowledged = Acknowledged::new(collector.sources.len());
        let (waiting, stopped, failures) = (VecDeque::new(), None, 0);
        Worker { collector, acknowledged, wire, on_error, unknown, waiting, stopped, failures }
    }

    /// Exports once in each period, and when it is asked to, until it is told to end.
    pub(crate) async fn run(mut self, mut asked: UnboundedReceiver<Command>, period: Duration) {
        let mut next = after(Instant::now(), period);
        loop {
            match timeout_at(next, asked.recv()).await {
                Ok(Some(Command::Flush(answer))) => {
                    let outcome = self.export().await;
                    next = self.next(next, period);
                    let _ = answer.send(outcome); // the caller waits
                }
                Ok(Some(Command::End(answer))) => {
                    // The caller waits, unless it is this thread.
                    let _ = answer.send(self.end().await);
                    return;
                }
                Ok(None) => return, // there is no handle without `End`
                Err(_) => {
                    let _ = self.export().await; // `on_error` was called with its errors
                    next = self.next(next, period);
                }
            }
        }
    }

    /// Returns the time of the next export.
    fn next(&mut self, planned: Instant, period: Duration) -> Instant {
        let now = Instant::now();
        if let Some(error) = self.stopped.take() {
            self.failures = self.failures.saturating_add(1);
            return now + retry_delay(self.failures, &error);
        }
        self.failures = 0;
        if planned > now { planned } else { after(planned, period).max(now) }
    }

    /// Sends what was to be sent before, and then what there is. Returns the first error.
    async fn export(&mut self) -> Result<(), ExportError> {
        let mut outcome = Ok(());
        if !self.waiting.is_empty() {
            outcome = self.send().await;
            if !self.waiting.is_empty() {
                return outcome;
            }
        }
        self.waiting = self.collector.collect(&mut self.acknowledged).into();
        let sent = self.send().await;
        outcome.and(sent)
    }

    /// Sends the waiting requests, up to one that must be tried again. Returns the first error.
    async fn send(&mut self) -> Result<(), ExportError> {
        let mut outcome = Ok(());
        while let Some(mut batch) = self.waiting.pop_front() {
            let told = match self.wire.send(&batch.body).await {
                Ok(taken) => {
                    // Which data points were rejected is unknown, and none may be repeated.
                    self.acknowledged.acknowledge(batch.pending);
                    taken
                }
                Err(Failure { error, may_have_arrived }) => {
                    batch.may_have_arrived |= may_have_arrived;
                    if error.is_retried() {
                        self.put_off(batch, error.clone());
                        self.tell(&error);
                        return outcome.and(Err(error));
                    }
                    Err(self.give_up(batch, error))
                }
            };
            if let Err(error) = &told {
                self.tell(error);
            }
            outcome = outcome.and(told);
        }
        outcome
    }

    /// Keeps a request of deltas for the next try. Totals are read anew.
    fn put_off(&mut self, batch: Batch, error: ExportError) {
        self.stopped = Some(error);
        match self.collector.maker.temporality {
            Temporality::Cumulative => self.waiting.clear(),
            Temporality::Delta => self.waiting.push_front(batch),
        }
    }

    /// Gives up a request, which is not sent again, and returns what is to be told of it. `last` is
    /// the error of the last attempt.
    ///
    /// If no attempt can have arrived, the numbers of the request are in the next collection. If
    /// one can, they must be in none: the collector may have them. A refusal of a repetition does
    /// not say that it has not: a backend refuses what it has.
    fn give_up(&mut self, batch: Batch, last: ExportError) -> ExportError {
        if !batch.may_have_arrived || batch.deltas == 0 {
            return last;
        }
        self.acknowledged.acknowledge(batch.pending);
        self.unknown.add(batch.deltas);
        ExportError::Unknown { points: batch.deltas, last: Box::new(last) }
    }

    /// Exports a last time, and gives up what waits then.
    async fn end(&mut self) -> Result<(), ExportError> {
        let outcome = self.export().await;
        if let Some(last) = self.stopped.take() {
            for batch in take(&mut self.waiting) {
                let error = self.give_up(batch, last.clone());
                if error != last {
                    self.tell(&error); // `last` was told
                }
            }
        }
        outcome
    }

    /// Calls the program's function. A panic there ends nothing here: the panic hook reports it.
    fn tell(&self, error: &ExportError) {
        let _ = catch_unwind(AssertUnwindSafe(|| (self.on_error)(error)));
    }
}

/// Returns the time after a period; if there is no such time, one in thirty years.
fn after(from: Instant, period: Duration) -> Instant {
    let years = Duration::from_secs(30 * 365 * 24 * 3600);
    from.checked_add(period).unwrap_or_else(|| from + years)
}

/// Returns the time until the next try: random, up to a time that doubles with each failure, and no
/// less than the collector asks for.
fn retry_delay(failures: u32, error: &ExportError) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let most = FIRST_RETRY.saturating_mul(1 << doublings).min(LAST_RETRY);
    // At least half of it, so that retries are no storm.
    let delay = most.mul_f64(0.5 + fraction() / 2.0);
    match error {
        ExportError::Unavailable { retry_after: Some(asked), .. } => {
            delay.max((*asked).min(LONGEST_DELAY))
        }
        _ => delay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_minute_and_heed_the_collector() {
        let lost = ExportError::Connection { error: String::new() };
        for (failures, most) in [(1, 1_000), (2, 2_000), (6, 32_000), (7, 60_000), (99, 60_000)] {
            let most = Duration::from_millis(most);
            let delay = retry_delay(failures, &lost);
            assert!((most / 2..=most).contains(&delay), "{failures}: {delay:?}");
        }
        let asks = |seconds| ExportError::Unavailable {
            status: 503,
            message: String::new(),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        assert_eq!(retry_delay(1, &asks(30)), Duration::from_secs(30));
        assert_eq!(retry_delay(1, &asks(u64::MAX)), LONGEST_DELAY);
    }
}
