//! Stackful coroutines that move between threads: each adds, is suspended, and goes on elsewhere in
//! the middle of the same function.
//!
//! A compiler takes a thread-local's address to be the same in all of a function, and may keep it.
//! A coroutine that is suspended in that function goes on with another thread's address. So a
//! coroutine that moves adds in functions of their own ([`Adds::Apart`]), which is exact in every
//! strategy. Adds in line with the suspension ([`Adds::InLine`]) are exact per core alone, where an
//! add has no thread-local.
//!
//! Each thread adds by itself between two coroutines, so that an add to the row of the thread
//! before is a race with that thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use windrow::diagnostics::{Strategy, strategy};

use crate::books::{Books, Seen};
use crate::loss::Loss;
use crate::outcome::{Outcome, exact};

/// Threads among which coroutines go round.
const THREADS: usize = 4;
/// The number of coroutines.
const COROUTINES: u64 = 16;
/// The number of adds of a thread itself before each coroutine.
const BETWEEN: u64 = 16;

/// A coroutine on its way.
struct Moving(Coroutine<(), (), ()>);

// SAFETY: what stands on its stack across a suspension are numbers, `Arc`s, and guards that are
// `Send`.
unsafe impl Send for Moving {}

/// The place of a coroutine's adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adds {
    /// In functions that are not in line with the suspension.
    Apart,
    /// In line with it.
    InLine,
}

pub(crate) fn run(times: u64, loss: Loss) -> Outcome {
    let mut said = moved(times, loss, Adds::Apart)?;
    match moved(times, Loss::default(), Adds::InLine) {
        Ok(_) => said += "; in line, too",
        Err(why) if strategy() == Strategy::PerCore => return Err(format!("in line: {why}")),
        Err(why) => said = format!("{said}; in line not exact, as documented: {why}"),
    }
    Ok(said)
}

fn moved(times: u64, loss: Loss, adds: Adds) -> Outcome {
    let books = Arc::new(Books::new()?);
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| channel()).unzip();
    let (done, ends) = channel();
    for number in 0..COROUTINES {
        let books = Arc::clone(&books);
        let loss = if number == 0 { loss } else { Loss::default() };
        let coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| match adds {
            Adds::Apart => count_apart(yielder, &books, times, loss),
            Adds::InLine => count_in_line(yielder, &books, times),
        });
        let at = number as usize % THREADS;
        senders[at].send(Some(Moving(coroutine))).map_err(|error| error.to_string())?;
    }
    let threads: Vec<_> = receivers
        .into_iter()
        .enumerate()
        .map(|(at, receiver)| {
            let next: Sender<_> = senders[(at + 1) % THREADS].clone();
            let (books, done) = (Arc::clone(&books), done.clone());
            thread::spawn(move || resume(&receiver, &next, &done, &books))
        })
        .collect();
    for _ in 0..COROUTINES {
        ends.recv().map_err(|_| "the threads have ended before the coroutines")?;
    }
    for sender in senders {
        sender.send(None).map_err(|error| error.to_string())?;
    }
    let mut own = 0;
    for thread in threads {
        own += thread.join().map_err(|_| "a thread has panicked")?;
    }
    exact("coroutines, counter", books.counter.sum(), 2 * times * COROUTINES + own)?;
    exact("coroutines, gauge", books.gauge.sum(), 0)?;
    let passed = books.window.lifetime(Seen::Pass).sum;
    exact("coroutines, window", passed, 2 * times * COROUTINES + own)?;
    exact("coroutines, histogram", books.histogram.count(), 2 * times * COROUTINES)?;
    let taken = books.rations.gate().granted() - books.rations.unused();
    exact("coroutines, rations", taken, 2 * times * COROUTINES)?;
    exact("coroutines, level", books.level.level(), 0)?;
    Ok(format!("{COROUTINES} coroutines on {THREADS} threads, moved {times} times each"))
}

/// Resumes what comes, and hands it on to the next thread; returns the number of its own adds.
fn resume(
    receiver: &Receiver<Option<Moving>>,
    next: &Sender<Option<Moving>>,
    done: &Sender<()>,
    books: &Books,
) -> u64 {
    let mut own = 0;
    while let Ok(Some(mut coroutine)) = receiver.recv() {
        for _ in 0..BETWEEN {
            books.counter.add(1);
            books.window.add(Seen::Pass, 1);
        }
        own += BETWEEN;
        let sent = match coroutine.0.resume(()) {
            CoroutineResult::Yield(()) => next.send(Some(coroutine)).is_ok(),
            CoroutineResult::Return(()) => done.send(()).is_ok(),
        };
        if !sent {
            break;
        }
    }
    own
}

/// Adds before and after each suspension, by calls.
fn count_apart(yielder: &Yielder<(), ()>, books: &Books, times: u64, loss: Loss) {
    for turn in 1..=times {
        let last = if turn == times { loss } else { Loss::default() };
        let level = books.level.enter(turn);
        add_apart(books, 1, 1, turn);
        yielder.suspend(());
        add_apart(books, 1 - last.of("coroutine"), -1, turn);
        if last.of("guard") == 0 {
            drop(level);
        } else {
            std::mem::forget(level);
        }
    }
}

#[inline(never)]
fn add_apart(books: &Books, n: u64, change: i64, value: u64) {
    add(books, n, change, value);
}

/// Adds before and after each suspension, with the code of the adds in line.
#[inline(never)]
fn count_in_line(yielder: &Yielder<(), ()>, books: &Books, times: u64) {
    for turn in 1..=times {
        let level = books.level.enter(turn);
        add(books, 1, 1, turn);
        yielder.suspend(());
        add(books, 1, -1, turn);
        drop(level);
    }
}

#[inline(always)]
#[allow(clippy::inline_always)] // or the two ways would not differ
fn add(books: &Books, n: u64, change: i64, value: u64) {
    books.counter.add(n);
    books.window.add(Seen::Pass, 1);
    books.gauge.add(change);
    books.histogram.record(value);
    let _ = books.rations.try_admit(1); // the limit is far away
}
