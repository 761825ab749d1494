//! The progress of a model whose executions are counted beforehand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Returns a number that the environment may set.
pub(crate) fn number(variable: &str, otherwise: usize) -> usize {
    match std::env::var(variable) {
        Err(_) => otherwise,
        Ok(text) => match text.parse() {
            Ok(number) if number > 0 => number,
            _ => panic!("{variable}={text} is no number above 0"),
        },
    }
}

/// The time between two messages.
const EVERY: Duration = Duration::from_secs(5);

/// Counts executions, and says so now and then.
pub(crate) struct Count {
    name: String,
    of: usize,
    done: AtomicUsize,
    begin: Instant,
    said: Mutex<Instant>,
}

impl Count {
    /// One more execution begins.
    pub(crate) fn note(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed);
        if !done.is_multiple_of(64) {
            return; // a look at the clock is not free
        }
        let mut said = self.said.lock().expect("saying so does not panic");
        if said.elapsed() >= EVERY {
            let second = done as f64 / self.begin.elapsed().as_secs_f64();
            println!("model {}: {done} of {}, {second:.0}/s", self.name, self.of);
            *said = Instant::now();
        }
    }
}

/// Stays outside of the executions, and says which of them has failed.
pub(crate) struct Progress(Arc<Count>);

impl Progress {
    pub(crate) fn begin(name: &str, of: usize) -> Progress {
        let begin = Instant::now();
        let (done, said) = (AtomicUsize::new(0), Mutex::new(begin));
        Progress(Arc::new(Count { name: name.to_owned(), of, done, begin, said }))
    }

    /// For the executions.
    pub(crate) fn count(&self) -> Arc<Count> {
        Arc::clone(&self.0)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Count { name, done, begin, .. } = &*self.0;
            let (done, time) = (done.load(Ordering::Relaxed), begin.elapsed().as_secs_f64());
            println!("model {name}: failed in execution {done}, after {time:.1} s");
        }
    }
}
