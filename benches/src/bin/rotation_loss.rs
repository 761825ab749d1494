//! What is lost or counted twice when buckets change, for windrow and its rivals under one test
//! (see `loss`): each bucket's total once it is closed, against the writers' ledgers.
//!
//! Options: `--seconds` per contender over all its runs (5).
//!
//! Ends with an error if windrow, or the control, lost or doubled anything.

use std::process::ExitCode;
use std::time::Duration;

use windrow_benches::harness::cores;
use windrow_benches::loss::{BUCKETS, INTERVAL, Tally, run};
use windrow_benches::ours::{GivenTimeWindow, WINDROW};
use windrow_benches::rivals::cas_ring::CasRing;
use windrow_benches::rivals::leap_array::LeapArray;
use windrow_benches::rivals::mutex_ring::MutexRing;
use windrow_benches::rivals::{CAS_RING, LEAP_ARRAY, MUTEX_RING};
use windrow_benches::terminal;

/// Adds by one writer to a bucket before it opens the next. At some 20 ns an add the first makes
/// buckets of about 100 us; the second opens them about as fast as they can be opened.
const PACES: [u64; 2] = [5000, 50];

/// The table's rows so far, and whether those who must lose nothing lost nothing.
struct Report {
    length: Duration,
    rows: Vec<Vec<String>>,
    sound: bool,
}

impl Report {
    fn announce(&self, name: &str, threads: usize, pace: u64) {
        eprintln!("{name}, {threads} threads, {pace} adds a bucket, {:?} ...", self.length);
    }

    fn enter(&mut self, name: &str, threads: usize, tally: Tally, lifetime: &str) {
        let rotations = tally.rotations.max(1) as f64;
        self.rows.push(vec![
            name.into(),
            threads.to_string(),
            format!("{:.1}", tally.elapsed.as_micros() as f64 / rotations),
            tally.rotations.to_string(),
            tally.added.to_string(),
            tally.lost.to_string(),
            tally.doubled.to_string(),
            format!("{:.5}", tally.lost as f64 / rotations),
            lifetime.into(),
        ]);
    }

    fn must_be_exact(&mut self, tally: Tally) {
        self.sound &= tally.lost == 0 && tally.doubled == 0;
    }

    fn windrow(&mut self, threads: usize, pace: u64) {
        self.announce(WINDROW, threads, pace);
        let window = GivenTimeWindow::new(INTERVAL, BUCKETS);
        let tally = run(&window, threads, pace, self.length);
        let (lifetime, late) = window.lifetime_and_late();
        let exact = lifetime == tally.added && late == 0;
        let verdict = if exact { "exact".into() } else { format!("{lifetime}, {late} late") };
        self.enter(WINDROW, threads, tally, &verdict);
        self.must_be_exact(tally);
        self.sound &= exact;
    }
}

fn main() -> ExitCode {
    terminal::print_caption("rotation_loss");
    let threads = [cores(), 2 * cores()];
    let runs = (PACES.len() * threads.len()) as u32;
    let length = Duration::from_secs(terminal::option("--seconds", 5)) / runs;
    let mut report = Report { length, rows: Vec::new(), sound: true };
    for pace in PACES {
        for threads in threads {
            report.windrow(threads, pace);

            report.announce(LEAP_ARRAY, threads, pace);
            let tally = run(&LeapArray::new(INTERVAL, BUCKETS), threads, pace, length);
            report.enter(LEAP_ARRAY, threads, tally, "-");

            report.announce(CAS_RING, threads, pace);
            let tally = run(&CasRing::new(INTERVAL, BUCKETS), threads, pace, length);
            report.enter(CAS_RING, threads, tally, "-");

            report.announce(MUTEX_RING, threads, pace);
            let tally = run(&MutexRing::new(INTERVAL, BUCKETS), threads, pace, length);
            report.enter(MUTEX_RING, threads, tally, "-");
            report.must_be_exact(tally);
        }
    }
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
    terminal::print_table(&heads, &report.rows);
    if report.sound {
        ExitCode::SUCCESS
    } else {
        eprintln!("windrow or the control is not exact");
        ExitCode::FAILURE
    }
}
