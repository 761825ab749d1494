//! What `cargo xtask assembly` compiles and reads: callers of the hottest functions.

use windrow::clock::Ticker;
use windrow::{Counter, SlidingWindow};

windrow::events! { pub enum Http { Pass: Count, Rt: Value } }

/// A caller's add, as it is inlined there.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn add_one(counter: &Counter) {
    counter.add(1);
}

/// The same to a window, with the cheapest clock.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_add(window: &SlidingWindow<Http, Ticker>) {
    window.add(Http::Pass, 1);
}

/// A record.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_record(window: &SlidingWindow<Http, Ticker>, value: u64) {
    window.record(Http::Rt, value);
}

fn main() {
    add_one(&Counter::new());
    let ticker = Ticker::start(std::time::Duration::from_millis(1));
    let window = SlidingWindow::builder().clock(ticker).build().expect("sound");
    window_add(&window);
    window_record(&window, 1);
}
