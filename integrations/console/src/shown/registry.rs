//! The metrics of a console: put together once, then read for every answer.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windrow::export::{Outline, Source};
use windrow_prometheus::Exposition;

use super::heavy::Heavy;
use super::unit::Unit;

/// The metrics of a console.
pub(crate) struct Shown {
    pub(crate) service: String,
    /// The name of this process, and the version of its program.
    pub(crate) instance: String,
    pub(crate) version: String,
    pub(crate) metrics: Vec<Named>,
    pub(crate) heavy: Vec<Heavy>,
    pub(crate) durations: Vec<String>,
    /// The hosts to which it answers, beside this machine and addresses.
    pub(crate) hosts: Vec<String>,
    /// True if there is a log that has the past.
    pub(crate) has_log: bool,
    pub(crate) scraped: Exposition,
    begun: Instant,
    /// A text that differs from one start of the service to the next.
    pub(crate) epoch: String,
}

/// A source under a name.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) outline: Outline,
    /// The unit of its number, if it is one.
    pub(crate) unit: Unit,
    pub(crate) source: Arc<dyn Source>,
}

impl Shown {
    /// Returns no metrics yet, of a service with this name.
    pub(crate) fn new(service: String) -> Shown {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Shown {
            service,
            instance: format!("process {}", std::process::id()),
            version: String::new(),
            metrics: Vec::new(),
            heavy: Vec::new(),
            durations: Vec::new(),
            hosts: Vec::new(),
            has_log: false,
            // Names are keys of the page's addresses, too.
            scraped: Exposition::new().with_plain_names(),
            begun: Instant::now(),
            // A service is not started twice at the same nanosecond.
            epoch: format!("{:x}-{:x}", wall.as_nanos(), std::process::id()),
        }
    }

    /// Returns the time since the console was made.
    pub(crate) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the name of the unit of a metric's own number, or of a histogram's values; `None` if
    /// it is a plain number.
    pub(crate) fn unit(&self, metric: &Named) -> Option<&'static str> {
        if self.is_duration(&metric.name) { Some("ns") } else { metric.unit.name() }
    }

    /// Returns whether an event's values are nanoseconds.
    pub(crate) fn is_duration(&self, event: &str) -> bool {
        self.durations.iter().any(|duration| duration == event)
    }
}

impl Debug for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.metrics.iter().map(|metric| &metric.name);
        f.debug_struct("Console")
            .field("service", &self.service)
            .field("metrics", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
