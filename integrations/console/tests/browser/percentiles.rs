//! Percentiles and cells, by time and without: the tests check the descriptions of a plot and of
//! the pointer's place, not the drawing.

use std::time::Duration;

use serde_json::{Value, json};
use windrow::exemplar::TraceContext;
use windrow::histogram::Distribution;

use crate::page::Page;
use crate::shop::{Http, Method, Shop};

const SERIES: &str = "requests{method=\"GET\",route=\"/\"}";

/// Ninety seconds of twenty requests each, and seven that took a second, half a minute ago.
fn shop() -> Shop {
    let shop = Shop::new();
    shop.pass(Duration::from_secs(3_600));
    let route = shop.route(Method::Get, "/");
    for second in 0..90 {
        for request in 1..=20_u64 {
            route.add(Http::Pass, 1);
            let slow = second == 60 && request > 13;
            route.record(Http::Rt, if slow { 1_000_000_000 } else { request * 1_000_000 });
        }
        shop.pass(Duration::from_secs(1));
    }
    shop
}

fn open(page: &mut Page, series: &str, wait_for: &str) {
    page.browser
        .value(&format!("location.hash = new URLSearchParams({})", json!({ "series": series })));
    page.browser.wait_for(&format!("document.querySelector({})", json!(wait_for)));
}

/// Returns the legend of a plot.
fn legend(page: &mut Page, plot: &str) -> Value {
    let asked = format!("({{ ...document.querySelector('{plot} .legend').dataset }})");
    page.browser.value(&asked)
}

/// Moves the pointer over a plot, to a part of its width and height.
fn point(page: &mut Page, plot: &str, across: f64, up: f64) {
    page.browser.value(&format!(
        "(() => {{
            const canvas = document.querySelector('{plot} canvas'), box = canvas.getBoundingClientRect();
            const clientX = box.left + 52 + (box.width - 58) * {across};
            const clientY = box.top + 8 + (box.height - 28) * (1 - {up});
            canvas.dispatchEvent(new PointerEvent('pointermove', {{ clientX, clientY, bubbles: true }}));
        }})()"
    ));
}

