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
use std::time::Duration;
use std::{env, process};

use windrow_benches::harness::{keep_to_core, time};
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::Sample;
use windrow_mapped::{Counter, File};

const ROUNDS: usize = 41;
const ADDS: u64 = 100_000;
const WARM_UP: u64 = 20_000;

/// The adds of the second process between two looks at the page.
const TURN: u64 = 200;

/// The greatest number of attempts at a figure in which both processes run.
const ATTEMPTS: usize = 50;

static OWN: windrow::Counter = windrow::Counter::new();

/// The work of both processes, as the shared word names it. Zero is none, and the last is the end.
const WORKS: [&str; 5] = [
    "windrow::Counter, in own memory",
    "mapped Counter",
    "an atomic in each process's own file",
    "one atomic in a file of both",
    "a load and a store of one thread",
];
const END: u64 = 100;

/// The words of a page, on lines of their own: what to do, what the second process does, the number
/// of turns that it has done, an atomic that threads may share, and one of a thread's own.
const WANTED: usize = 0;
const SECOND_DOES: usize = 16;
const TURNS: usize = 24;
const SHARED: usize = 32;
const OWN_WORD: usize = 64;

/// A page of a file, mapped.
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
}

/// All that is added to.
struct Contenders {
    page: Page,
    /// The page of a file that this process alone has.
    own: Page,
    counter: Counter,
}

impl Contenders {
    fn of(folder: &Path) -> Result<Contenders, Box<dyn Error>> {
        let own = folder.join(process::id().to_string());
        std::fs::create_dir_all(&own)?;
        let counter = File::open(folder.join("f"))?.counter("calls", &[])?;
        Ok(Contenders { page: Page::of(folder)?, own: Page::of(&own)?, counter })
    }

    fn work(&self, work: usize, times: u64) {
        match work {
            0 => (0..times).for_each(|_| OWN.add(black_box(1))),
            1 => (0..times).for_each(|_| self.counter.add(black_box(1))),
            2 => (0..times)
                .for_each(|_| _ = self.own.0[SHARED].fetch_add(black_box(1), Ordering::Relaxed)),
            3 => (0..times)
                .for_each(|_| _ = self.page.0[SHARED].fetch_add(black_box(1), Ordering::Relaxed)),
            _ => (0..times).for_each(|_| {
                // Two instructions, which are no add that threads may share: what any add to one
                // cell of memory waits for.
                let cell = &self.own.0[OWN_WORD];
                cell.store(cell.load(Ordering::Relaxed) + black_box(1), Ordering::Relaxed);
            }),
        }
    }

    /// Has this process, or both, do some work.
    fn measured(&self, work: usize, are_two: bool) -> Sample {
        let wanted = if are_two { work as u64 + 1 } else { 0 };
        self.page.0[WANTED].store(wanted, Ordering::Relaxed);
        while are_two && self.page.0[SECOND_DOES].load(Ordering::Relaxed) != wanted {
            spin_loop();
        }
        self.work(work, WARM_UP);
        let turns = || self.page.0[TURNS].load(Ordering::Relaxed);
        let attempt = |_| {
            let before = turns();
            let sample = time(|| self.work(work, ADDS));
            let have_both = !are_two || (turns() - before) * TURN >= ADDS / 2;
            (have_both && sample.good(), sample)
        };
        let found = (0..ATTEMPTS).map(attempt).find(|(is_whole, _)| *is_whole);
        // No figure otherwise: a row of it says so.
        found.map_or(Sample { ns: f64::NAN, running: 0.0 }, |(_, sample)| sample.each(ADDS))
    }
}

/// Does what the first process does, until it says the end.
pub(super) fn second(folder: &Path) -> Result<(), Box<dyn Error>> {
    keep_to_core(1);
    let contenders = Contenders::of(folder)?;
    loop {
        match contenders.page.0[WANTED].load(Ordering::Relaxed) {
            END => return Ok(()),
            0 => sleep(Duration::from_millis(1)),
            wanted => {
                contenders.work(wanted as usize - 1, TURN);
                contenders.page.0[TURNS].fetch_add(1, Ordering::Relaxed);
                contenders.page.0[SECOND_DOES].store(wanted, Ordering::Relaxed);
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
    let entry = |(work, name): (usize, &&'static str)| {
        [false, true].into_iter().fold(Entry::new(*name), |entry, are_two| {
            let contenders = &contenders;
            entry.column(move || contenders.measured(work, are_two))
        })
    };
    let mut works: Vec<_> = WORKS.iter().enumerate().map(entry).collect();
    measure("adds", ROUNDS, &mut works);
    contenders.page.0[WANTED].store(END, Ordering::Relaxed);
    second.0.wait()?;
    for (at, processes) in ["ns of an add, 1 process", "2 processes"].into_iter().enumerate() {
        print_rows(&[processes, "median", "the mapped Counter's, to this"], &works, |work| {
            vec![work.cost(at).show(), works[1].ratio(at, work, at).show()]
        });
    }
    Ok(())
}
