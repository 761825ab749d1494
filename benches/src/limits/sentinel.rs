//! sentinel-core: a resource with a flow rule, entered and left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sentinel_core::EntryBuilder;
use sentinel_core::flow::{self, Rule};

use super::{Limiter, Terms};
use crate::rivals::sentinel::start_ticker;

/// An entry counts after it was checked, in a window of two half seconds. The time is published
/// every millisecond.
pub struct Flow {
    resource: String,
}

impl Flow {
    /// The interval of its rules by default.
    pub const INTERVAL: Duration = Duration::from_secs(1);

    /// Returns a limit in a second; where it is less than one a second, nothing.
    ///
    /// # Panics
    /// If sentinel-core takes no such rule.
    pub fn new(terms: Terms) -> Flow {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        start_ticker();
        let resource = format!("limited {}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let threshold = (terms.limit as f64 / terms.interval.as_secs_f64()).floor();
        let rule = Rule { resource: resource.clone(), threshold, ..Rule::default() };
        let loaded = flow::load_rules_of_resource(&resource, vec![Arc::new(rule)]);
        assert!(loaded.expect("a sound rule"), "the rule is new");
        Flow { resource }
    }
}

impl Limiter for Flow {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        EntryBuilder::new(self.resource.clone()).build().map(|entry| entry.exit()).is_ok()
    }
}
