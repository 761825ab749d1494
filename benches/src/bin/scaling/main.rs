//! `scaling [--rounds N]`: what one more operation takes, on one thread, on two, on four
//! and so on to the number of cores; and which share of a linear increase that is.
//!
//! Prints a table for each kind of operation: nanoseconds of wall time an operation and thread, the
//! median of the rounds. The last column is the time on one thread over that on all, within a
//! round. Interleaved rounds: in each of them every contender runs on every number of threads once,
//! in an order that is turned by one from round to round.
//!
//! A core of a processor may be one of two that share their units. Then nothing is linear, and the
//! plain adds among the counters, which share no memory at all, say what can be had. So each thread
//! adds for the same time, and not the same number: none of them ends early and leaves its units to
//! another.

mod contenders;

use std::time::Duration;

use windrow_benches::harness::{Contender, cores, rate_of_adds};
use windrow_benches::lab::progress::Progress;
use windrow_benches::lab::speed::doubled;
use windrow_benches::lab::stats::{MARK, Sample, Spread};
use windrow_benches::terminal::{Options, options, print_caption, print_table};

use contenders::Kind;

/// The time for which a thread adds in a round.
const LENGTH: Duration = Duration::from_millis(3);

/// One contender on one number of threads.
struct Course {
    threads: usize,
    samples: Vec<Sample>,
}

/// One contender, and its courses.
struct Measured {
    contender: Contender,
    courses: Vec<Course>,
}

/// Returns the numbers of threads: one, two, four and so on; three quarters of the cores; all.
fn numbers() -> Vec<usize> {
    let mut numbers: Vec<usize> = doubled().chain([cores() * 3 / 4, cores()]).collect();
    numbers.retain(|&number| number > 0);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

impl Course {
    fn measure(&mut self, contender: &Contender) {
        let (rate, running) = rate_of_adds(&*contender.rival, self.threads, LENGTH);
        let each = self.threads as f64 / rate;
        self.samples.push(Sample { cpu_ns: each, wall_ns: each, running, read_ns: 0.0 });
        // Lets those that put values aside work them off.
        std::hint::black_box(contender.rival.sum());
    }
}

impl Measured {
    fn new(contender: Contender) -> Measured {
        let course = |threads| Course { threads, samples: Vec::new() };
        Measured { contender, courses: numbers().into_iter().map(course).collect() }
    }

    fn last(&self) -> &Course {
        self.courses.last().expect("there is a core")
    }

    fn row(&self) -> Vec<String> {
        let cost = |course: &Course| Spread::of_samples(&course.samples, |sample| sample.wall_ns);
        let costs = self.courses.iter().map(|course| cost(course).show_median());
        let linear = Spread::over(
            self.courses[0]
                .samples
                .iter()
                .zip(&self.last().samples)
                .map(|(one, all)| (one.good() && all.good(), one.wall_ns / all.wall_ns)),
        );
        let name = [self.contender.name.to_owned()].into_iter();
        name.chain(costs).chain([linear.show()]).collect()
    }
}

/// Prints the table of a kind.
fn print(kind: &str, all: &[Measured]) {
    let counted = |number: usize| match number {
        1 => "1 thread, ns".to_owned(),
        number => number.to_string(),
    };
    let counts: Vec<String> = numbers().into_iter().map(counted).collect();
    let share = format!("of linear, {} threads", cores());
    let heads: Vec<&str> =
        [kind].into_iter().chain(counts.iter().map(String::as_str)).chain([&*share]).collect();
    let rows: Vec<_> = all.iter().map(Measured::row).collect();
    print_table(&heads, &rows);
    println!();
}

fn main() {
    let usual = Options { rounds: 11, ..Options::default() };
    let Options { rounds, .. } = options("scaling", &["rounds"], usual);
    print_caption("scaling");
    for Kind { title, contenders } in contenders::all() {
        let mut progress = Progress::begin(title);
        let count = contenders.len();
        let mut all: Vec<Measured> = contenders.into_iter().map(Measured::new).collect();
        for round in 0..rounds {
            progress.step("round", round, rounds);
            for turn in 0..count {
                let Measured { contender, courses } = &mut all[(round + turn) % count];
                for course in courses {
                    course.measure(contender);
                }
            }
        }
        progress.end();
        print(title, &all);
    }
    println!("{MARK}");
}
