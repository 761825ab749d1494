//! The costs of mapped counters, beside those of counters in the process's own memory:
//! `cargo run --release -p windrow-mapped --example cost`
//!
//! Batches of each kind of add are interleaved. The figures are the least and the median of 40
//! batches, in CPU time: other load on the machine hardly changes the least ones. With two
//! processes the medians count, because the second one does not always run.
#![cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")),
    allow(unused)
)]

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, process};

const BATCH: u64 = 2_000_000;
const BATCHES: usize = 40;

static OWN: windrow::Counter = windrow::Counter::new();
static OWN_HISTOGRAM: windrow::Histogram = windrow::Histogram::new();

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
fn main() {}

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = env::args().nth(1) {
        loop {
            adds(Path::new(&path))?; // until this second process is killed
        }
    }
    let path = format!("/dev/shm/windrow-cost-{}", process::id());
    let path = Path::new(&path);
    println!("adds are plain: {}", windrow_mapped::File::open(path)?.is_plain());
    show("one process", adds(path)?);
    let mut second = Command::new(env::current_exe()?).arg(path).stdout(Stdio::null()).spawn()?;
    show("two processes", adds(path)?);
    second.kill()?;
    second.wait()?;
    fs::remove_file(path)?;
    let names = names(path);
    fs::remove_file(path)?;
    fs::remove_file(path.with_extension("atomic"))?;
    names
}

fn show(processes: &str, nanoseconds: [[f64; 2]; 8]) {
    println!("an add or a record, {processes}:");
    let kinds = [
        "counter in own memory",
        "mapped counter",
        "mapped maximum",
        "histogram in own memory",
        "mapped histogram",
        "mapped gauge",
        "atomic of one process in a file",
        "atomic of all processes in a file",
    ];
    for (kind, [least, median]) in kinds.iter().zip(nanoseconds) {
        println!("  {kind}: {least:.2} ns, median {median:.2} ns");
    }
}

/// Returns the nanoseconds of an add of each kind, the least and the median.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn adds(path: &Path) -> Result<[[f64; 2]; 8], Box<dyn Error>> {
    let file = windrow_mapped::File::open(path)?;
    let (counter, maximum) = (file.counter("calls", &[])?, file.maximum("max", &[])?);
    let histogram = file.histogram("latency", windrow_mapped::Scale::DEFAULT, &[])?;
    let gauge = file.gauge("open", &[])?;
    let atomics = atomics(&path.with_extension("atomic"))?;
    let own = &atomics[8 + 8 * (process::id() as usize % 63)];
    let shared = &atomics[0];
    let mut all = [const { Vec::new() }; 8];
    for _ in 0..BATCHES {
        let each: [&dyn Fn(); 8] = [
            &|| (0..BATCH).for_each(|_| OWN.add(black_box(1))),
            &|| (0..BATCH).for_each(|_| counter.add(black_box(1))),
            &|| (0..BATCH).for_each(|_| maximum.record(black_box(1))),
            &|| (0..BATCH).for_each(|_| OWN_HISTOGRAM.record(black_box(5_000))),
            &|| (0..BATCH).for_each(|_| histogram.record(black_box(5_000))),
            &|| (0..BATCH).for_each(|_| gauge.add(black_box(1))),
            &|| (0..BATCH).for_each(|_| _ = own.fetch_add(black_box(1), Ordering::Relaxed)),
            &|| (0..BATCH).for_each(|_| _ = shared.fetch_add(black_box(1), Ordering::Relaxed)),
        ];
        for (all, work) in all.iter_mut().zip(each) {
            all.push(time(work).as_nanos() as f64 / BATCH as f64);
        }
    }
    Ok(all.map(|mut all| {
        all.sort_by(f64::total_cmp);
        [all[0], all[BATCHES / 2]]
    }))
}

/// Shows the times of registering, opening and reading 10 000 names.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn names(path: &Path) -> Result<(), Box<dyn Error>> {
    use windrow_mapped::{File, Reader};

    let (mut file, mut counters) = (None, Vec::new());
    say("creating a file", time(|| file = File::open(path).ok()));
    let file = file.ok_or("no file")?;
    let opening = (0..20).map(|_| time(|| drop(black_box(File::open(path))))).min();
    say("opening it to add, without names", opening.unwrap_or_default());
    let registering = time(|| {
        for number in 0..10_000 {
            counters.extend(file.counter(&format!("counter_{number}"), &[("route", "cart")]));
        }
    });
    say("registering 10 000 names", registering);
    for counter in counters {
        counter.add(1);
    }
    let mut least = [Duration::MAX; 3];
    for _ in 0..100 {
        let mut reader = None;
        let opening = time(|| reader = Reader::open(path).ok());
        let reader = reader.ok_or("no reader")?;
        let reading = time(|| drop(black_box(reader.read())));
        let mapping = time(|| drop(black_box(File::open(path))));
        for (least, now) in least.iter_mut().zip([opening, reading, mapping]) {
            *least = now.min(*least);
        }
    }
    say("opening it to read, with the names", least[0]);
    say("reading 10 000 counters", least[1]);
    say("opening it to add, with the names", least[2]);
    Ok(())
}

fn say(what: &str, time: Duration) {
    println!("{what}: {:.3} ms", time.as_secs_f64() * 1e3);
}

/// Maps a page of atomics that all processes share.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn atomics(path: &Path) -> Result<&'static [AtomicU64; 512], Box<dyn Error>> {
    use std::os::fd::AsRawFd;

    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
    file.set_len(4096)?;
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let (shared, none) = (libc::MAP_SHARED, std::ptr::null_mut());
    // SAFETY: a new mapping of a file of this length, which lasts as long as the process.
    unsafe {
        let base = libc::mmap(none, 4096, rights, shared, file.as_raw_fd(), 0);
        if base == libc::MAP_FAILED { Err("no mapping".into()) } else { Ok(&*base.cast()) }
    }
}

/// Returns the CPU time that some work takes this thread.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn time(work: impl FnOnce()) -> Duration {
    let now = || {
        // SAFETY: all zeros are a valid time, which the call fills.
        let time = unsafe {
            let mut time: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
            time
        };
        Duration::from_secs(time.tv_sec.cast_unsigned())
            + Duration::from_nanos(time.tv_nsec.cast_unsigned())
    };
    let begun = now();
    work();
    now().saturating_sub(begun)
}
