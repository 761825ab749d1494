//! Adds lost or counted twice when buckets change: every ring under the same test on virtual time
//! ([`crate::loss`]), at two paces.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Effort;
use super::progress::Progress;
use super::report::Table;
use super::stats::digits;
use crate::harness::cores;
use crate::loss::{self, BUCKETS, INTERVAL, Tally};
use crate::ours::{MakeRing, WINDROW};
use crate::rivals::{EPOCH_RING, MUTEX_RING};

/// Adds by one writer to a bucket before it opens the next. At some 20 ns an add the first makes
/// buckets of about 100 us; the second opens them about as fast as they can be opened.
const PACES: [u64; 2] = [5000, 50];

/// One ring, one number of threads, one pace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The contender.
    pub name: String,
    threads: usize,
    tally: Tally,
    /// The all-time total of the ring is the sum of all adds; `None` if it has no total.
    exact: Option<bool>,
}

impl Row {
    /// Lost counts for each bucket opened.
    pub fn lost_each(&self) -> f64 {
        self.tally.lost as f64 / self.tally.rotations.max(1) as f64
    }

    /// Returns whether no add was lost or counted twice.
    pub fn sound(&self) -> bool {
        self.tally.lost == 0 && self.tally.doubled == 0 && self.exact != Some(false)
    }

    /// Returns whether this ring says of itself that it loses nothing.
    pub fn must_be_sound(&self) -> bool {
        let right = [MUTEX_RING, EPOCH_RING];
        self.name.starts_with(WINDROW) || right.contains(&&*self.name)
    }
}

/// Measures.
pub fn rows(effort: Effort, rings: &[(&str, MakeRing)]) -> Vec<Row> {
    let length = effort.pick(Duration::from_millis(120), Duration::from_millis(1500));
    let threads = [cores().max(2), 2 * cores().max(2)];
    let all = PACES.len() * threads.len() * rings.len();
    let mut progress = Progress::begin("counts lost when buckets change");
    let mut rows = Vec::new();
    for pace in PACES {
        for threads in threads {
            for &(name, make) in rings {
                progress.step(name, rows.len(), all);
                let ring = make(INTERVAL, BUCKETS);
                let tally = loss::run(&*ring, threads, pace, length);
                let (name, exact) = (name.to_owned(), ring.exact(tally.added));
                rows.push(Row { name, threads, tally, exact });
            }
        }
    }
    progress.end();
    rows
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let heads = [
        "contender",
        "threads",
        "us a bucket",
        "rotations",
        "adds",
        "lost",
        "doubled",
        "lost per rotation",
        "lifetime",
    ];
    let mut table = Table::new("losses", "Counts lost when buckets change", heads);
    for row in rows {
        let Row { name, threads, tally, exact } = row;
        let bucket_us = tally.elapsed.as_micros() as f64 / tally.rotations.max(1) as f64;
        table.row([
            name.clone(),
            threads.to_string(),
            digits(bucket_us),
            tally.rotations.to_string(),
            tally.added.to_string(),
            tally.lost.to_string(),
            tally.doubled.to_string(),
            if tally.lost == 0 { "**0**".to_owned() } else { format!("{:.5}", row.lost_each()) },
            exact.map_or("-", |exact| if exact { "exact" } else { "**wrong**" }).to_owned(),
        ]);
    }
    table
}
