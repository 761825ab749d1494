//! Two thousand routes.

use crate::page::Page;
use crate::shop::{Http, Method, Shop};

const ROUTES: u64 = 2_000;

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
    // All rows change in each of these frames.
    for round in 0..10 {
        serve(round);
        shop.pass(std::time::Duration::from_secs(1));
        page.catch_up(&server);
    }
    let tasks: Vec<f64> = serde_json::from_value(page.browser.value("window.tasks")).unwrap();
    println!("{ROUTES} rows, 10 frames: {} tasks above 50 ms: {tasks:.0?}", tasks.len(),);

    for what in [
        "JSON.stringify(frame)",
        "series.forEach(row => step(row, frame.age))",
        "series.forEach(derive)",
        "list()",
        "draw()",
        "tick()",
        "[...Array(30)].forEach(() => spark(pool[3].canvas_, listed[3]))",
        "[...Array(30)].forEach(() => fill(pool[3], listed[3], 3))",
    ] {
        let t = page.browser.value(&format!(
            "(()=>{{let t=performance.now(); {what}; return performance.now()-t}})()"
        ));
        println!("{what}: {t}");
    }
    assert_eq!(page.attribute("body", "data-rows").unwrap(), (ROUTES + 2).to_string());
    let drawn = page.names();
    assert!((20..=60).contains(&drawn.len()), "{}", drawn.len());
    page.click("th[data-sort=series]");
    page.click("th[data-sort=series]");
    let falls = page.names();
    page.click("th[data-sort=series]");
    assert_ne!(page.names(), falls);
    // From the first to the last, by the page: each row comes into sight once.
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..ROUTES {
        let before = seen.len();
        seen.extend(page.names());
        page.browser.value("document.querySelector('#scroll').scrollBy(0, 600)");
        page.draw();
        if seen.len() == before {
            break;
        }
    }
    assert_eq!(seen.len() as u64, ROUTES + 2);
    page.search("/route/1999");
    assert_eq!(page.names(), ["requests{method=\"GET\",route=\"/route/1999\"}"]);
    page.assert_well();
}
