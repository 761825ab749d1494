//! A program with a static counter.

use windrow::Counter;
static REQUESTS: Counter = Counter::new();
fn main() {
    REQUESTS.add(std::env::args().count() as u64);
    println!("{}", REQUESTS.sum());
}
