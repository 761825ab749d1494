//! The response times of requests in the last minute.
//!
//! ```text
//! cargo run --example first -- durations
//! ```

use std::thread;
use std::time::{Duration, Instant};

use windrow::histogram::Scale;
use windrow::{BuildError, SlidingWindow, events};

events! {
    /// Keeps the response times of requests.
    enum Http { Time: Histogram(Scale::DURATIONS) }
}

pub(crate) fn main() -> Result<(), BuildError> {
    let window = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).build()?;

    for millis in 1..=20 {
        let started = Instant::now();
        thread::sleep(Duration::from_millis(millis)); // a request
        window.record(Http::Time, started.elapsed());
    }

    let slow = window.quantile(Http::Time, 0.9).map(Duration::from_nanos);
    println!("90 % of the requests took up to about {:?}", slow.unwrap_or_default());
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
