//! The lines before the paces of a layer, one for each.

use std::collections::HashMap;
use std::ptr;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use windrow::Timestamp;

use crate::line::Line;

/// The line of each pace that has refused a request, by the pace's address. The paces are in
/// statics, so their number is bounded, and no two have one address.
#[derive(Debug, Default)]
pub(super) struct Lines(RwLock<HashMap<usize, Line>>);

impl Lines {
    /// Takes the next place in the line of a pace: see [`Line::join`].
    pub(super) fn join<P>(
        &self,
        pace: &'static P,
        now: Timestamp,
        wait: Duration,
        takes: Duration,
    ) -> Duration {
        let address = ptr::from_ref(pace).addr();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = known.get(&address) {
            return line.join(now, wait, takes);
        }
        drop(known);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(address).or_default().join(now, wait, takes)
    }
}
