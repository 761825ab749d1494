//! Several processes add at once, and a reader reads, while some are killed.

use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use windrow_mapped::{Counter, File, Gauge, Histogram, InFlight, Reader, Scale};

use crate::adds::places::{ProcessorSet, in_name_spaces};
use crate::books::Books;
use crate::child;
use crate::forked::{fork, has_succeeded};

const CHILD: &str = "adds::the_child_adds";

mod places;
mod signals;

/// The threads of each process.
const THREADS: usize = 2;

/// The adds of each thread, where no process is killed.
const ADDS: usize = 150_000;

/// The number of a process that was forked is that of its parent, and this.
const FORKED: usize = 16;

/// A thread goes to another processor after this number of adds.
const MOVE: usize = 5_000;

/// Runs in a child: adds and records by two threads until it is killed, or so often as the parent
/// has said. If the parent has said so, a child that it forks does the same.
#[test]
fn the_child_adds() {
    let Some((path, task)) = child::task() else { return };
    let [number, adds, forks] =
        <[usize; 3]>::try_from(task.split(' ').map(|n| n.parse().unwrap()).collect::<Vec<_>>())
            .unwrap();
    let (books, metrics) = (AllBooks::of(&path), Metrics::of(File::open(&path).unwrap()));
    assert_eq!(metrics.file.is_plain(), env::var_os("GLIBC_TUNABLES").is_none());
    let forked = (forks == 1).then(|| {
        fork(|| {
            die_with_parent();
            work(books, metrics, number + FORKED, adds);
            true
        })
    });
    signals::start(books.adds, metrics.calls, number);
    work(books, metrics, number, adds);
    signals::stop();
    assert!(forked.is_none_or(has_succeeded));
}

/// Lets two threads add and record, and enters all in the books of a process.
fn work(books: AllBooks, metrics: Metrics, number: usize, adds: usize) {
    thread::scope(|scope| {
        for place in (number * THREADS..).take(THREADS) {
            scope.spawn(move || {
                for add in 1..=adds {
                    if add % MOVE == 0 {
                        move_to(add / MOVE);
                    }
                    let n = (add % 3) as u64;
                    let calls = if add % 5 == 0 { metrics.mixed } else { metrics.calls };
                    books.adds.enter(place, n, || calls.add(n));
                    let value = 600 + (add % 4_096) as u64;
                    books.records.enter(place, 1, || {
                        books.values.enter(place, value, || metrics.latency.record(value));
                    });
                    metrics.open.increment();
                    let guard = metrics.busy.enter();
                    metrics.open.decrement();
                    drop(guard);
                }
            });
        }
    });
}

