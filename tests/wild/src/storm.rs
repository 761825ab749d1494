//! Threads that come and go, each of which adds to everything, while a reader drains and the clock
//! goes on.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use windrow::Counter;

use crate::books::{Books, Seen};
use crate::loss::Loss;
use crate::outcome::{Outcome, exact};

/// Threads at once: more than there are rows on a small machine.
const THREADS: u64 = 7;
/// Threads that follow each other.
const GENERATIONS: u64 = 6;

/// Counts threads that have ended.
static ENDED: Counter = Counter::new();

/// Adds when the thread ends, after or before the thread has given its row back.
struct AtEnd(u64);

impl Drop for AtEnd {
    fn drop(&mut self) {
        ENDED.add(self.0);
    }
}

thread_local! {
    static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

pub(crate) fn run(times: u64, loss: Loss) -> Outcome {
    let books = Arc::new(Books::new()?);
    let (over, before) = (Arc::new(AtomicBool::new(false)), ENDED.sum());
    let reader = {
        let (books, over) = (Arc::clone(&books), Arc::clone(&over));
        thread::spawn(move || read(&books, &over))
    };
    for generation in 0..GENERATIONS {
        let adders: Vec<_> = (0..THREADS)
            .map(|thread| {
                let books = Arc::clone(&books);
                let is_first = generation == 0 && thread == 0;
                let loss = if is_first { loss } else { Loss::default() };
                thread::spawn(move || {
                    if is_first {
                        books.maximum.record(times + 1 - loss.of("maximum"));
                    }
                    add(&books, times, loss);
                })
            })
            .collect();
        for adder in adders {
            adder.join().map_err(|_| "an adder has panicked")?;
        }
    }
    over.store(true, Ordering::Relaxed);
    let drained = reader.join().map_err(|_| "the reader has panicked")??;
    let threads = THREADS * GENERATIONS;
    books.check(times, threads, drained)?;
    exact("destructors", ENDED.sum() - before, threads)?;
    Ok(format!("{threads} threads, {times} adds each to everything"))
}

fn add(books: &Books, times: u64, loss: Loss) {
    AT_END.with(|end| *end.borrow_mut() = Some(AtEnd(1 - loss.of("exit"))));
    for n in 1..=times {
        let last = if n == times { loss } else { Loss::default() };
        books.counter.add(1 - last.of("counter"));
        books.gauge.add(2);
        books.gauge.add(-1 - i64::from(last.of("gauge") != 0));
        books.maximum.record(n);
        books.minimum.record(n);
        books.histogram.record_many(n, 1 - last.of("histogram"));
        books.window.add(Seen::Pass, 1 - last.of("window"));
        if last.of("value") == 0 {
            books.window.record(Seen::Rt, n);
        }
        if last.of("rations") == 0 {
            let _ = books.rations.try_admit(1); // the limit is far away
        }
        let entered = books.level.enter(1);
        if last.of("level") == 0 {
            drop(entered);
        } else {
            std::mem::forget(entered);
        }
        if n % 32 == 0 {
            books.clock.advance(Duration::from_nanos(150));
        }
    }
}

/// Drains the counter until it is over, and checks that what grows does not go back.
fn read(books: &Books, over: &AtomicBool) -> Result<u64, String> {
    let (mut drained, mut seen) = (0, 0);
    while !over.load(Ordering::Relaxed) {
        drained += books.counter.take();
        let now = books.window.lifetime(Seen::Pass).sum;
        if now < seen {
            return Err(format!("the lifetime went back from {seen} to {now}"));
        }
        seen = now;
        books.window.drain_closed(|bucket| _ = bucket.stats(Seen::Rt));
        thread::yield_now();
    }
    Ok(drained)
}
