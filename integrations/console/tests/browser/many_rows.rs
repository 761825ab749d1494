//! Two thousand routes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;

use crate::page::Page;
use crate::shop::{Http, Method, Shop};

const ROUTES: u64 = 2_000;
const FRAMES: u64 = 10;

/// Returns the CPU time of the page's thread until now, in seconds, by purpose.
fn spent(page: &mut Page) -> BTreeMap<String, f64> {
    let metrics = page.browser.call("Performance.getMetrics", &json!({}));
    let metrics = metrics["metrics"].as_array().unwrap().iter();
    let all = metrics.map(|one| (one["name"].as_str().unwrap(), one["value"].as_f64().unwrap()));
    let asked = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration"];
    all.filter(|(name, _)| asked.contains(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn of_many_rows_only_those_in_sight_are_drawn_and_all_are_there() {
    let shop = Shop::new();
    let routes: Vec<_> =
        (0..ROUTES).map(|route| shop.route(Method::Get, &format!("/route/{route:04}"))).collect();
    let serve = |round: u64| {
        for (route, number) in routes.iter().zip(1..) {
            route.add(Http::Pass, number + round % 7);
            route.record(Http::Rt, number * 1_000);
        }
    };
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.browser.resize(1200, 800, false);
    page.browser.value(
        "window.tasks = []; new PerformanceObserver(list => tasks.push(...list.getEntries().map(task => task.duration)))
            .observe({ type: 'longtask' })",
    );
    page.browser.call("Performance.enable", &json!({ "timeDomain": "threadTicks" }));
    let before = spent(&mut page);
    // All rows change in each of these frames.
    for round in 0..FRAMES {
        serve(round);
        shop.pass(Duration::from_secs(1));
        page.catch_up(&server);
    }
    let after = spent(&mut page);
    let tasks: Vec<f64> = serde_json::from_value(page.browser.value("window.tasks")).unwrap();
    let longest = tasks.iter().copied().fold(0.0, f64::max);
    println!("{ROUTES} rows that all change, ms of the page's thread a frame:");
    for (name, after) in &after {
        println!("    {name}: {:.2}", (after - before[name]) * 1e3 / FRAMES as f64);
    }
    println!("    tasks above 50 ms: {}, the longest {longest:.0} ms", tasks.len());

    assert_eq!(page.attribute("body", "data-rows").unwrap(), (ROUTES + 3).to_string());
    let drawn = page.names();
    assert!((20..=60).contains(&drawn.len()), "{}", drawn.len());
    page.click("th[data-sort=series]");
    page.click("th[data-sort=series]");
    let falls = page.names();
    page.click("th[data-sort=series]");
    assert_ne!(page.names(), falls);
    // From the first to the last, by the page: each row comes into sight once.
    let mut seen = BTreeSet::new();
    for _ in 0..ROUTES {
        let before = seen.len();
        seen.extend(page.names());
        page.browser.value("document.querySelector('#scroll').scrollBy(0, 600)");
        page.draw();
        if seen.len() == before {
            break;
        }
    }
    assert_eq!(seen.len() as u64, ROUTES + 3);
    page.search("/route/1999");
    assert_eq!(page.names(), ["requests{method=\"GET\",route=\"/route/1999\"}"]);
    page.assert_well();
}
