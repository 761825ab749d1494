//! A program with a static window beside the counter.

use std::time::Duration;
use windrow::{Counter, SlidingWindow};
windrow::events! {
    enum Http { Pass: Count, Block: Count }
}
static REQUESTS: Counter = Counter::new();
static HTTP: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 60);
fn main() {
    let n = std::env::args().count() as u64;
    REQUESTS.add(n);
    HTTP.add(Http::Pass, n);
    println!("{} {}", REQUESTS.sum(), HTTP.sum(Http::Pass));
}
