//! Several processes add at once, and a reader reads, while some are killed.

use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use windrow_mapped::{Counter, File, Reader};

use crate::books::Books;
use crate::child;

const CHILD: &str = "exact::the_child_adds";

mod signals;

/// The threads of each process.
const THREADS: usize = 2;

/// A thread goes to another processor after this number of adds.
const MOVE: usize = 5_000;

/// Runs in a child: adds by two threads until it is killed, or so often as the parent has said.
#[test]
fn the_child_adds() {
    let Some((path, task)) = child::task() else { return };
    let [number, adds] =
        <[usize; 2]>::try_from(task.split(' ').map(|n| n.parse().unwrap()).collect::<Vec<_>>())
            .unwrap();
    let (books, file) = (Books::of(&path), File::open(&path).unwrap());
    let [calls, mixed] = counters(file);
    assert_eq!(file.is_plain(), env::var_os("GLIBC_TUNABLES").is_none());
    signals::start(books, calls, number);
    thread::scope(|scope| {
        for place in (number * THREADS..).take(THREADS) {
            scope.spawn(move || {
                for add in 1..=adds {
                    if add % MOVE == 0 {
                        move_to(add / MOVE);
                    }
                    let n = (add % 3) as u64;
                    books.enter(
                        place,
                        n,
                        || if add % 5 == 0 { mixed.add(n) } else { calls.add(n) },
                    );
                }
            });
        }
    });
    signals::stop();
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

fn counters(file: File) -> [Counter; 2] {
    ["calls", "others"].map(|name| file.counter(name, &[("kind", "test")]).unwrap())
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

/// Starts a child. One in three has no restartable sequences, and adds to locked rows.
fn start(path: &Path, number: usize, adds: usize) -> Adder {
    let mut command = child::command(CHILD, path, &format!("{number} {adds}"));
    if number % 3 == 2 {
        command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    }
    Adder(command.stdout(Stdio::null()).spawn().unwrap())
}

/// Returns whether adds are plain ones here: the child expects it.
fn plain_here(path: &Path) -> bool {
    File::open(path).unwrap().is_plain()
}

/// Reads until `is_over`, and checks each reading against the books and the one before.
fn read_until(path: &Path, books: Books, mut is_over: impl FnMut() -> bool) -> usize {
    let reader = Reader::open(path).unwrap();
    let (mut before, mut reads) = ([0; 2], 0);
    loop {
        let was_over = is_over();
        let least = books.done();
        let reading = reader.read().unwrap();
        let most = books.begun();
        let sums = ["calls", "others"].map(|name| {
            reading
                .get(name, &[("kind", "test")])
                .unwrap()
                .and_then(|metric| metric.sum())
                .unwrap_or(0)
        });
        let sum = sums[0] + sums[1];
        assert!((least..=most).contains(&sum), "{sum} is not from {least} to {most}");
        assert!(sums[0] >= before[0] && sums[1] >= before[1], "{sums:?} fell from {before:?}");
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
    let books = Books::of(&path);
    let mut children: Vec<Adder> = (0..4).map(|number| start(&path, number, 300_000)).collect();
    let reads = read_until(&path, books, || {
        children.iter_mut().all(|child| child.end().is_some_and(|end| end.success()))
    });
    assert!(reads > 0);
    let sum: u64 = counters(File::open(&path).unwrap()).iter().map(Counter::sum).sum();
    assert_eq!((books.done(), books.begun()), (sum, sum));
    // Adds of 1, 2 and 0 by turns, and those of the signals.
    let without_signals = 4 * THREADS as u64 * 300_000;
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
    let books = Books::of(&path);
    let mut children: Vec<Adder> =
        (0..processes).map(|number| start(&path, number, usize::MAX)).collect();
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
            children[number] = start(&path, number, usize::MAX);
            killed += 1;
        }
        false
    });
    let (done, begun) = (books.done(), books.begun());
    println!("{done} adds, {killed} kills, {} of them open, {reads} reads", begun - done);
    assert!(killed > 3 && done > 0);
    // An add of at most 2 by each thread that was killed, and 1 by a handler on it.
    let most = 3 * THREADS as u64 * (u64::from(killed) + processes as u64);
    assert!(begun - done <= most, "{} are open", begun - done);
}
