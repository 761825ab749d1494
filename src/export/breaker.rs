//! A breaker as a source: a series for each of its counts.

use std::time::SystemTime;

use super::form::Form;
use super::metric::AnyMetric;
use super::outline::Outline;
use super::source::{Series, Source};
use crate::breaker::{Breaker, Counts};
use crate::clock::Clock;
use crate::family::LabelValue;

/// The label of a count's name.
const EVENT: &str = "event";

/// The series are the [counts](Breaker::counts), by the label `event`.
///
/// ```
/// use windrow::breaker::Settings;
/// use windrow::export::Source;
/// use windrow::{Breaker, labels::LabelValue};
///
/// static PAYMENTS: Breaker = Breaker::of(Settings::last_calls(100));
///
/// let mut events = Vec::new();
/// PAYMENTS.visit(&mut |series| {
///     series.labels(&mut |name, value| events.push(format!("{name}={value}")));
/// });
/// assert_eq!(events[..3], ["event=opened", "event=half_opened", "event=closed"]);
/// assert_eq!(events.len(), 8); // and refused, succeeded, failed, slow, ignored
/// ```
impl<C: Clock + Send + Sync> Source for Breaker<C> {
    fn outline(&self) -> Outline {
        Outline {
            labels: vec![EVENT.to_owned()],
            max_series: Counts::default().named().len(),
            ..Outline::from(Form::Counter)
        }
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        for (number, (event, count)) in (0..).zip(self.counts().named()) {
            see(&Named { number, event, count });
        }
    }
}

/// A count with its name.
struct Named {
    number: u64,
    event: &'static str,
    count: u64,
}

impl Series for Named {
    fn number(&self) -> u64 {
        self.number
    }

    fn is_overflow(&self) -> bool {
        false
    }

    fn created(&self) -> Option<SystemTime> {
        None
    }

    #[inline]
    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        see(EVENT, LabelValue::Text(self.event));
    }

    fn metric(&self) -> AnyMetric<'_> {
        AnyMetric::Count(Some(self.count))
    }
}
