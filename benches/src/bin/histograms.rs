//! `histograms [ROUNDS]`: what one more value costs, and what three percentiles cost, in windrow's
//! histogram and in others.
//!
//! Values are log-normal, around a millisecond in nanoseconds. Interleaved rounds, each contender
//! on one thread and on one for each core: the median of a round's CPU time for each operation, its
//! minimum and its maximum; and the factor by which windrow takes less. With the feature `labels`,
//! OpenTelemetry's SDK too. Bytes are those of one histogram out of a thousand, each recorded to by
//! every core.

use std::error::Error;
use std::hint::black_box;
use std::thread;

use windrow::diagnostics::strategy;
use windrow_benches::harness::{WARM_UP, cores, in_rounds, keep_to_core, spend_on_adds, time};
use windrow_benches::heap::{Counting, resident};
use windrow_benches::histograms::{Maker, OWN, Records, TICKED, makers};
use windrow_benches::lab::stats::{MARK, Sample, Spread};
use windrow_benches::terminal::{print_caption, print_table};

#[global_allocator]
static HEAP: Counting = Counting::new();

/// Operations of a thread in a round.
const TIMES: u64 = 100_000;
/// The number of histograms whose bytes are measured.
const MANY: usize = 1_000;
/// The number of reads of a histogram that are timed together.
const READS: u32 = 100;

/// One contender, and its times so far, by the number of threads.
struct Measured {
    name: &'static str,
    rival: Box<dyn Records>,
    recorded: u64,
    records: [Vec<Sample>; 2],
    reads: Vec<f64>,
}

impl Measured {
    fn new((name, make): Maker) -> Measured {
        let (records, reads) = (Default::default(), Vec::new());
        Measured { name, rival: make(), recorded: 0, records, reads }
    }

    fn measure(&mut self, threads: [usize; 2]) {
        for (samples, threads) in self.records.iter_mut().zip(threads) {
            let spent = spend_on_adds(&*self.rival, threads, TIMES);
            samples.push(Sample::new(spent, 0.0, TIMES));
            self.recorded += threads as u64 * (TIMES + WARM_UP);
            // Also lets those that put values aside work them off.
            let count = self.rival.sum();
            assert!(count == self.recorded || count == 0, "{} lost values", self.name);
        }
        if self.rival.quantiles().is_some() {
            let took = time(|| (0..READS).for_each(|_| _ = black_box(self.rival.quantiles())));
            self.reads.push(took.as_secs_f64() * 1e6 / f64::from(READS));
        }
    }

    /// Returns its costs, and the ratios of another's to them.
    fn row(&self, of: &Measured) -> Vec<String> {
        let cost = |at: usize| Spread::of_samples(&self.records[at], |sample| sample.cpu_ns).show();
        let ratio = |at: usize| {
            let pairs = of.records[at].iter().zip(&self.records[at]);
            Spread::of(pairs.map(|(one, other)| one.cpu_ns / other.cpu_ns)).show()
        };
        vec![self.name.to_owned(), cost(0), ratio(0), cost(1), ratio(1)]
    }

    fn reads(&self) -> Vec<String> {
        let cost = Spread::of(self.reads.iter().copied()).show();
        let percentiles = self.rival.quantiles().unwrap_or_default();
        vec![self.name.to_owned(), cost, format!("{percentiles:?}")]
    }
}

/// Prints each record of one thread in parts of hdrhistogram's own, by `&mut`.
fn beside_own(all: &[Measured]) {
    let own = OWN.map(|name| all.iter().find(|one| one.name == name).expect("it is there"));
    let ratio = |one: &Measured, own: &Measured| {
        let pairs = one.records[0].iter().zip(&own.records[0]);
        Spread::of(pairs.map(|(one, own)| one.cpu_ns / own.cpu_ns)).show()
    };
    let shown = |name: &str| name.starts_with("windrow") || name.starts_with("a plain");
    let rows: Vec<_> = all
        .iter()
        .filter(|one| shown(one.name))
        .map(|one| vec![one.name.to_owned(), ratio(one, own[0]), ratio(one, own[1])])
        .collect();
    debug_assert!(rows.iter().any(|row| row[0] == TICKED));
    print_table(&["in parts of hdrhistogram by &mut, 1 thread", "2 digits", "3 digits"], &rows);
    println!();
}

/// Returns what each of many takes, once every core has recorded all values to it.
fn bytes((name, make): Maker) -> Vec<String> {
    let (heap, pages) = (HEAP.bytes(), resident());
    let all: Vec<Box<dyn Records>> = (0..MANY).map(|_| make()).collect();
    for core in 0..cores() {
        thread::scope(|scope| {
            scope.spawn(|| {
                keep_to_core(core);
                for one in &all {
                    one.add_many(1_024);
                }
            });
        });
    }
    // The greater of the two: resident memory may have been free before.
    let bytes = (HEAP.bytes() - heap).max(resident().saturating_sub(pages)) / MANY;
    vec![name.to_owned(), bytes.to_string()]
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(15), |rounds| rounds.parse())?;
    let threads = [1, cores()];
    let sizes: Vec<_> = makers().into_iter().map(bytes).collect();
    HEAP.stop(true);
    let mut all: Vec<Measured> = makers().into_iter().map(Measured::new).collect();
    in_rounds(rounds.max(1), &mut all, |one| one.measure(threads));
    print_caption("histograms");
    println!("windrow is {:?}\n", strategy());
    let many = format!("{} threads", threads[1]);
    let rows: Vec<_> = all.iter().map(|one| one.row(&all[0])).collect();
    let ours = "Histogram / this";
    print_table(&["ns a record", "1 thread", ours, &many, ours], &rows);
    println!("\n{MARK}\n");
    beside_own(&all);
    let rows: Vec<_> =
        all.iter().filter(|one| !one.reads.is_empty()).map(Measured::reads).collect();
    print_table(&["us a read of three percentiles", "median (least to greatest)", "said"], &rows);
    println!();
    print_table(&["bytes each", "every core has recorded to it"], &sizes);
    Ok(())
}
