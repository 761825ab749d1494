//! The lines before the paces of a layer, one for each.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use crate::line::Line;
use crate::pace::turn::sealed::Turns;

/// The line of each pace that has refused a request, by the pace's address. The paces are in
/// statics, so their number is bounded, and no two have one address.
#[derive(Debug, Default)]
pub(super) struct Lines(RwLock<HashMap<usize, Line>>);

impl Lines {
    /// Takes the next place in the line of a pace: see [`Line::join`].
    pub(super) fn join<P: Turns>(&self, pace: P, wait: Duration, takes: Duration) -> Duration {
        let join = |line: &Line| line.join(pace.now(), wait, takes);
        // Lines are valid even if a clock has panicked.
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = known.get(&pace.address()) {
            return join(line);
        }
        drop(known);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        join(all.entry(pace.address()).or_default())
    }
}
