//! This hour of yesterday, in grey behind the last minute.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windrow::SlidingWindow;
use windrow::clock::Manual;
use windrow_console::Console;

use crate::page::Page;
use crate::shop::{Http, Served};

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_row_has_this_hour_of_yesterday_if_a_tier_has_it() {
    let clock = Manual::default();
    let windows = [true, false].map(|has_tier| {
        let window = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
        let window = if has_tier {
            window.tier(Duration::from_secs(60), 60).tier(Duration::from_secs(900), 96)
        } else {
            window
        };
        window.clock(clock.clone()).build().unwrap()
    });
    // Twelve a second for the first hour, and hardly any since.
    for quarter in 0..98 {
        for window in &windows {
            window.add(Http::Pass, if quarter < 4 { 12 * 900 } else { 1 });
        }
        clock.advance(Duration::from_secs(900));
    }
    let mut console = Console::new("shop");
    for (name, window) in ["tiered", "plain"].into_iter().zip(windows) {
        console.show(name, "A window", Arc::new(window)).unwrap();
    }
    let server = Served::of(console);
    let mut page = Page::open(&server);
    page.catch_up(&server);
    // At its place at the top there is the line, and without it nothing.
    let seen = page.browser.value(
        "['tiered', 'plain'].map(name => {
            const cell = document.querySelector(`tr[data-series=${name}] td[data-col=spark]`);
            const canvas = cell.querySelector('canvas');
            const pixels = canvas.getContext('2d').getImageData(5, 0, 1, 6).data;
            return [cell.dataset.yesterday, cell.title, cell.ariaLabel.split(', ')[1] ?? '',
                [...pixels].some((part, at) => at % 4 === 3 && part > 0)];
        })",
    );
    let says = "in this hour of yesterday 12/s";
    assert_eq!(seen, json!([["12", says, says, true], ["", "", "", false]]));
    page.assert_well();
}
