//! Tasks of a runtime with several threads, which move at each point where they wait.

use std::sync::Arc;

use crate::books::{Books, Seen};
use crate::loss::Loss;
use crate::outcome::{Outcome, exact};

/// The number of tasks.
const TASKS: u64 = 32;
/// Threads of the runtime.
const THREADS: usize = 4;

pub(crate) fn run(times: u64, loss: Loss) -> Outcome {
    let books = Arc::new(Books::new()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let loss = if task == 0 { loss } else { Loss::default() };
            runtime.spawn(count(Arc::clone(&books), times, loss))
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).map_err(|error| error.to_string())?;
    }
    drop(runtime); // its threads end
    exact("tasks, counter", books.counter.sum(), 2 * times * TASKS)?;
    exact("tasks, window", books.window.lifetime(Seen::Pass).sum, 2 * times * TASKS)?;
    exact("tasks, histogram", books.histogram.count(), times * TASKS)?;
    exact("tasks, level", books.level.level(), 0)?;
    Ok(format!("{TASKS} tasks on {THREADS} threads, {times} waits each"))
}

async fn count(books: Arc<Books>, times: u64, loss: Loss) {
    for turn in 1..=times {
        let last = if turn == times { loss } else { Loss::default() };
        let _level = books.level.enter(turn);
        books.counter.add(1 - last.of("task"));
        books.window.add(Seen::Pass, 1);
        books.histogram.record(turn);
        tokio::task::yield_now().await;
        books.counter.add(1);
        books.window.add(Seen::Pass, 1);
    }
}
