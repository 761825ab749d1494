//! A window for the whole program, in a static.
//!
//! ```text
//! cargo run --example first -- static_window
//! ```

use std::thread;
use std::time::Duration;

use windrow::{SlidingWindow, events};

events! {
    /// Counts requests by their outcome.
    enum Http { Success: Count, Failure: Count }
}

/// The last minute, by the second. It is made at its first use.
static HTTP: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 60);

fn request(number: u64) {
    let outcome = if number.is_multiple_of(7) { Http::Failure } else { Http::Success };
    HTTP.add(outcome, 1);
}

pub(crate) fn main() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (1..=70).for_each(request));
        }
    });
    for event in Http::ALL {
        println!("{}: {}", event.name(), HTTP.totals().stats(event).count);
    }
}

#[test]
fn it_runs() {
    main();
    assert_eq!((HTTP.sum(Http::Success), HTTP.sum(Http::Failure)), (240, 40));
}
