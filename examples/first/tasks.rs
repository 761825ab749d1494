//! At most three tasks at once; each holds its place until it has ended.
//!
//! ```text
//! cargo run --example first -- tasks
//! ```

use std::sync::Arc;
use std::thread;

use windrow::{AtMost, InFlight};

pub(crate) fn main() {
    let running = Arc::new(InFlight::new());
    let mut tasks = Vec::new();
    for number in 1..=5 {
        let Some(place) = running.try_enter(1, AtMost(3)) else {
            println!("task {number} has to wait");
            continue;
        };
        let place = place.owned_by(Arc::clone(&running));
        tasks.push(thread::spawn(move || {
            println!("task {number} runs");
            place // it leaves when the last owner drops it
        }));
    }
    assert_eq!((tasks.len(), running.level()), (3, 3));
    for task in tasks {
        drop(task.join().unwrap());
    }
    assert_eq!(running.level(), 0);
}

#[test]
fn it_runs() {
    main();
}
