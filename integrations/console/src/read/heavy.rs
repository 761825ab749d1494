//! The readings of heavy keys for frames.

use std::time::{Duration, Instant};

use crate::shown::heavy::{Heavy, Top};

/// A frame reads the keys anew after this many times the time that the last reading took.
const REST: u32 = 9;

/// The times of the readings for frames.
#[derive(Default)]
pub(crate) struct Turns {
    /// The time of the last reading, and the time that it took.
    last: Option<(Instant, Duration)>,
}

impl Turns {
    /// Reads all, if it is time for it.
    pub(crate) fn read<'h>(&mut self, all: &'h [Heavy]) -> Option<Vec<(&'h Heavy, Vec<Top>)>> {
        if self.last.is_some_and(|(at, took)| at.elapsed() < took * REST) {
            return None;
        }
        let begun = Instant::now();
        let read = all.iter().map(|heavy| (heavy, (heavy.tops)())).collect();
        self.last = Some((Instant::now(), begun.elapsed()));
        Some(read)
    }
}
