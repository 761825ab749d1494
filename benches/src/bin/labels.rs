//! `labels [ROUNDS]`: the cost of one more count, or one more value, of series with names and
//! labels.
//!
//! 256 series of one name with three labels, one of them hot. Interleaved rounds, each contender on
//! one thread and on one for each core: the median of a round's CPU time for each operation, its
//! minimum and its maximum. Then a text of ten thousand counters; and a `counter!` whose key is any
//! of up to a hundred thousand.

use std::error::Error;

use windrow_benches::facade;
use windrow_benches::harness::{Contender, WARM_UP, cores, in_rounds, spend_on_adds};
use windrow_benches::lab::stats::{MARK, Sample, Spread};
use windrow_benches::terminal::{print_caption, print_table};

/// Operations of a thread in a round.
const TIMES: u64 = 100_000;

/// One contender, and its times so far, by the number of threads.
struct Measured {
    contender: Contender,
    operations: u64,
    samples: [Vec<Sample>; 2],
}

impl Measured {
    fn new(contender: Contender) -> Measured {
        let operations = contender.rival.sum();
        Measured { contender, operations, samples: Default::default() }
    }

    fn measure(&mut self, threads: [usize; 2]) {
        for (samples, threads) in self.samples.iter_mut().zip(threads) {
            let spent = spend_on_adds(&*self.contender.rival, threads, TIMES);
            samples.push(Sample::new(spent, 0.0, TIMES));
            self.operations += threads as u64 * (TIMES + WARM_UP);
            // Also lets those that put values aside work them off.
            let sum = self.contender.rival.sum();
            assert_eq!(sum, self.operations, "{} lost counts", self.contender.name);
        }
    }

    fn row(&self) -> Vec<String> {
        let cost = |samples: &Vec<Sample>| Spread::of_samples(samples, |sample| sample.cpu_ns);
        let [one, many] = self.samples.each_ref().map(|samples| cost(samples).show());
        vec![self.contender.name.to_owned(), one, many]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(15), |rounds| rounds.parse())?;
    let threads = [1, cores()];
    let mut all: Vec<Measured> = facade::all().into_iter().map(Measured::new).collect();
    in_rounds(rounds.max(1), &mut all, |one| one.measure(threads));
    print_caption("labels");
    let many = format!("{} threads", threads[1]);
    let rows: Vec<_> = all.iter().map(Measured::row).collect();
    print_table(&["ns an operation", "1 thread", &many], &rows);
    println!("\n{MARK}\n");
    let rows = facade::renders(rounds.max(1));
    print_table(&["ms a text of 10 000 counters", "median (least to greatest)"], &rows);
    println!("\n{MARK}\n");
    let rows = facade::many_keys(rounds.max(1));
    print_table(
        &["ns a counter! at keys", "windrow-metrics", "metrics-exporter-prometheus"],
        &rows,
    );
    Ok(())
}
