//! The soak: everything at once, for a given time.
//!
//! Counters, gauges, extremes, and windows on every clock are added to, read, drained and
//! reconfigured by threads that are sent signals and moved from processor to processor, while
//! other threads, and other numbers and windows, come and go.
//!
//! Once a second all of it comes to rest. Then every number must be exactly the sum of its adds.
//! The soak also records the memory, threads and descriptors of the process, which must not grow
//! (see `process`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::terminal::{Live, grouped};
use testkit::interrupts::{self, Timer};
use testkit::{Finish, Rng};

mod numbers;
mod process;
mod subject;
mod windows;

use process::{Holding, Record};
use subject::Subject;

/// The number of threads that add all the time.
const WRITERS: u64 = 3;
/// The time between two rests.
const BETWEEN: Duration = Duration::from_secs(1);
/// The number of rests for each line printed without a terminal.
const LINE_EVERY: usize = 10;

/// The state of a soak.
struct Soak {
    /// Those that last.
    subjects: Vec<Box<dyn Subject>>,
    /// Threads lock it for reading while they do something; at rest it is locked for writing.
    rest: RwLock<()>,
    finished: AtomicBool,
    done: Done,
}

/// The numbers of operations done.
#[derive(Default)]
struct Done {
    adds: AtomicU64,
    others: AtomicU64,
    threads: AtomicU64,
    made: AtomicU64,
}

/// Soaks for a time.
///
/// # Errors
/// Returns the number that is not exact, or has grown.
pub fn run(time: Duration) -> Result<(), String> {
    println!("{:?}, {:.1} minutes", windrow::diagnostics::strategy(), time.as_secs_f64() / 60.0);
    interrupts::count_signals();
    let soak = Soak {
        subjects: subjects(),
        rest: RwLock::new(()),
        finished: AtomicBool::new(false),
        done: Done::default(),
    };
    let record = thread::scope(|scope| {
        let _finish = Finish(&soak.finished);
        for seed in 0..WRITERS {
            let (soak, random) = (&soak, Rng::with_seed(10 + seed));
            scope.spawn(move || soak.write(random));
        }
        scope.spawn(|| soak.disturb(Rng::with_seed(1)));
        scope.spawn(|| soak.threads_come_and_go());
        scope.spawn(|| soak.subjects_come_and_go(Rng::with_seed(2)));
        soak.watch(time)
    })?;
    let (counted, handled) = interrupts::signals();
    if counted != handled {
        return Err(format!("{handled} signals, of which {counted} were counted"));
    }
    println!(
        "{} signals, {} sequences aborted",
        grouped(handled),
        grouped(windrow::diagnostics::aborts())
    );
    for line in record.report() {
        println!("{line}");
    }
    record.judge()
}

/// Returns one subject of each kind.
fn subjects() -> Vec<Box<dyn Subject>> {
    let mut all = windows::all();
    all.extend(numbers::all());
    all
}

impl Soak {
    /// Does something over and over, if there is no rest, until it is finished.
    fn busy(&self, mut something: impl FnMut()) {
        while !self.finished.load(Ordering::Acquire) {
            let _busy = self.rest.read().unwrap_or_else(PoisonError::into_inner);
            something();
        }
    }

    /// Adds, under signals, now on this processor and now on that.
    fn write(&self, mut random: Rng) {
        let _timer = Timer::start(Duration::from_millis(1));
        self.busy(|| {
            if random.u64(..20) == 0 {
                interrupts::migrate(random.u64(..));
            }
            let which = random.u64(..self.subjects.len() as u64) as usize;
            let adds = self.subjects[which].add(&mut random);
            self.done.adds.fetch_add(adds, Ordering::Relaxed);
        });
    }

    /// Reads, drains, reconfigures.
    fn disturb(&self, mut random: Rng) {
        self.busy(|| {
            let which = random.u64(..self.subjects.len() as u64) as usize;
            self.subjects[which].disturb(&mut random);
            self.done.others.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Has threads that add a little and end.
    fn threads_come_and_go(&self) {
        let mut random = Rng::with_seed(3);
        self.busy(|| {
            let mut random = Rng::with_seed(random.u64(..));
            thread::scope(|scope| {
                scope.spawn(|| {
                    for subject in &self.subjects {
                        subject.add(&mut random);
                    }
                });
            });
            self.done.threads.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Makes, uses and drops numbers and windows, on two threads.
    fn subjects_come_and_go(&self, mut random: Rng) {
        self.busy(|| {
            let subjects = subjects();
            let mut other = Rng::with_seed(random.u64(..));
            thread::scope(|scope| {
                scope.spawn(|| subjects.iter().for_each(|subject| _ = subject.add(&mut other)));
                for subject in &subjects {
                    subject.add(&mut random);
                    subject.disturb(&mut random);
                }
            });
            for subject in &subjects {
                subject.check().expect("nothing is lost in the short run either");
            }
            self.done.made.fetch_add(subjects.len() as u64, Ordering::Relaxed);
        });
    }

    /// Has everything rest once in a while, and looks.
    fn watch(&self, time: Duration) -> Result<Record, String> {
        let (begin, mut record, live) = (Instant::now(), Record::default(), Live::new());
        while begin.elapsed() < time {
            thread::sleep(BETWEEN);
            let rest = self.rest.write().unwrap_or_else(PoisonError::into_inner);
            for subject in &self.subjects {
                subject.check()?;
            }
            record.note(Holding::now()?);
            drop(rest);
            let table = self.table(begin.elapsed(), &record);
            live.draw(&table);
            if !live.is_terminal() && record.rests() % LINE_EVERY == 0 {
                println!("{}", table.join("; "));
            }
        }
        if live.is_terminal() {
            live.settle(&self.table(begin.elapsed(), &record));
        }
        Ok(record)
    }

    /// Returns the table of operations and of the process's figures.
    fn table(&self, time: Duration, record: &Record) -> Vec<String> {
        let of = |done: &AtomicU64| grouped(done.load(Ordering::Relaxed));
        let Done { adds, others, threads, made } = &self.done;
        vec![
            format!("{:.0} s, exact at {} rests", time.as_secs_f64(), record.rests()),
            format!("{} adds, {} reads, drains, changes", of(adds), of(others)),
            format!("{} threads, {} numbers and windows came and went", of(threads), of(made)),
            record.last_line(),
        ]
    }
}
