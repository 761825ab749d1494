//! Adds lost or counted twice when buckets change: every ring under the same test on virtual time
//! ([`crate::loss`]), at two paces.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Effort;
use super::portable::Whom;
use super::progress::Progress;
use super::report::Table;
use super::stats::digits;
use crate::harness::cores;
use crate::loss::{self, BUCKETS, INTERVAL};
use crate::ours::{RINGS, WINDROW};
use crate::rivals::{EPOCH_RING, MUTEX_RING};

/// Adds by one writer to a bucket before it opens the next. At some 20 ns an add the first makes
/// buckets of about 100 us; the second opens them about as fast as they can be opened.
const PACES: [u64; 2] = [5000, 50];

/// One ring, one number of threads, one pace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The contender.
    pub name: String,
    /// Writers.
    pub threads: usize,
    /// Adds by a writer to a bucket.
    pub pace: u64,
    /// Microseconds of wall time that a bucket was live.
    pub bucket_us: f64,
    /// Buckets opened after the first.
    pub rotations: u64,
    /// Everything that was added.
    pub added: u64,
    /// The sum that was missing, over the buckets with missing adds.
    pub lost: u64,
    /// The sum of the excess, over the buckets with too large a sum.
    pub doubled: u64,
    /// The all-time total of the ring is the sum of all adds; `None` if it has no total.
    pub exact: Option<bool>,
}

impl Row {
    /// Lost counts for each bucket opened.
    pub fn lost_each(&self) -> f64 {
        self.lost as f64 / self.rotations.max(1) as f64
    }

    /// Returns whether no add was lost or counted twice.
    pub fn sound(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.exact != Some(false)
    }

    /// Returns whether this ring says of itself that it loses nothing.
    pub fn must_be_sound(&self) -> bool {
        let right = [MUTEX_RING, EPOCH_RING];
        self.name.starts_with(WINDROW) || right.contains(&&*self.name)
    }
}

/// Measures.
pub fn rows(effort: Effort, whom: Whom) -> Vec<Row> {
    let length = effort.pick(Duration::from_millis(120), Duration::from_millis(1500));
    let threads = [cores().max(2), 2 * cores().max(2)];
    let rings: Vec<_> =
        RINGS.into_iter().filter(|(name, _)| whom == Whom::All || *name == WINDROW).collect();
    let all = PACES.len() * threads.len() * rings.len();
    let mut progress = Progress::begin("counts lost when buckets change");
    let mut rows = Vec::new();
    for pace in PACES {
        for threads in threads {
            for &(name, make) in &rings {
                progress.step(name, rows.len(), all);
                let ring = make(INTERVAL, BUCKETS);
                let tally = loss::run(&*ring, threads, pace, length);
                rows.push(Row {
                    name: name.to_owned(),
                    threads,
                    pace,
                    bucket_us: tally.elapsed.as_micros() as f64 / tally.rotations.max(1) as f64,
                    rotations: tally.rotations,
                    added: tally.added,
                    lost: tally.lost,
                    doubled: tally.doubled,
                    exact: ring.exact(tally.added),
                });
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
        table.row([
            row.name.clone(),
            row.threads.to_string(),
            digits(row.bucket_us),
            row.rotations.to_string(),
            row.added.to_string(),
            row.lost.to_string(),
            row.doubled.to_string(),
            if row.lost == 0 { "**0**".to_owned() } else { format!("{:.5}", row.lost_each()) },
            row.exact.map_or("-", |exact| if exact { "exact" } else { "**wrong**" }).to_owned(),
        ]);
    }
    table
}