/// Lets the kernel kill this process when the one that has forked it dies.
fn die_with_parent() {
    // SAFETY: it has no pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Lets this thread run on one processor of the machine, if it may.
fn move_to(number: usize) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    // SAFETY: all zeros are an empty set. (An error leaves the thread where it is.)
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number % processors, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// The books of all threads: of adds to counters, of records in histograms, and of their values.
#[derive(Clone, Copy)]
struct AllBooks {
    adds: Books,
    records: Books,
    values: Books,
}

impl AllBooks {
    fn of(path: &Path) -> AllBooks {
        let [adds, records, values] =
            ["adds", "records", "values"].map(|kind| Books::of(path, kind));
        AllBooks { adds, records, values }
    }
}

/// The metrics to which all processes add.
#[derive(Clone, Copy)]
struct Metrics {
    file: File,
    calls: Counter,
    mixed: Counter,
    latency: Histogram,
    open: Gauge,
    busy: InFlight,
}

impl Metrics {
    fn of(file: File) -> Metrics {
        let labels = [("kind", "test")];
        let [calls, mixed] = ["calls", "others"].map(|name| file.counter(name, &labels).unwrap());
        let latency = file.histogram("latency", Scale::DEFAULT, &labels).unwrap();
        let open = file.gauge("open", &labels).unwrap();
        let busy = file.in_flight("busy", &labels).unwrap();
        Metrics { file, calls, mixed, latency, open, busy }
    }
}

/// A child that is killed at the latest when the test is over.
struct Adder(Child);

impl Adder {
    /// Kills the child.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Returns how it has ended, if it has.
    fn end(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }
}

impl Drop for Adder {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// Starts a child. One in three has no restartable sequences, and adds to locked rows. One in four
/// forks, one in four is in name spaces of its own, and one in four on the processors of `set`.
fn start(path: &Path, number: usize, adds: usize, set: Option<&ProcessorSet>) -> Adder {
    let forks = usize::from(number % 4 == 1);
    let mut command = child::command(CHILD, path, &format!("{number} {adds} {forks}"));
    if number % 3 == 2 {
        command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    }
    match number % 4 {
        2 => command = in_name_spaces(command),
        3 => {
            if let Some(set) = set {
                set.hold(&mut command);
            }
        }
        _ => {}
    }
    Adder(command.stdout(Stdio::null()).spawn().unwrap())
}

/// Returns whether adds are plain ones here: the child expects it.
fn plain_here(path: &Path) -> bool {
    File::open(path).unwrap().is_plain()
}

/// Reads until `is_over`, and checks each reading against the books and the one before.
fn read_until(path: &Path, books: AllBooks, mut is_over: impl FnMut() -> bool) -> usize {
    let reader = Reader::open(path).unwrap();
    let (mut before, mut reads) = ([0; 4], 0);
    loop {
        let was_over = is_over();
        let least = [books.adds, books.records, books.values].map(Books::done);
        let reading = reader.read().unwrap();
        let most = [books.adds, books.records, books.values].map(Books::begun);
        let of = |name| reading.get(name, &[("kind", "test")]).unwrap();
        let [calls, others] =
            ["calls", "others"].map(|name| of(name).and_then(|metric| metric.sum()).unwrap_or(0));
        let latency = of("latency").and_then(|metric| metric.distribution()).unwrap_or_default();
        let sums = [calls, others, latency.count(), latency.sum()];
        let found = [calls + others, latency.count(), latency.sum()];
        for ((found, least), most) in found.into_iter().zip(least).zip(most) {
            assert!((least..=most).contains(&found), "{found} is not from {least} to {most}");
        }
        let has_fallen = sums.iter().zip(before).any(|(sum, before)| *sum < before);
        assert!(!has_fallen, "{sums:?} fell from {before:?}");
        for metric in ["open", "busy"].into_iter().filter_map(of) {
            for (owner, part) in metric.parts() {
                let most = i64::try_from(THREADS).unwrap();
                assert!((0..=most).contains(&part), "{owner:?} has a part of {part}");
            }
        }
        (before, reads) = (sums, reads + 1);
        if was_over {
            return reads;
        }
    }
}

#[test]
fn processes_that_add_at_once_lose_nothing() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    if !plain_here(&path) {
        return;
    }
    let books = AllBooks::of(&path);
    let set = ProcessorSet::new();
    let set = set.as_ref();
    let mut children: Vec<Adder> = (0..4).map(|number| start(&path, number, ADDS, set)).collect();
    let reads = read_until(&path, books, || {
        children.iter_mut().all(|child| child.end().is_some_and(|end| end.success()))
    });
    assert!(reads > 0);
    let Metrics { calls, mixed, latency, .. } = Metrics::of(File::open(&path).unwrap());
    let (sum, latency) = (calls.sum() + mixed.sum(), latency.distribution());
    assert_eq!((books.adds.done(), books.adds.begun()), (sum, sum));
    assert_eq!((books.records.done(), books.values.done()), (latency.count(), latency.sum()));
    // Adds of 1, 2 and 0 by turns, and those of the signals.
    let without_signals = 5 * THREADS as u64 * ADDS as u64;
    assert!(sum > without_signals, "no signal has added");
}

#[test]
fn processes_that_are_killed_have_added_each_time_once_or_not_at_all() {
    storm(3, Duration::from_millis(1_500));
}

#[test]
#[ignore = "long: sixteen processes for a minute, or `TORTURE_SECONDS`"]
fn a_storm_of_sixteen_processes_loses_nothing() {
    let seconds = env::var("TORTURE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    storm(16, Duration::from_secs(seconds.unwrap_or(60)));
}

/// Lets processes add while one after the other is killed and started again, and reads.
fn storm(processes: usize, time: Duration) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    if !plain_here(&path) {
        return;
    }
    let books = AllBooks::of(&path);
    let set = ProcessorSet::new();
    let set = set.as_ref();
    let mut children: Vec<Adder> =
        (0..processes).map(|number| start(&path, number, usize::MAX, set)).collect();
    let begun = Instant::now();
    let mut killed = 0;
    let reads = read_until(&path, books, || {
        if begun.elapsed() > time {
            children.iter_mut().for_each(Adder::kill);
            return true;
        }
        if begun.elapsed() > Duration::from_millis(100) * (killed + 1) {
            let number = killed as usize % children.len();
            children[number].kill();
            children[number] = start(&path, number, usize::MAX, set);
            killed += 1;
        }
        false
    });
    let (done, begun) = (books.adds.done(), books.adds.begun());
    let records = books.records.done();
    let open = begun - done;
    println!("{done} added, {open} of it open, {records} records, {killed} kills, {reads} reads");
    assert!(killed > 3 && done > 0);
    // An add of at most 2 by each thread that was killed, and 1 by a handler on it. A process that
    // was forked has the same number of threads.
    let most = 2 * 3 * THREADS as u64 * (u64::from(killed) + processes as u64);
    assert!(open <= most, "{open} are open");
}
