//! The rate of this hour of yesterday: on the stream, where a tier has it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windrow::SlidingWindow;
use windrow::clock::Manual;
use windrow_console::{Console, ConsoleService};

use crate::Http;
use crate::streams::Stream;

const QUARTER: Duration = Duration::from_secs(900);

/// Some quarters of an hour, of which each has ten operations a second more than the one before,
/// in a window with a tier of days by the quarter, and in one without.
struct Days {
    clock: Manual,
    windows: [Arc<SlidingWindow<Http, Manual>>; 2],
    quarters: u64,
}

impl Days {
    fn new() -> Days {
        let clock = Manual::default();
        let windows = [true, false].map(|has_tier| {
            let window = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
            let window =
                if has_tier { window.tier(QUARTER / 15, 60).tier(QUARTER, 200) } else { window };
            Arc::new(window.clock(clock.clone()).build().unwrap())
        });
        Days { clock, windows, quarters: 0 }
    }

    fn pass(&mut self, quarters: u64) {
        for _ in 0..quarters {
            for window in &self.windows {
                window.add(Http::Pass, self.quarters * 10 * 900);
            }
            self.quarters += 1;
            self.clock.advance(QUARTER);
        }
    }

    fn console(&self) -> ConsoleService {
        let mut console = Console::new("shop");
        for (name, window) in ["tiered", "plain"].into_iter().zip(&self.windows) {
            console.show(name, "A window", Arc::clone(window)).unwrap();
        }
        console.build()
    }

    /// Returns the rates of the first frame: the one with the tier is row 0.
    async fn shown(&self) -> Value {
        let (name, all) = Stream::of(&self.console()).next().await.unwrap();
        assert_eq!(name, "all");
        all["yesterday"].clone()
    }
}

#[tokio::test]
async fn it_is_the_mean_of_the_hour_around_this_time_a_day_before() {
    let mut days = Days::new();
    days.pass(96 + 10);
    // Half an hour before and after the beginning of the tenth quarter.
    assert_eq!(days.shown().await, json!([[0, 95.0]]));
}

#[tokio::test]
async fn a_window_that_was_not_there_yesterday_has_none() {
    let mut days = Days::new();
    days.pass(90);
    assert_eq!(days.shown().await, json!([]));
    days.pass(6);
    assert_eq!(days.shown().await, json!([[0, 5.0]]), "two quarters are known");
}

#[tokio::test]
async fn a_frame_tells_the_rate_when_it_has_changed() {
    let mut days = Days::new();
    days.pass(96 + 10);
    let console = days.console();
    let mut stream = Stream::of(&console);
    assert_eq!(stream.next().await.unwrap().1["yesterday"], json!([[0, 95.0]]));
    days.pass(2);
    let mut frames = 0;
    // A frame may come between the two quarters.
    while stream.next().await.unwrap().1["yesterday"] != json!([[0, 115.0]]) {
        frames += 1;
        assert!(frames < 100, "it is not told");
    }
    let (_, more) = stream.next().await.unwrap();
    assert_eq!(more["yesterday"], json!([]), "it is told once");
}
