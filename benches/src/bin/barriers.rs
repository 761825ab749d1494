//! `barriers [SECONDS]`: the time of the slowest add while other processes keep the kernel's one
//! lock for barriers: 16 of them, of idle priority, which ask for a barrier over and over.
//!
//! Two threads add to a window of ten buckets of 2 ms, by the real time; each add is timed. Once
//! alone, and once beside the 16; with adds that close buckets, and with a ticker that does.

use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use windrow::clock::{Precise, Ticker};
use windrow::{
    SlidingWindow,
    diagnostics::{Strategy, strategy},
    events,
};

events! { enum Hits { Hit: Count } }

/// The number of other processes.
const OTHERS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("hammer") {
        hammer();
    }
    let seconds: f64 = argument.map_or(Ok(5.0), |argument| argument.parse())?;
    let time = Duration::try_from_secs_f64(seconds)?;
    if strategy() != Strategy::PerCore {
        return Err("there are no restartable sequences here, hence no barriers".into());
    }
    println!("the slowest adds of two threads in {time:?}; buckets of 2 ms");
    println!(
        "{:<24}{:<20}{:>12}{:>16}{:>16}",
        "beside", "buckets closed by", "slowest", "over 1 ms", "adds"
    );
    for others in [0, OTHERS] {
        let processes = (0..others).map(|_| start()).collect::<Result<Vec<_>, _>>()?;
        thread::sleep(Duration::from_millis(200));
        for by_ticker in [false, true] {
            let Slow { slowest, over, adds } = measure(time, by_ticker);
            let beside = if others == 0 { "nothing" } else { "16 that ask for barriers" };
            let by = if by_ticker { "a ticker" } else { "adds" };
            println!("{beside:<25}{by:<19}{slowest:>12.1?}{over:>16}{adds:>16}");
        }
        println!("{:<44}{:>12.1?}", "    a bare call, the slowest", slowest_call(time));
        for mut process in processes {
            process.kill()?;
            process.wait()?;
        }
    }
    Ok(())
}

fn start() -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?).arg("hammer").stdin(Stdio::null()).spawn()
}

/// Asks for barriers until the process is killed, or its parent has ended.
fn hammer() -> ! {
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    // SAFETY: a plain change of this process's priority, and calls that touch no memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let parameters: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters);
        libc::syscall(libc::SYS_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0);
        // A second thread, for the barrier to interrupt.
        thread::spawn(|| {
            loop {
                libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED, 0, 0);
            }
        });
        loop {
            libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED, 0, 0);
        }
    }
}

/// Returns the slowest of the calls that closing a bucket makes, one every 2 ms.
fn slowest_call(time: Duration) -> Duration {
    const PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 7;
    let (begin, mut slowest) = (Instant::now(), Duration::ZERO);
    while begin.elapsed() < time {
        let before = Instant::now();
        // SAFETY: touches no memory. (A window has registered this process for it.)
        unsafe { libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED_RSEQ, 0, 0) };
        slowest = slowest.max(before.elapsed());
        thread::sleep(Duration::from_millis(2));
    }
    slowest
}

/// The times of a thread's adds.
#[derive(Default)]
struct Slow {
    slowest: Duration,
    /// The number of adds that took more than a millisecond.
    over: u64,
    adds: u64,
}

fn measure(time: Duration, by_ticker: bool) -> Slow {
    let window = SlidingWindow::<Hits>::builder()
        .interval(Duration::from_millis(20))
        .buckets(10)
        .clock(Precise::default())
        .build()
        .expect("a valid window");
    let (window, ticker) = (Arc::new(window), Ticker::default());
    if by_ticker {
        window.close_on(&ticker);
    }
    let add = || {
        let (begin, mut seen) = (Instant::now(), Slow::default());
        let mut before = begin;
        while before - begin < time {
            window.add(Hits::Hit, 1);
            let now = Instant::now();
            seen.slowest = seen.slowest.max(now - before);
            seen.over += u64::from(now - before > Duration::from_millis(1));
            seen.adds += 1;
            before = now;
        }
        seen
    };
    let both = thread::scope(|scope| {
        let threads = [scope.spawn(add), scope.spawn(add)];
        threads.map(|thread| thread.join().expect("no adder panics"))
    });
    assert_eq!(window.lifetime(Hits::Hit).count, both.iter().map(|one| one.adds).sum::<u64>());
    both.into_iter().fold(Slow::default(), |all, one| Slow {
        slowest: all.slowest.max(one.slowest),
        over: all.over + one.over,
        adds: all.adds + one.adds,
    })
}
