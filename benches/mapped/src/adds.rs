//! An add to a mapped counter beside others, of one process and of two at once.
//!
//! The second process does the same work as the first one at each moment: a word that both have
//! mapped says which. On a busy machine it may have no processor. So a figure counts only if it has
//! done a part of the work meanwhile.

use std::error::Error;
use std::fs::OpenOptions;
use std::hint::{black_box, spin_loop};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, process};

use windrow::clock::Precise;
use windrow_benches::harness::{keep_to_core, time};
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::print_table;
use windrow_mapped::{Counter, File, Gauge, Histogram, Maximum, Pace, Scale};

const ROUNDS: usize = 41;
const ADDS: u64 = 100_000;
const WARM_UP: u64 = 20_000;

/// The adds of the second process between two looks at the page.
const TURN: u64 = 200;

/// The greatest number of attempts at a figure in which both processes run.
const ATTEMPTS: usize = 50;

static OWN: windrow::Counter = windrow::Counter::new();
static OWN_HISTOGRAM: windrow::Histogram = windrow::Histogram::new();

/// The work of both processes, as the shared word names it. Zero is none, and the last is the end.
const WORKS: [&str; 11] = [
    "windrow::Counter, in own memory",
    "mapped Counter",
    "mapped Maximum",
    "an atomic in each process's own file",
    "one atomic in a file of both",
    "a load and a store of one thread",
    "windrow::Pace, in own memory",
    "mapped Pace",
    "windrow::Histogram, in own memory",
    "mapped Histogram",
    "mapped Gauge",
];
const END: u64 = 100;

/// The page that both processes have mapped: what to do, what the second process does, and atomics
/// on lines of their own.
struct Page(&'static [AtomicU64; 512]);

impl Page {
    fn of(folder: &Path) -> Result<Page, Box<dyn Error>> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(folder.join("page"))?;
        file.set_len(4096)?;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let (shared, none) = (libc::MAP_SHARED, null_mut());
        // SAFETY: a new mapping of a file of this length, which lasts as long as the process.
        let page = unsafe {
            let base = libc::mmap(none, 4096, rights, shared, file.as_raw_fd(), 0);
            if base == libc::MAP_FAILED {
                return Err(std::io::Error::last_os_error().into());
            }
            &*base.cast()
        };
        Ok(Page(page))
    }

    fn wanted(&self) -> &AtomicU64 {
        &self.0[0]
    }

    fn second_does(&self) -> &AtomicU64 {
        &self.0[16]
    }

    /// The number of turns that the second process has done.
    fn turns(&self) -> &AtomicU64 {
        &self.0[24]
    }

    fn shared(&self) -> &AtomicU64 {
        &self.0[32]
    }
}

/// All that is added to.
struct Contenders {
    page: Page,
    /// The page of a file that this process alone has.
    own: Page,
    counter: Counter,
    maximum: Maximum,
    pace: windrow::Pace<Precise>,
    mapped_pace: Pace,
    histogram: Histogram,
    gauge: Gauge,
}

impl Contenders {
    fn of(folder: &Path) -> Result<Contenders, Box<dyn Error>> {
        let own = folder.join(process::id().to_string());
        std::fs::create_dir_all(&own)?;
        let file = File::open(folder.join("f"))?;
        // So short that each call is admitted: both take the way of an exchange.
        let (period, burst) = (Duration::from_nanos(1), 1 << 40);
        let pace = windrow::Pace::builder(period).burst(burst).clock(Precise::default()).build()?;
        Ok(Contenders {
            page: Page::of(folder)?,
            own: Page::of(&own)?,
            counter: file.counter("calls", &[])?,
            maximum: file.maximum("largest", &[])?,
            pace,
            mapped_pace: file.pace("limit", &[], period, burst)?,
            histogram: file.histogram("latency", Scale::DEFAULT, &[])?,
            gauge: file.gauge("open", &[])?,
        })
    }

