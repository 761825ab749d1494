//! A process that forks while its threads add: the parent's totals are exact, and the child counts
//! on from what stood there, with threads of its own.

use crate::loss::Loss;
use crate::outcome::Outcome;

#[cfg(not(unix))]
pub(crate) fn run(_: u64, _: Loss) -> Outcome {
    Ok("processes do not fork here".to_owned())
}

#[cfg(unix)]
pub(crate) fn run(times: u64, loss: Loss) -> Outcome {
    unix::run(times, loss)
}

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use crate::books::{Books, Seen};
    use crate::loss::Loss;
    use crate::outcome::{Outcome, exact};

    /// Children, one after another.
    const CHILDREN: u64 = 4;
    /// Threads that add meanwhile, and threads of each child.
    const THREADS: u64 = 3;
    /// The status by which a child says that a total was not exact.
    const INEXACT: libc::c_int = 33;

    pub(super) fn run(times: u64, loss: Loss) -> Outcome {
        let (books, quiet) = (Arc::new(Books::new()?), Arc::new(Books::new()?));
        quiet.counter.add(1);
        quiet.window.add(Seen::Pass, 1);
        let over = Arc::new(AtomicBool::new(false));
        let adders: Vec<_> = (0..THREADS)
            .map(|_| {
                let (books, over) = (Arc::clone(&books), Arc::clone(&over));
                thread::spawn(move || {
                    let mut added = 0;
                    while !over.load(Ordering::Relaxed) {
                        books.counter.add(1);
                        books.window.add(Seen::Pass, 1);
                        added += 1;
                    }
                    added
                })
            })
            .collect();
        let mut outcome = Ok(());
        for child in 0..CHILDREN {
            let loss = if child == 0 { loss } else { Loss::default() };
            outcome = outcome.and_then(|()| fork(&quiet, times, loss));
        }
        over.store(true, Ordering::Relaxed);
        let mut added = 0;
        for adder in adders {
            added += adder.join().map_err(|_| "an adder has panicked")?;
        }
        outcome?;
        exact("parent, counter", books.counter.sum(), added)?;
        exact("parent, window", books.window.lifetime(Seen::Pass).sum, added)?;
        exact("parent, untouched by children", quiet.counter.sum(), 1)?;
        Ok(format!("{CHILDREN} children of {THREADS} threads each"))
    }

    fn fork(quiet: &Arc<Books>, times: u64, loss: Loss) -> Result<(), String> {
        // SAFETY: the child uses what works after a fork with glibc and musl: memory and threads.
        match unsafe { libc::fork() } {
            -1 => Err("fork has failed".to_owned()),
            0 => {
                let status = if child(quiet, times, loss).is_ok() { 0 } else { INEXACT };
                // SAFETY: no destructors of the parent's are to run here.
                unsafe { libc::_exit(status) }
            }
            child => {
                let mut status = 0;
                // SAFETY: `status` is where the call writes.
                let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
                let is_exact = ended == child && libc::WIFEXITED(status);
                match libc::WEXITSTATUS(status) {
                    0 if is_exact => Ok(()),
                    INEXACT if is_exact => Err("a child's totals are not exact".to_owned()),
                    _ => Err(format!("a child has ended with the status {status:#x}")),
                }
            }
        }
    }

    fn child(quiet: &Arc<Books>, times: u64, loss: Loss) -> Result<(), String> {
        exact("child, before", quiet.counter.sum(), 1)?;
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let quiet = Arc::clone(quiet);
                thread::spawn(move || add(&quiet, times))
            })
            .collect();
        add(quiet, times);
        for thread in threads {
            thread.join().map_err(|_| "a thread of a child has panicked")?;
        }
        quiet.counter.add(1 - loss.of("fork"));
        exact("child, counter", quiet.counter.sum(), (THREADS + 1) * times + 2)?;
        exact("child, window", quiet.window.lifetime(Seen::Pass).sum, (THREADS + 1) * times + 1)
    }

    fn add(books: &Books, times: u64) {
        for _ in 0..times {
            books.counter.add(1);
            books.window.add(Seen::Pass, 1);
        }
    }
}
