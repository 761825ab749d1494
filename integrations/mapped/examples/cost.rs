//! The costs of mapped counters, beside those of counters in the process's own memory:
//! `cargo run --release -p windrow-mapped --example cost`
//!
//! Batches of each kind are interleaved; the figures are the least of 40, in CPU time. Other load
//! on the machine hardly changes the least ones.

use std::fmt::Display;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs};

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use windrow_mapped::{File, Reader};

    const BATCH: u64 = 2_000_000;
    const BATCHES: usize = 40;

    let folder = env::args().nth(1).unwrap_or_else(|| "/dev/shm".into());
    let path = Path::new(&folder).join(format!("windrow-cost-{}", std::process::id()));
    let (path, is_second) = match env::args().nth(2) {
        Some(path) => (path.into(), true),
        None => (path, false),
    };

    static OWN: windrow::Counter = windrow::Counter::new();
    static ATOMIC: AtomicU64 = AtomicU64::new(0);
    let file = File::open(&path)?;
    let mapped = file.counter("calls", &[])?;
    let adds = || {
        let mut least = [f64::MAX; 3];
        for _ in 0..BATCHES {
            let each: [&dyn Fn(); 3] = [
                &|| (0..BATCH).for_each(|_| OWN.add(black_box(1))),
                &|| (0..BATCH).for_each(|_| mapped.add(black_box(1))),
                &|| {
                    (0..BATCH).for_each(|_| {
                        ATOMIC.fetch_add(black_box(1), Ordering::Relaxed);
                    });
                },
            ];
            for (least, work) in least.iter_mut().zip(each) {
                let begun = cpu_time();
                work();
                *least = least.min((cpu_time() - begun).as_nanos() as f64 / BATCH as f64);
            }
        }
        least
    };
    if is_second {
        loop {
            adds(); // until it is killed
        }
    }
    let show = |what: &str, [own, mapped, atomic]: [f64; 3]| {
        println!("{what}: own memory {own:.2} ns, mapped {mapped:.2} ns, atomic {atomic:.2} ns");
    };
    println!("adds are plain: {}", file.is_plain());
    show("an add, one process", adds());
    let mut second = Command::new(env::current_exe()?)
        .args([Path::new(&folder), &path])
        .stdout(Stdio::null())
        .spawn()?;
    show("an add, two processes", adds());
    second.kill()?;
    second.wait()?;
    fs::remove_file(&path)?;

    let say = |what: &str, value: &dyn Display| println!("{what}: {value}");
    let milliseconds = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
    let begun = cpu_time();
    let file = File::open(&path)?;
    say("creating a file", &milliseconds(cpu_time() - begun));
    let mut counters = Vec::new();
    let begun = cpu_time();
    for number in 0..10_000 {
        counters.push(file.counter(&format!("counter_{number}"), &[("route", "cart")])?);
    }
    say("registering 10 000 names", &milliseconds(cpu_time() - begun));
    counters.iter().for_each(|counter| counter.add(1));
    let mut least = [Duration::MAX; 4];
    for round in 0..300 {
        let mut time = |at: usize, work: &mut dyn FnMut()| {
            let begun = cpu_time();
            work();
            least[at] = least[at].min(cpu_time() - begun);
        };
        let mut reader = None;
        time(0, &mut || reader = Some(Reader::open(&path).expect("a whole file")));
        let reader = reader.expect("made above");
        time(1, &mut || drop(black_box(reader.read())));
        time(2, &mut || drop(black_box(reader.read())));
        if round < 20 {
            time(3, &mut || drop(black_box(File::open(&path))));
        }
    }
    for (what, least) in [
        "opening it to read, 10 000 names",
        "reading 10 000 counters, the names at first",
        "reading 10 000 counters, again",
        "opening it to add, 10 000 names",
    ]
    .iter()
    .zip(least)
    {
        say(what, &milliseconds(least));
    }
    fs::remove_file(&path)?;
    Ok(())
}

/// Returns the CPU time of this thread.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn cpu_time() -> Duration {
    // SAFETY: all zeros are a valid time, which the call fills.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        time
    };
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
fn main() {}
