//! A cache and a queue, each with events of its own.
//!
//! ```text
//! cargo run --example first -- two_sets
//! ```

use windrow::{BuildError, SlidingWindow, events};

events! {
    /// Counts lookups in a cache.
    enum Cache { Hit: Count, Miss: Count, Failed: Count }
}

events! {
    /// Counts what goes into a queue.
    enum Queue { Pushed: Count, Failed: Count, Length: Maximum }
}

pub(crate) fn main() -> Result<(), BuildError> {
    let cache = SlidingWindow::<Cache>::builder().build()?;
    let queue = SlidingWindow::<Queue>::builder().build()?;

    cache.add(Cache::Hit, 2);
    cache.add(Cache::Miss, 1);
    queue.add(Queue::Pushed, 3);
    queue.record(Queue::Length, 3);

    println!("cache: {} hits, {} misses", cache.sum(Cache::Hit), cache.sum(Cache::Miss));
    println!("queue: {:?} at most", queue.stats(Queue::Length).max);
    println!("failed: {}, {}", cache.sum(Cache::Failed), queue.sum(Queue::Failed));
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