#[track_caller]
fn assert_percentiles(legend: &Value, is: &Distribution) {
    for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
        assert_eq!(legend[name], is.quantile(q).unwrap().to_string(), "{name}");
    }
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn percentiles_by_time_are_those_of_the_buckets_and_their_whole_of_all_values() {
    let shop = shop();
    let window = shop.route(Method::Get, "/");
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    let minute = "#detail [data-horizon=minute] [data-plot=percentiles]";
    open(&mut page, SERIES, minute);
    assert_percentiles(&legend(&mut page, minute), &window.distribution(Http::Rt));
    let hour = "#detail [data-horizon=hour] [data-plot=percentiles]";
    assert_percentiles(&legend(&mut page, hour), &window.lifetime_distribution(Http::Rt));

    let snapshot = window.snapshot();
    let slow =
        snapshot.buckets().iter().find(|bucket| bucket.stats(Http::Rt).max == Some(1_000_000_000));
    // Thirty seconds ago it ended; the newest bucket has only begun.
    point(&mut page, minute, 1.0 - 29.5 / 60.0, 0.5);
    assert_percentiles(&legend(&mut page, minute), &slow.unwrap().distribution(Http::Rt));
    point(&mut page, minute, 1.0 - 20.5 / 60.0, 0.5);
    let other = &snapshot.buckets()[snapshot.buckets().len() - 1 - 20];
    assert_percentiles(&legend(&mut page, minute), &other.distribution(Http::Rt));
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_cell_that_is_pointed_at_says_its_values_and_how_many_they_are() {
    let shop = shop();
    let window = shop.route(Method::Get, "/");
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    let cells = "#detail [data-horizon=minute] [data-plot=cells]";
    open(&mut page, SERIES, cells);
    let snapshot = window.snapshot();
    let used = window.distribution(Http::Rt).cells().count();
    assert_eq!(legend(&mut page, cells)["cells"], used.to_string());

    let is_slow = |nanos: u64| nanos == 1_000_000_000;
    let slow =
        snapshot.buckets().iter().find(|bucket| bucket.stats(Http::Rt).max.is_some_and(is_slow));
    let slow = slow.unwrap().distribution(Http::Rt);
    let mut seen = Vec::new();
    for step in 0..400 {
        point(&mut page, cells, 1.0 - 29.5 / 60.0, (f64::from(step) + 0.5) / 400.0);
        let legend = legend(&mut page, cells);
        let number = |name: &str| legend[name].as_str().unwrap().parse::<u64>().ok();
        let found = (number("from"), number("to"), number("count"));
        if let (Some(from), Some(to), Some(count @ 1..)) = found
            && seen.last() != Some(&(from, to, count))
        {
            seen.push((from, to, count));
        }
    }
    let expected: Vec<_> =
        slow.cells().map(|(cell, count)| (*cell.start(), *cell.end(), count)).collect();
    assert_eq!(expected.last().unwrap().2, 7);
    assert_eq!(seen, expected, "each cell, from below");
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_histogram_without_a_window_has_its_cells_as_bars() {
    let shop = shop();
    (1..=1_000).for_each(|cents| shop.paid.record(cents * 1_000));
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    open(&mut page, "paid", "#detail [data-plot=cells]");
    let is = shop.paid.distribution();
    let cells = "#detail [data-plot=cells]";
    assert_percentiles(&legend(&mut page, cells), &is);
    point(&mut page, cells, 0.5, 0.999); // the uppermost
    let (cell, count) = is.cells().last().unwrap();
    let legend = legend(&mut page, cells);
    let expected = [cell.start().to_string(), cell.end().to_string(), count.to_string()];
    assert_eq!([&legend["from"], &legend["to"], &legend["count"]], expected.each_ref());
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_cell_that_is_pointed_at_says_the_trace_of_its_exemplar() {
    let shop = shop();
    let window = shop.route(Method::Get, "/");
    let trace = TraceContext { trace_id: 0xabc, span_id: 1 };
    window.record_with_exemplar(Http::Rt, 1_000_000_000, trace);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    let cells = "#detail [data-horizon=minute] [data-plot=cells]";
    open(&mut page, SERIES, cells);
    assert_eq!(legend(&mut page, cells)["trace"], format!("{:032x}", 0xabc), "the slowest");
    // The window's clock stands still, and the exemplar grows older.
    let mut seen = Vec::new();
    for second in 0..55 {
        point(&mut page, cells, 1.0 - (f64::from(second) + 0.5) / 60.0, 0.999); // the uppermost
        seen.push(legend(&mut page, cells)["trace"].as_str().unwrap().to_owned());
    }
    seen.retain(|trace| !trace.is_empty());
    assert!((1..30).contains(&seen.len()), "{seen:?}"); // a second or two of them
    assert!(seen.iter().all(|trace| trace.ends_with("abc")), "{seen:?}");
    point(&mut page, cells, 1.0 - 29.5 / 60.0, 0.001); // quick ones
    assert_eq!(legend(&mut page, cells)["trace"], "");
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_bar_that_is_pointed_at_says_the_trace_of_its_exemplar() {
    let shop = shop();
    shop.paid.record_with_exemplar(250_000, TraceContext { trace_id: 0xdef, span_id: 1 });
    shop.paid.record(9_000_000);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    let cells = "#detail [data-plot=cells]";
    open(&mut page, "paid", cells);
    point(&mut page, cells, 0.5, 0.999);
    assert_eq!(legend(&mut page, cells)["trace"], "");
    point(&mut page, cells, 0.5, 0.001);
    assert_eq!(legend(&mut page, cells)["trace"], format!("{:032x}", 0xdef));
    page.assert_well();
}