    fn work(&self, work: usize, times: u64) {
        let again = |act: &dyn Fn()| (0..times).for_each(|_| act());
        match work {
            0 => (0..times).for_each(|_| OWN.add(black_box(1))),
            1 => (0..times).for_each(|_| self.counter.add(black_box(1))),
            2 => (0..times).for_each(|_| self.maximum.record(black_box(1))),
            3 => (0..times)
                .for_each(|_| _ = self.own.shared().fetch_add(black_box(1), Ordering::Relaxed)),
            4 => (0..times)
                .for_each(|_| _ = self.page.shared().fetch_add(black_box(1), Ordering::Relaxed)),
            5 => (0..times).for_each(|_| {
                // Two instructions, which are no add that threads may share: what any add to one
                // cell of memory waits for.
                let cell = &self.own.0[64];
                cell.store(cell.load(Ordering::Relaxed) + black_box(1), Ordering::Relaxed);
            }),
            6 => again(&|| assert!(self.pace.try_admit(black_box(1)))),
            7 => again(&|| assert!(self.mapped_pace.try_admit(black_box(1)))),
            8 => (0..times).for_each(|_| OWN_HISTOGRAM.record(black_box(5_000))),
            9 => (0..times).for_each(|_| self.histogram.record(black_box(5_000))),
            _ => (0..times).for_each(|_| self.gauge.add(black_box(1))),
        }
    }
}

/// Does what the first process does, until it says the end.
pub(super) fn second(folder: &Path) -> Result<(), Box<dyn Error>> {
    keep_to_core(1);
    let contenders = Contenders::of(folder)?;
    loop {
        match contenders.page.wanted().load(Ordering::Relaxed) {
            END => return Ok(()),
            0 => sleep(Duration::from_millis(1)),
            wanted => {
                contenders.work(wanted as usize - 1, TURN);
                contenders.page.turns().fetch_add(1, Ordering::Relaxed);
                contenders.page.second_does().store(wanted, Ordering::Relaxed);
            }
        }
    }
}

/// The second process, which is killed if the first one ends early.
struct Second(Child);

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    // Before this process keeps to a core, which the second one would inherit.
    let mut second = Command::new(env::current_exe()?);
    let mut second = Second(second.arg("--second").arg(folder.path()).spawn()?);
    keep_to_core(0);
    let contenders = Contenders::of(folder.path())?;
    let alone = rounds(&contenders, false);
    let together = rounds(&contenders, true);
    contenders.page.wanted().store(END, Ordering::Relaxed);
    second.0.wait()?;

    let mut rows = Vec::new();
    for (processes, figures) in [("1", &alone), ("2", &together)] {
        for (ours, theirs) in [(1, 0), (2, 0), (1, 3), (1, 4), (1, 5), (7, 6), (9, 8), (10, 3)] {
            let ratios = figures[ours].iter().zip(&figures[theirs]);
            let ratio = Spread::of(ratios.map(|(ours, of)| ours / of));
            let case = format!("{} / {}", WORKS[ours], WORKS[theirs]);
            let nanoseconds = Spread::of(figures[ours].iter().copied());
            let row = [case, processes.to_owned(), ratio.show(), nanoseconds.show_median()];
            rows.push(row.to_vec());
        }
    }
    print_table(&["an add, or a call admitted", "processes", "ratio", "ns"], &rows);
    Ok(())
}

/// Returns the nanoseconds of CPU time of each work, in each round.
fn rounds(contenders: &Contenders, are_two: bool) -> [Vec<f64>; WORKS.len()] {
    let mut figures = [const { Vec::new() }; WORKS.len()];
    for round in 0..ROUNDS {
        eprint!("round {} of {ROUNDS}\r", round + 1);
        for (work, figures) in figures.iter_mut().enumerate() {
            let wanted = work as u64 + 1;
            if are_two {
                contenders.page.wanted().store(wanted, Ordering::Relaxed);
            }
            while are_two && contenders.page.second_does().load(Ordering::Relaxed) != wanted {
                spin_loop();
            }
            contenders.work(work, WARM_UP);
            let turns = || contenders.page.turns().load(Ordering::Relaxed);
            let attempt = |_| {
                let before = turns();
                let begun = Instant::now();
                let spent = time(|| contenders.work(work, ADDS));
                let is_whole = begun.elapsed() < spent * 5 / 4; // this one was not interrupted
                let have_both = is_whole && (turns() - before) * TURN >= ADDS / 2;
                (have_both, spent.as_nanos() as f64 / ADDS as f64)
            };
            let has_both = |(have_both, _): &(bool, f64)| !are_two || *have_both;
            let found = (0..ATTEMPTS).map(attempt).find(has_both);
            // No figure otherwise: a row of it says so.
            figures.push(found.map_or(f64::NAN, |(_, nanoseconds)| nanoseconds));
        }
    }
    eprint!("                    \r");
    figures
}
